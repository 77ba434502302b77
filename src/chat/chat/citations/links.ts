/** Inline links and link reference definitions (CommonMark) on one line, whose `[1]` is text. Pure. */

/** Longest link or definition that is recognised, UTF-16 units; it bounds the look-ahead. */
export const maximumLinkLength = 500
/** Most open parentheses in a destination, the limit of CommonMark's reference implementation. */
const maximumDepth = 32

/**
 * The index after the link whose destination begins at `open`, the `(` after the bracket; -1 where it is not a link, null where
 * more text is needed. `whole`: no further text follows, or the limit is reached.
 */
export function linkEnd(text: string, open: number, whole: boolean): number | null {
  const destination = destinationEnd(text, skipSpaces(text, open + 1), ')')
  if (destination === null) return whole ? -1 : null
  if (destination === -1) return -1
  let at = skipSpaces(text, destination)
  if (at > destination && at < text.length && text[at] !== ')') {
    const end = titleEnd(text, at)
    if (end === null) return whole ? -1 : null
    if (end === -1) return -1
    at = skipSpaces(text, end)
  }
  if (at >= text.length) return whole ? -1 : null
  return text[at] === ')' ? at + 1 : -1
}

/** The same for a definition, whose `:` is at `colon`: `[1]: https://example.com "Title"` and the end of the line. */
export function definitionEnd(text: string, colon: number, whole: boolean): number | null {
  const start = skipSpaces(text, colon + 1)
  const destination = destinationEnd(text, start, '\n')
  if (destination === null) return whole ? (start < text.length ? text.length : -1) : null
  if (destination === -1 || destination === start) return -1
  let at = skipSpaces(text, destination)
  if (at > destination && at < text.length && text[at] !== '\n') {
    const end = titleEnd(text, at)
    if (end === null) return whole ? -1 : null
    if (end === -1) return -1
    at = skipSpaces(text, end)
  }
  if (at >= text.length) return whole ? at : null
  return text[at] === '\n' ? at : -1
}

/** The index after the destination; null where the text ends within it. `last` ends a destination without angle brackets. */
function destinationEnd(text: string, start: number, last: ')' | '\n'): number | null {
  if (start >= text.length) return null
  if (text[start] === '<') {
    for (let at = start + 1; at < text.length; at++) {
      if (text[at] === '>') return at + 1
      if (text[at] === '<' || text[at] === '\n') return -1
    }
    return null
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]!
    if (character <= ' ') return at
    if (character === '\\') at++
    else if (last === ')' && character === '(' && ++depth > maximumDepth) return -1
    else if (last === ')' && character === ')' && depth-- === 0) return at
  }
  return null
}

function titleEnd(text: string, start: number): number | null {
  const close = { '"': '"', "'": "'", '(': ')' }[text[start]!]
  if (close === undefined) return -1
  const end = text.indexOf(close, start + 1)
  const newline = text.indexOf('\n', start)
  if (newline !== -1 && (end === -1 || newline < end)) return -1
  return end === -1 ? null : end + 1
}

function skipSpaces(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++
  return at
}
