import type { PlainToken } from './code-spans.ts'

/** Writes the text with its markers renumbered. */
export interface NumberingWriter {
  /** Returns the decided text; at most `maximumHeldLength` spaces after a marker wait for the following text. */
  take(token: PlainToken): string
  end(): string
}

const maximumHeldLength = 16

/** Writes each marker as `[n]` with the number from `numberOf`; a row of markers shows each number once. `row`: those already shown. */
export function createNumberingWriter(
  numberOf: (sourceNumber: number, row: ReadonlySet<number>, isAttributed: boolean) => number,
): NumberingWriter {
  /** Numbers shown in the current row of markers; null outside of a row. */
  let row: Set<number> | null = null
  /** Spaces after a marker; they are dropped where the next marker repeats its number. */
  let gap = ''

  function leaveRow(): string {
    const text = gap
    row = null
    gap = ''
    return text
  }

  return {
    take(token) {
      if (token.type === 'text') {
        if (!row) return token.text
        const spaces = /^ */.exec(token.text)![0]
        if (spaces.length < token.text.length || gap.length + spaces.length > maximumHeldLength) {
          return leaveRow() + token.text
        }
        gap += spaces
        return ''
      }
      row ??= new Set()
      let shown = ''
      for (const sourceNumber of token.numbers) {
        const number = numberOf(sourceNumber, row, token.isAttributed ?? false)
        if (!row.has(number)) shown += `[${number}]`
        row.add(number)
      }
      const text = shown === '' ? '' : gap + shown
      gap = ''
      return text
    },
    end: leaveRow,
  }
}
