import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { AppError } from '../../platform/kernel/index.ts'

export interface CsvRecord {
  /** The line of the file on which the record begins, from 1. */
  line: number
  cells: string[]
}

export type Separator = ',' | ';' | '\t'

/** Bounds the memory of one record. Those in texts count too: the largest import is full of commas with six million. */
const maximumSeparators = 10_000_000
/** A spreadsheet may write thousands of empty rows below its table. */
const maximumRecords = 10_000

/**
 * The records of a CSV text (RFC 4180). Lines end with LF, CRLF or CR, which is LF in cells; blank lines are left out, and a quote inside an
 * unquoted cell is text. Throws `invalid_request` naming the line of a quoted cell that does not end, or for a file with too many records or separators.
 */
export function readRecords(text: string, separator: Separator): CsvRecord[] {
  // The parser counts a CRLF in a cell as two lines.
  const lines = text.replaceAll(/\r\n?/g, '\n')
  if (count(lines, separator) > maximumSeparators)
    throw new AppError('invalid_request', `The file must have at most ${maximumSeparators} separators.`)
  const records: CsvRecord[] = []
  let lastLine = 0
  try {
    parse(lines, {
      delimiter: separator,
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record(cells: string[], { lines: endsOn }) {
        lastLine = endsOn
        if (records.length === maximumRecords)
          throw new AppError('invalid_request', `The file must have at most ${maximumRecords} rows.`)
        records.push({ line: endsOn - cells.reduce((sum, cell) => sum + count(cell, '\n'), 0), cells })
      },
    })
  } catch (error) {
    if (!(error instanceof CsvError) || error.code !== 'CSV_QUOTE_NOT_CLOSED') throw error
    throw new AppError('invalid_request', `After line ${lastLine}: the quote of a cell is not closed.`)
  }
  return records
}

function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) found += 1
  return found
}
