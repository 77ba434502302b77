import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import { goldenLimits } from '../../contract/golden-questions.ts'
import { AppError, invalidField } from '../../platform/kernel/index.ts'

/** A row of a CSV file as a question of an import, not yet validated. */
export interface CsvQuestion {
  /** From 1. */
  line: number
  /** What the columns of the row mean, or why it has no meaning. */
  read: { question: object } | { problem: { param: string; words: string } }
}

const fields = ['question', 'expectedDocuments', 'expectedFacts', 'mustAbstain'] as const
type Field = (typeof fields)[number]

/** Of each field of a question, the column's name in errors. */
export const columnNames: Record<Field, string> = {
  question: 'question',
  expectedDocuments: 'expected documents',
  expectedFacts: 'expected facts',
  mustAbstain: 'must abstain',
}

/** Other names of columns, compared without case, spaces, hyphens and underscores. */
const aliases = new Map<string, Field>([
  ...fields.map((field): [string, Field] => [field.toLowerCase(), field]),
  ['expecteddocument', 'expectedDocuments'],
  ['documents', 'expectedDocuments'],
  ['document', 'expectedDocuments'],
  ['expectedfact', 'expectedFacts'],
  ['facts', 'expectedFacts'],
  ['fact', 'expectedFacts'],
])

/** A field, or undefined for a column without a name. */
type Column = Field | undefined

/**
 * The questions of a CSV text. The separator is the comma, or the semicolon or tab that the header has more of. Throws `invalid_request`
 * naming the line: a header that is not understood, a quote that is not closed, or too many questions.
 */
export function readCsvQuestions(text: string): CsvQuestion[] {
  const [header, ...records] = readRecords(text, findSeparator(text))
  if (!header) throw new AppError('invalid_request', 'The file is empty. Its first line must name the columns.')
  const columns = readHeader(header.cells, header.line)
  const questions: CsvQuestion[] = []
  for (const { line, cells } of records) {
    // A spreadsheet writes its empty rows as separators.
    if (cells.every(isBlank)) continue
    if (questions.length === goldenLimits.questionsPerSpace) throw tooMany(line)
    questions.push({ line, read: readRow(cells, columns) })
  }
  return questions
}

function findSeparator(text: string): Separator {
  const header = /^[^\r\n]*/.exec(text.trimStart())![0]
  const count = (separator: Separator) => header.split(separator).length
  return ([';', '\t'] as const).find((separator) => count(separator) > count(',')) ?? ','
}

function readHeader(cells: readonly string[], line: number): Column[] {
  const columns = cells.map((name) => {
    if (isBlank(name)) return undefined
    const field = aliases.get(name.toLowerCase().replaceAll(/[\s_-]/g, ''))
    if (field) return field
    const known = Object.values(columnNames).join(', ')
    throw new AppError(
      'invalid_request',
      `Line ${line}: the column “${name.slice(0, 60)}” is unknown. Known: ${known}.`,
    )
  })
  for (const field of ['question', 'mustAbstain'] as const) {
    if (columns.filter((column) => column === field).length < 2) continue
    throw new AppError('invalid_request', `Line ${line}: the column \`${columnNames[field]}\` is there twice.`)
  }
  if (!columns.includes('question'))
    throw new AppError('invalid_request', `Line ${line}: the header must have the column \`question\`.`)
  return columns
}

const isBlank = (text: string | undefined) => text === undefined || text.trim() === ''

function readRow(cells: readonly string[], columns: readonly Column[]): CsvQuestion['read'] {
  const textOf = (field: Field) => cells.filter((_, index) => columns[index] === field)
  if (cells.some((cell, index) => columns[index] === undefined && !isBlank(cell))) {
    const named = columns.filter((column) => column !== undefined).length
    return {
      problem: {
        param: '',
        words: `has a text outside the ${named} named columns. Put a text that contains the separator into quotes`,
      },
    }
  }
  const mustAbstain = readTruth(textOf('mustAbstain')[0] ?? '')
  if (mustAbstain === undefined) return { problem: { param: 'mustAbstain', words: 'must be true, false, yes or no' } }
  return {
    question: {
      messages: [{ role: 'user', content: textOf('question')[0] ?? '' }],
      expectedDocuments: linesOf(textOf('expectedDocuments')).map((name) => ({ name })),
      expectedFacts: linesOf(textOf('expectedFacts')),
      mustAbstain,
    },
  }
}

/** The lines of cells that are not blank, without space around them. */
const linesOf = (cells: readonly string[]) =>
  cells.flatMap((cell) => cell.split(/\r\n|\n|\r/).map((line) => line.trim())).filter((line) => line !== '')

const truths = new Map([
  ['', false],
  ['false', false],
  ['no', false],
  ['0', false],
  ['true', true],
  ['yes', true],
  ['1', true],
])

const readTruth = (cell: string) => truths.get(cell.trim().toLowerCase())

function tooMany(line: number): AppError {
  return invalidField(
    'questions',
    `Line ${line}: the file must have at most ${goldenLimits.questionsPerSpace} questions.`,
  )
}

interface CsvRecord {
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
