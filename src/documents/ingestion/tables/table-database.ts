import { constants, DatabaseSync } from 'node:sqlite'
import { tokenize } from '../../../platform/language/index.ts'
import { checkColumns } from './check-columns.ts'
import { planColumns, type SqlColumn, type SqlValue } from './columns.ts'
import type { ExtractedTable } from './read-tables.ts'
import type { QueryResult, TableDescription } from './table-protocol.ts'

/** Tables in a SQLite database in memory that statements of a model may read, and nothing else. */
export interface TableDatabase {
  /** With the first rows, or those with most of the words; together at most about `maximumRowBytes`. */
  describe: (words: readonly string[], maximumRowBytes: number) => TableDescription[]
  /** Runs one SELECT statement. Throws SqlError with a message for the model. */
  query: (sql: string) => QueryResult
  close: () => void
}

/** A statement that is not allowed, or that SQLite refuses. */
export class SqlError extends Error {}

const maximumResultRows = 200
/** Tables of one description; the others can be queried by their names. */
const maximumDescribedTables = 8
const maximumResultBytes = 12_000
const maximumCellLength = 500
/** SQLite's own memory, in bytes; above it a statement fails with an error. */
const heapLimit = 384 * 1024 * 1024
/** Narrower than SQLite's defaults; `length` bounds one text in bytes. */
const limits = {
  length: 4_000_000,
  sqlLength: 8_000,
  exprDepth: 100,
  compoundSelect: 20,
  attach: 0,
  likePatternLength: 500,
}

export function createTableDatabase(
  documents: readonly { key: string; tables: readonly ExtractedTable[] }[],
): TableDatabase {
  const database = new DatabaseSync(':memory:', { allowExtension: false, enableDoubleQuotedStringLiterals: false })
  database.exec(`pragma hard_heap_limit = ${heapLimit}; pragma temp_store = memory; pragma trusted_schema = off`)
  let count = 0
  const loaded = documents.flatMap(({ key, tables }) =>
    tables.map((table) => ({ documentKey: key, ...load(database, `t${++count}`, table) })),
  )
  const sums = addStrictSums(database)
  database.exec('pragma query_only = on')
  // Since Node.js 24.15; on older versions the memory limits of the process hold alone.
  if (database.limits) Object.assign(database.limits, limits)
  database.setAuthorizer(authorize)

  return {
    describe(words, maximumRowBytes) {
      const chosen = chooseTables(loaded, words)
      return chosen.map((table) => describeTable(database, table, words, Math.floor(maximumRowBytes / chosen.length)))
    },
    query(sql) {
      const result = runStatement(database, loaded, sql)
      const problem = sums.takeProblem()
      if (problem !== null) throw new SqlError(problem)
      return result
    },
    close: () => database.close(),
  }
}

interface LoadedTable {
  documentKey: string
  name: string
  title: string | null
  rowCount: number
  columns: SqlColumn[]
}

function load(
  database: DatabaseSync,
  name: string,
  { title, header, rows }: ExtractedTable,
): Omit<LoadedTable, 'documentKey'> {
  const columns = planColumns(
    header,
    rows.map(({ cells }) => cells),
  )
  database.exec(`create table ${name} (${columns.map((column) => `"${column.name}" ${column.type}`).join(', ')})`)
  const insert = database.prepare(`insert into ${name} values (${columns.map(() => '?').join(', ')})`)
  database.exec('begin')
  for (const { row, cells } of rows) insert.run(...columns.map(({ value }) => value(cells, row)))
  database.exec('commit')
  return { name, title, rowCount: rows.length, columns }
}

/** Reading of the loaded tables, and functions that compute from their arguments alone. */
function authorize(action: number, first: string | null, second: string | null): number {
  if (action === constants.SQLITE_SELECT) return constants.SQLITE_OK
  if (action === constants.SQLITE_FUNCTION && functions.has(second ?? '')) return constants.SQLITE_OK
  // Tables of SQLite itself and table-valued functions; other names are those of loaded tables, views of a statement and aliases.
  if (action === constants.SQLITE_READ && !/^(?:pragma_|sqlite_|json_|jsonb_|dbstat|fts\d)/i.test(first ?? ''))
    return constants.SQLITE_OK
  return constants.SQLITE_DENY
}

/** https://sqlite.org/lang_corefunc.html and the pages of aggregate, date, mathematical and window functions. */
const functions = new Set(
  'abs char coalesce concat concat_ws format glob hex iif if ifnull instr length like likelihood likely lower ltrim max min nullif octet_length printf quote replace round rtrim sign substr substring trim typeof unicode unlikely upper avg count group_concat string_agg sum total median percentile percentile_cont percentile_disc date time datetime julianday unixepoch strftime timediff acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value'.split(
    ' ',
  ),
)

function runStatement(database: DatabaseSync, tables: readonly LoadedTable[], given: string): QueryResult {
  const checked = checkStatement(given)
  if ('problem' in checked) throw new SqlError(checked.problem)
  const problem = checkColumns(
    checked.sql,
    tables.flatMap(({ columns }) => columns),
  )
  if (problem !== null) throw new SqlError(problem)
  try {
    const statement = database.prepare(checked.sql)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name.slice(0, maximumCellLength))
    const rows: SqlValue[][] = []
    let bytes = 0
    for (const row of statement.iterate() as unknown as Iterable<unknown[]>) {
      const values = row.map(toValue)
      bytes += sizeOf(values)
      if (rows.length === maximumResultRows || (bytes > maximumResultBytes && rows.length > 0)) {
        return { columns, rows, isCut: true }
      }
      rows.push(values)
    }
    return { columns, rows, isCut: false }
  } catch (error) {
    throw new SqlError(error instanceof Error ? error.message : String(error))
  }
}

function toValue(value: unknown): SqlValue {
  if (value === null || typeof value === 'number') return value
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value !== 'string') return '(binary)'
  return value.length > maximumCellLength ? `${value.slice(0, maximumCellLength).toWellFormed()}…` : value
}

/** About the bytes of a row as text. */
const sizeOf = (row: readonly SqlValue[]) =>
  row.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')) + 3, 0)

/** The tables with most words in title and header, in the order of the documents; the first ones without words. */
function chooseTables(tables: readonly LoadedTable[], words: readonly string[]): LoadedTable[] {
  if (tables.length <= maximumDescribedTables) return [...tables]
  const wanted = new Set(words)
  const score = ({ title, columns }: LoadedTable) => {
    const text = [title, ...columns.map(({ header }) => header)].join(' ')
    return new Set(tokenize(text, { singleCharacters: false }).filter((word) => wanted.has(word))).size
  }
  const best = tables.toSorted((left, right) => score(right) - score(left)).slice(0, maximumDescribedTables)
  return tables.filter((table) => best.includes(table))
}

function describeTable(
  database: DatabaseSync,
  { name, title, rowCount, columns, documentKey }: LoadedTable,
  words: readonly string[],
  maximumRowBytes: number,
): TableDescription {
  const select = database.prepare(`select * from ${name}`)
  select.setReturnArrays(true)
  const rows = (select.all() as unknown as SqlValue[][]).map((row) => row.map(toValue))
  return {
    name,
    documentKey,
    title,
    rowCount,
    columns: columns.map(({ name: column, type, kind, note, header }) => ({ name: column, type, kind, note, header })),
    rows: chooseRows(rows, words, maximumRowBytes),
  }
}

/**
 * The rows with the rarest words of the question, then the first ones, as many as fit; in the order of the file. A word counts by its
 * inverse document frequency among the rows.
 */
function chooseRows(rows: readonly SqlValue[][], words: readonly string[], maximumBytes: number): SqlValue[][] {
  const wanted = new Set(words)
  const found = rows.map((row) => {
    const text = row.slice(1).join(' ')
    return new Set(tokenize(text, { singleCharacters: false }).filter((word) => wanted.has(word)))
  })
  const frequencies = new Map<string, number>()
  for (const word of found.flatMap((set) => [...set])) frequencies.set(word, (frequencies.get(word) ?? 0) + 1)
  const ranked = rows
    .map((_, index) => ({
      index,
      score: [...found[index]!].reduce((sum, word) => sum + Math.log(1 + rows.length / frequencies.get(word)!), 0),
    }))
    .toSorted((left, right) => right.score - left.score || left.index - right.index)
  const chosen: number[] = []
  let left = maximumBytes
  for (const { index } of ranked) {
    left -= sizeOf(rows[index]!)
    if (left < 0) break
    chosen.push(index)
  }
  return chosen.toSorted((one, other) => one - other).map((index) => rows[index]!)
}

/** Longest statement, UTF-16 units. */
const maximumSqlLength = 4_000

/**
 * Returns one SELECT statement without its final semicolon, or the problem. The authorizer of the database enforces that it only
 * reads; this check exists because SQLite compiles the first statement of a text and ignores the rest. Linear.
 */
export function checkStatement(given: string): { sql: string } | { problem: string } {
  if (given.length > maximumSqlLength)
    return { problem: `The statement is longer than ${maximumSqlLength} characters.` }
  if (given.includes('\0')) return { problem: 'The statement contains a NUL character.' }
  const sql = given.trim().replace(/;\s*$/, '')
  if (!/^(?:select|with|values)\b/i.test(sql)) return { problem: 'Only one SELECT statement is allowed.' }
  return hasSeparator(sql) ? { problem: 'Only one statement is allowed.' } : { sql }
}

/** Quoted texts, quoted names and comments; or the character of interest. */
const parts = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g

function hasSeparator(sql: string): boolean {
  for (const [part] of sql.matchAll(parts)) if (part === ';') return true
  return false
}

/** Numbers of SQLite arrive as bigint or number. */
type Given = number | bigint | string | Uint8Array | null

interface Sum {
  count: number
  whole: bigint
  /** Null while all numbers are whole. */
  real: number | null
}

/**
 * Replaces sum, total and avg, for which SQLite counts a text as its leading digits, often 0. Here a text is a problem of the statement, which
 * `takeProblem` returns once. Whole numbers are added exactly. https://sqlite.org/lang_aggfunc.html
 */
function addStrictSums(database: DatabaseSync): { takeProblem: () => string | null } {
  let problem: string | null = null
  // An error inside of a function of a running statement would be hidden by Node.js.
  const report = (name: string, text: unknown) => {
    problem ??= `${name}() of the text '${String(text).slice(0, 40)}', which is no number.`
  }
  const add = (name: string, result: (sum: Sum) => number | bigint | null) =>
    database.aggregate(name, {
      useBigIntArguments: true,
      start: () => ({ count: 0, whole: 0n, real: null }) as never,
      step: ((sum: Sum, value: Given) => change(sum, value, 1, (text) => report(name, text))) as never,
      inverse: ((sum: Sum, value: Given) => change(sum, value, -1, (text) => report(name, text))) as never,
      result: ((sum: Sum) => result(sum)) as never,
    })
  add('sum', (sum) => (sum.count === 0 ? null : sum.real === null ? toSafe(sum.whole) : valueOf(sum)))
  add('total', valueOf)
  add('avg', (sum) => (sum.count === 0 ? null : valueOf(sum) / sum.count))
  return {
    takeProblem() {
      const taken = problem
      problem = null
      return taken
    },
  }
}

function change(sum: Sum, value: Given, sign: 1 | -1, report: (text: unknown) => void): Sum {
  if (value === null) return sum
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    report(value)
    return sum
  }
  const whole = typeof value === 'bigint' ? sum.whole + BigInt(sign) * value : sum.whole
  const real = typeof value === 'bigint' ? sum.real : (sum.real ?? 0) + sign * value
  return { count: sum.count + sign, whole, real }
}

const valueOf = ({ whole, real }: Sum) => Number(whole) + (real ?? 0)

/** SQLite has 64 bits. */
const toSafe = (whole: bigint) => (BigInt.asIntN(64, whole) === whole ? whole : Number(whole))
