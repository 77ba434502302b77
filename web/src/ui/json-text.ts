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

const white = /[ \t\n\r]*/y
const part =
  // oxlint-disable-next-line no-control-regex
  /("[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|[{}[\],:]/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'end'

/** Where a text stops being JSON; undefined if it is JSON. Lines and columns count from 1. */
export function findJsonProblem(text: string): { line: number; column: number } | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let at = 0
  for (;;) {
    white.lastIndex = at
    white.exec(text)
    at = white.lastIndex
    if (at === text.length && expected === 'end') return undefined
    part.lastIndex = at
    const found = part.exec(text)
    const next: Expected | undefined | null = found && follow(expected, found, open)
    if (!next) return placeOf(text, at)
    expected = next
    at = part.lastIndex
  }
}

/** What comes after a part of the text; undefined if the part is not expected. */
function follow(expected: Expected, found: RegExpExecArray, open: ('{' | '[')[]): Expected | undefined {
  const [token, isText, isPlain] = found
  const ended = (): Expected => (open.length === 0 ? 'end' : ', or end')
  const isValue = expected === 'value' || expected === 'value or ]'
  if (isText !== undefined && (expected === 'name' || expected === 'name or }')) return ':'
  if (isText !== undefined || isPlain !== undefined) return isValue ? ended() : undefined
  if (token === '{' || token === '[') {
    if (!isValue) return undefined
    open.push(token)
    return token === '{' ? 'name or }' : 'value or ]'
  }
  if (token === ':') return expected === ':' ? 'value' : undefined
  if (token === ',') return expected === ', or end' ? (open.at(-1) === '{' ? 'name' : 'value') : undefined
  const isClosing = expected === ', or end' || expected === (token === '}' ? 'name or }' : 'value or ]')
  if (!isClosing || open.pop() !== (token === '}' ? '{' : '[')) return undefined
  return ended()
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}
