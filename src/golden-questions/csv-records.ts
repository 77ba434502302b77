import { AppError } from '../kernel/index.ts'

export interface CsvRecord {
  /** The line of the file on which the record begins, from 1. */
  line: number
  cells: string[]
}

/** More are no table of questions; bounds the memory of one record. */
const maximumCells = 1_000

const patterns = { ',': /[^,\r\n]*/y, ';': /[^;\r\n]*/y, '\t': /[^\t\r\n]*/y }

export type Separator = keyof typeof patterns

/**
 * The records of a CSV text (RFC 4180), in linear time. Lines end with LF, CRLF or CR, and blank lines are left out. A quote inside an
 * unquoted cell is text. Throws `invalid_request` naming the line of a quoted cell that does not end.
 */
export function* readRecords(text: string, separator: Separator): Generator<CsvRecord> {
  let place = { position: 0, line: 1 }
  while (place.position < text.length) {
    const afterBlank = skipLineBreak(text, place)
    if (afterBlank) {
      place = afterBlank
      continue
    }
    const { line } = place
    const cells: string[] = []
    for (;;) {
      const cell = text[place.position] === '"' ? readQuoted(text, place, separator) : readPlain(text, place, separator)
      if (cells.push(cell.value) > maximumCells)
        throw new AppError('invalid_request', `Line ${line}: the line must have at most ${maximumCells} cells.`)
      place = cell.next
      if (text[place.position] !== separator) break
      place = { ...place, position: place.position + 1 }
    }
    place = skipLineBreak(text, place) ?? place
    yield { line, cells }
  }
}

interface Place {
  position: number
  line: number
}

function skipLineBreak(text: string, { position, line }: Place): Place | undefined {
  const character = text[position]
  if (character !== '\n' && character !== '\r') return undefined
  const length = character === '\r' && text[position + 1] === '\n' ? 2 : 1
  return { position: position + length, line: line + 1 }
}

function readPlain(text: string, { position, line }: Place, separator: Separator) {
  const pattern = patterns[separator]
  pattern.lastIndex = position
  const value = pattern.exec(text)![0]
  return { value, next: { position: position + value.length, line } }
}

function readQuoted(text: string, { position, line }: Place, separator: Separator) {
  let end = text.indexOf('"', position + 1)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  if (end < 0) throw new AppError('invalid_request', `Line ${line}: the quote of a cell is not closed.`)
  const raw = text.slice(position + 1, end)
  const lastLine = line + (raw.match(/\r\n|\n|\r/g)?.length ?? 0)
  const after = text[end + 1]
  if (after !== undefined && after !== separator && after !== '\n' && after !== '\r')
    throw new AppError(
      'invalid_request',
      `Line ${lastLine}: a quoted cell must end with its quote. Write a quote inside a cell twice.`,
    )
  return { value: raw.replaceAll('""', '"'), next: { position: end + 1, line: lastLine } }
}
