import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { ExtractionError, type ExtractedBlock } from '../extraction.ts'
import { cleanLine } from './clean-text.ts'
import { sniffDialect, type CsvDialect } from './csv-dialect.ts'
import { readCsvHead } from './csv-head.ts'
import { createBlockBatch, type ExtractorInput } from './extractor.ts'
import { decodeTextFile } from './text-decoding.ts'
import { tableRow, tableRowText } from './table-row.ts'

const sampleCharacters = 64 * 1024
/** The header is judged against this many records that follow it. */
const judgedRecords = 20
/** The parser holds one record in memory; this bounds it. Text of every script stays within 4 bytes per character. */
const maximumRecordBytes = 16 * 1024 * 1024

/**
 * A csv file: one table_row block per record, with the header's cells on each. The header itself is a table_row block
 * without a row number.
 */
export function extractCsv(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  return extractRecords(input, sniffDialect)
}

/** The same with tabs between the cells. */
export function extractTsv(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  return extractRecords(input, () => ({ delimiter: '\t', quote: '"' }))
}

type DialectOf = (sample: string) => CsvDialect

async function* extractRecords(input: ExtractorInput, dialectOf: DialectOf): AsyncGenerator<ExtractedBlock[]> {
  const decoded = decodeTextFile(input)
  try {
    yield* readTable(decoded, dialectOf)
  } finally {
    // The parser may fail in the middle of the file, which must be closed here.
    await decoded.return(undefined)
  }
}

async function* readTable(decoded: AsyncGenerator<string>, dialectOf: DialectOf): AsyncGenerator<ExtractedBlock[]> {
  const { sample, rest } = await takeSample(decoded)
  const dialect = dialectOf(sample)
  if (!quotesClose(sample, dialect)) dialect.quote = null
  const batch = createBlockBatch()
  const waiting: string[][] = []
  let header: string[] | undefined
  let judged = false
  let row = 0

  function* take(record: string[]): Generator<ExtractedBlock[]> {
    row += 1
    if (batch.add({ kind: 'table_row', ...tableRow(record), row, ...(header ? { header } : {}) })) yield batch.take()
  }
  function* judge(): Generator<ExtractedBlock[]> {
    judged = true
    const { titles, header: names, rows } = readCsvHead(waiting.splice(0))
    for (const text of titles) batch.add({ kind: 'paragraph', text })
    if (names) {
      header = names
      batch.add({ kind: 'table_row', text: tableRowText(header), header })
    }
    for (const record of rows) yield* take(record)
  }

  for await (const record of parseRecords(sample, rest, dialect)) {
    const cells = record.map(cleanLine)
    if (cells.every((cell) => cell === '')) continue
    if (judged) yield* take(cells)
    else if (waiting.push(cells) > judgedRecords) yield* judge()
  }
  if (!judged) yield* judge()
  yield batch.take()
}

async function* parseRecords(
  sample: string,
  rest: AsyncIterable<string>,
  dialect: CsvDialect,
): AsyncGenerator<string[]> {
  async function* text() {
    yield sample.replace(/^\ufeff/, '').replace(/^sep=.\r?\n/i, '')
    yield* rest
  }
  const source = Readable.from(text())
  const parser = source.pipe(
    parse({
      delimiter: dialect.delimiter,
      quote: dialect.quote ?? false,
      escape: dialect.quote ?? '"',
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: maximumRecordBytes,
      record_delimiter: ['\r\n', '\n', '\r'],
    }),
  )
  try {
    for await (const record of parser) yield record as string[]
  } catch (error) {
    throw recordError(error, (parser as unknown as ParserState).state?.quoting === true) ?? error
  } finally {
    source.destroy()
  }
}

/** The parser's state, which its types leave out. */
interface ParserState {
  state?: { quoting?: boolean }
}

/** The file's fault behind a parser error; undefined for any other error. */
function recordError(error: unknown, isQuoting: boolean): ExtractionError | undefined {
  const code = (error as { code?: string }).code
  if (code === 'CSV_QUOTE_NOT_CLOSED' || (code === 'CSV_MAX_RECORD_SIZE' && isQuoting))
    return new ExtractionError(
      'corrupt_file',
      'A quoted cell of the csv file never ends. Close the quotation mark, or save the file as csv again.',
      { cause: error },
    )
  if (code !== 'CSV_MAX_RECORD_SIZE') return undefined
  const line = /at line (\d+)/.exec(String(error))?.[1]
  return new ExtractionError(
    'too_complex',
    `A record of the csv file${line ? ` (line ${line})` : ''} is longer than ${maximumRecordBytes / 1024 / 1024} MiB. Split it into several records, or upload the file as .txt.`,
    { cause: error },
  )
}

/** False when a quote opens a cell that never closes, in a file that is not longer than the sample: then quotes are plain characters. */
function quotesClose(sample: string, { delimiter, quote }: CsvDialect): boolean {
  if (quote === null || sample.length >= sampleCharacters) return true
  let isQuoted = false
  for (let at = sample.indexOf(quote); at !== -1; at = sample.indexOf(quote, at + 1)) {
    if (isQuoted && sample[at + 1] === quote) at += 1
    else isQuoted = !isQuoted && beginsCell(sample[at - 1], delimiter)
  }
  return !isQuoted
}

function beginsCell(before: string | undefined, delimiter: string): boolean {
  return before === undefined || before === delimiter || before === '\n' || before === '\r'
}

async function takeSample(pieces: AsyncGenerator<string>): Promise<{ sample: string; rest: AsyncGenerator<string> }> {
  let sample = ''
  while (sample.length < sampleCharacters) {
    const next = await pieces.next()
    if (next.done) break
    sample += withoutNuls(next.value)
  }
  async function* rest() {
    for await (const piece of pieces) yield withoutNuls(piece)
  }
  return { sample, rest: rest() }
}

/** NULs end up in half-converted files and would hide quotes and delimiters; the rest is cleaned cell by cell. */
function withoutNuls(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
