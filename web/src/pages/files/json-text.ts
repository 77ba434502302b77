/** JSON as text: values of JavaScript would lose digits of large numbers. */

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs

/** Indents valid JSON by two spaces. */
export function indentJson(text: string): string {
  let depth = 0
  let indented = ''
  let previous = ''
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(tokens)) {
    const opened = previous === '{' || previous === '['
    const closes = token === '}' || token === ']'
    if (closes) {
      depth--
      indented += opened ? token : line() + token
    } else {
      if (opened || previous === ',') indented += line()
      indented += token === ':' ? ': ' : token
    }
    if (token === '{' || token === '[') depth++
    previous = token
  }
  return indented
}

/** Size of valid JSON without the white space between its parts, as the server counts it. */
export function jsonBytes(text: string): number {
  let compact = ''
  for (const [token] of text.matchAll(tokens)) compact += token
  return new TextEncoder().encode(compact).length
}

/** The text of `metadata`, the last member of a document as the server sends it. */
export function metadataText(documentText: string): string {
  const name = ',"metadata":'
  return documentText.slice(documentText.indexOf(name) + name.length, documentText.lastIndexOf('}'))
}
