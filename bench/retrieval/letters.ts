import type { Range } from './metrics.ts'

/**
 * A text reduced to its letters and digits, so that places in a raw file and in extracted text (without markup, with other
 * white space) can be compared.
 */
export function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** The range of a piece in a text, both as letters. Null: the text lacks it, for instance because it repeats a table's header. */
export function findRange(letters: string, piece: string): Range | null {
  const wanted = lettersOf(piece)
  const start = wanted === '' ? -1 : letters.indexOf(wanted)
  return start < 0 ? null : [start, start + wanted.length]
}
