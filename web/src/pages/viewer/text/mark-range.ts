export interface CodePointRange {
  from: number
  to: number
}

export interface MarkedPart {
  text: string
  isMarked: boolean
}

/** Splits a text that begins at a code point of the whole text at the borders of a range. */
export function markRange(text: string, start: number, range: CodePointRange | undefined): MarkedPart[] {
  if (!range || range.to <= start) return [{ text, isMarked: false }]
  const from = unitAt(text, 0, Math.max(0, range.from - start))
  const to = unitAt(text, from, range.to - Math.max(range.from, start))
  const parts = [
    { text: text.slice(0, from), isMarked: false },
    { text: text.slice(from, to), isMarked: true },
    { text: text.slice(to), isMarked: false },
  ]
  return parts.filter((part) => part.text !== '')
}

export function countCodePoints(text: string): number {
  let count = 0
  for (let unit = 0; unit < text.length; unit += text.codePointAt(unit)! > 0xffff ? 2 : 1) count++
  return count
}

/** The UTF-16 index `codePoints` behind `start`, at most the end. */
function unitAt(text: string, start: number, codePoints: number): number {
  let unit = start
  for (let left = codePoints; left > 0 && unit < text.length; left--) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  return unit
}
