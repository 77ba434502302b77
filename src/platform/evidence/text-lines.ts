export const cellSeparator = ' | '
export const isTableRow = (line: string) => line.includes(cellSeparator)

const terminal = /[.!:;,…。！？｡।؟۔][”"'’)\]*_]{0,4}$/u

/** Whether a line ends like a sentence, or announces what follows. */
export const hasStop = (text: string) => terminal.test(text)

export function isListItem(text: string): boolean {
  return /^(?:[-*•–] |\d{1,3}[.)] )/.test(text)
}

/** Editors and pdf files break lines before this length; a text with a longer line is not broken. UTF-16 units. */
const maximumWrappedUnits = 120
const minimumWrappedUnits = 30
const minimumFullUnits = 50
/** A broken line is nearly as long as the longest one. */
const wrappedShare = 0.75

/**
 * The text with lines that only the width of a page or an editor has broken joined. `isFull`: only lines that are nearly full, not all
 * before a small letter. Linear.
 */
export function joinWrappedLines(text: string, { isFull = false } = {}): string {
  const lines = text.split('\n')
  const longest = lines.reduce((most, line) => (isTableRow(line) ? most : Math.max(most, line.length)), 0)
  const isWrapped = longest <= maximumWrappedUnits
  const joined: string[] = []
  let last = ''
  for (const line of lines) {
    const isOpen =
      last.length >= (isFull ? minimumFullUnits : minimumWrappedUnits) &&
      !hasStop(last) &&
      !isTableRow(last) &&
      !isTableRow(line)
    const isLong = isWrapped && last.length >= longest * wrappedShare
    const continues = (!isFull && /^\s*[\p{Ll}("“„`]/u.test(line)) || (isLong && /^\s*[\p{L}\d]/u.test(line))
    if (isOpen && continues && !isListItem(line.trimStart())) joined.push(`${joined.pop()!} ${line.trimStart()}`)
    else joined.push(line)
    last = line
  }
  return joined.join('\n')
}
