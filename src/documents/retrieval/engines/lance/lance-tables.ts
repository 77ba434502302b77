import { anySignal, raceSignal } from '../../../../platform/kernel/index.ts'
import {
  type Arrow,
  type Lance,
  type LanceConnection,
  type LanceQuery,
  type LanceTable,
  loadLance,
} from './lance-package.ts'

/** Where tables are, and what opens them. */
export interface LanceStorage {
  /** A folder, or `s3://bucket/prefix`. */
  address: string
  /** LanceDB's own: https://docs.lancedb.com/storage/configuration. */
  options: Record<string, string>
  /** Limit of the cache of indexes. */
  cacheBytes: number
  /** Longest search of one table that can be replaced, from its opening; default 5 s. */
  searchTimeoutMs?: number
}

/** Rows of one table, in columns. A table has no ids of its chunks: to read them takes longer than to find them. */
export interface LanceRows {
  documentIds: string[]
  /** The terms of each chunk, as `termText` writes them. */
  terms: string[]
  /** All vectors in a row. */
  vectors: Float32Array
}

/** A weighted term of a query. */
export interface WeightedTerm {
  term: number
  weight: number
}

export interface TableSearch {
  tableName: string
  /** Only chunks of these documents; null: all. */
  documentIds: readonly string[] | null
  limit: number
  /** False: nothing else can answer, so the search takes as long as its signal lets it. */
  isReplaceable: boolean
  signal: AbortSignal | undefined
}

/** A row that a table has found. Scores of several tables can be compared; more is better. */
export interface TableHit {
  /** Of the parts that the table was made of, and the place in that part. */
  part: number
  at: number
  score: number
}

const metadataCacheBytes = 64 * 2 ** 20
/** Open tables that are kept; each has a few files of its head in memory. */
const maximumOpenTables = 500
/** Of a search in LanceDB itself: one that nothing waits for any more still fills its cache. */
const queryTimeoutMs = 15_000
/** After it, a search has time left to read the database instead. */
const defaultSearchTimeoutMs = 5_000
/** A storage that does not answer is left alone for this time, so that it delays few searches. */
const pauseMs = 10_000
/** Documents that one condition names: a longer one is parsed longer than it is searched. */
const documentsPerQuery = 2_000
/** Below, all vectors are compared: of 2,000 × 384, that takes 40 to 50 ms of processor time, by an index 3 ms. */
export const vectorIndexFromRows = 256
/** A search compares `leastPartitions` of an index, or `partitionShare` of them: a third of 120,000 vectors, a seventh of a million. */
const rowsPerPartition = 1_024
const leastPartitions = 40
const partitionShare = 0.15
/** Bits for each number of a vector in the index. With 4, the best 75 contain the best 50; what is found is compared exactly afterwards. */
const vectorBits = 4
/** LanceDB packs the bits of so many numbers; vectors of other lengths are indexed as they are. */
const packedNumbers = 8
const namesPerPage = 1_000

/** A term as a word that LanceDB's whitespace tokenizer reads. */
export function termText(term: number): string {
  return term.toString(36)
}

/** Tables of chunks with an index of their terms and, if large, of their vectors. A table is written once and never changed. */
export class LanceTables {
  readonly address: string
  readonly #storage: LanceStorage
  #opened: Promise<{ lance: Lance; arrow: Arrow; connection: LanceConnection }> | undefined
  /** Least recently used first. */
  readonly #tables = new Map<string, Promise<LanceTable>>()
  #pausedUntilMs = 0

  constructor(storage: LanceStorage) {
    this.address = storage.address
    this.#storage = storage
  }

  /** Fails where the address cannot be read. */
  async check(): Promise<void> {
    await (await this.#open()).connection.listTables({ limit: 1 })
  }

  async listNames(): Promise<string[]> {
    const { connection } = await this.#open()
    const names: string[] = []
    let pageToken: string | undefined
    do {
      const page = await connection.listTables({ limit: namesPerPage, ...(pageToken && { pageToken }) })
      names.push(...page.tables)
      pageToken = page.pageToken
    } while (pageToken)
    return names
  }

  /** Makes a table of these chunks, which come in parts, with its indexes. Returns the number of rows; without any, there is no table. */
  async create(name: string, dimensions: number, parts: AsyncIterable<LanceRows>): Promise<number> {
    const { lance, arrow, connection } = await this.#open()
    let table: LanceTable | undefined
    let rows = 0
    for await (const part of parts) {
      const data = toArrow(arrow, dimensions, part)
      if (table) await table.add(data)
      else table = await connection.createTable(name, data, { mode: 'create' })
      rows += part.documentIds.length
    }
    if (!table) return 0
    await table.createIndex('terms', { config: lance.Index.fts(termsIndex) })
    await table.createIndex('document', { config: lance.Index.btree() })
    if (rows >= vectorIndexFromRows) await table.createIndex('vector', { config: vectorIndex(lance, rows, dimensions) })
    table.close()
    return rows
  }

  /** True for some seconds after a search that the storage did not answer in time. */
  isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs
  }

  /**
   * The chunks with the best BM25 by these weights, with LanceDB's k1 and b. `usualWeight`: the highest of the query, the same for all tables; a
   * term that is more frequent in this table than elsewhere has a higher one.
   */
  byTerms(search: TableSearch, terms: readonly WeightedTerm[], usualWeight: number): Promise<TableHit[]> {
    return this.#search(search, async (table) => {
      const { lance } = await this.#open()
      const { query, unit } = termQuery(lance, terms, usualWeight)
      return { query: table.query().fullTextSearch(query), scores: '_score', unit }
    })
  }

  /** The nearest chunks of a table with so many rows; the score is the opposite of the cosine distance, nearly. */
  byVector(search: TableSearch, rows: number, vector: Float32Array): Promise<TableHit[]> {
    return this.#search(search, async (table) => {
      const nearest = table.query().nearestTo(vector).distanceType('cosine')
      const query = nearest.maximumNprobes(Math.max(leastPartitions, rows)).minimumNprobes(searchedPartitions(rows))
      return { query, scores: '_distance', unit: -1 }
    })
  }

  async countRows(name: string, documentIds: readonly string[]): Promise<number> {
    // Not one that is kept: it shows the table as it was when it was opened, and a table that is being built grows.
    const { connection } = await this.#open()
    const table = await connection.openTable(name)
    try {
      let count = 0
      for (const part of partsOf(documentIds))
        count += await table.countRows(`document in (${part!.map(literal).join(', ')})`)
      return count
    } finally {
      table.close()
    }
  }

  /** Removes the table, if there is one, with its files. */
  async drop(name: string): Promise<void> {
    const { connection } = await this.#open()
    this.#tables.delete(name)
    await connection.dropTable(name).catch((error: unknown) => {
      if (!/Table '.+' was not found/.test(String(error))) throw error
    })
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined)
    for (const table of this.#tables.values()) (await table.catch(() => undefined))?.close()
    this.#tables.clear()
    opened?.connection.close()
    this.#opened = undefined
  }

  #open() {
    this.#opened ??= this.#connect()
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }

  async #connect() {
    const { lance, arrow } = loadLance()
    const { address, options, cacheBytes } = this.#storage
    const session = new lance.Session(BigInt(cacheBytes), BigInt(metadataCacheBytes))
    return { lance, arrow, connection: await lance.connect(address, { storageOptions: options, session }) }
  }

  #openTable(name: string): Promise<LanceTable> {
    const known = this.#tables.get(name)
    const table = known ?? this.#open().then(({ connection }) => connection.openTable(name))
    this.#tables.delete(name)
    this.#tables.set(name, table)
    if (!known) table.catch(() => this.#tables.delete(name))
    for (const oldest of this.#tables.keys()) {
      if (this.#tables.size <= maximumOpenTables) break
      this.#tables.delete(oldest)
    }
    return table
  }

  /** Asks for a part of the documents after the other; each returns its best. */
  #search(
    search: TableSearch,
    compose: (table: LanceTable) => Promise<{ query: LanceQuery; scores: '_score' | '_distance'; unit: number }>,
  ): Promise<TableHit[]> {
    const { documentIds, limit } = search
    return this.#inTime(search, async (table, signal) => {
      const hits: TableHit[] = []
      for (const part of partsOf(documentIds)) {
        signal.throwIfAborted()
        const { query, scores, unit } = await compose(table)
        const among = part ? query.where(`document in (${part.map(literal).join(', ')})`) : query
        const rows = among.select([scores]).withRowId().limit(limit)
        const found = await rows.toArrow({ timeoutMs: queryTimeoutMs })
        const own = valuesOf<number>(found, scores)
        for (const [at, row] of valuesOf<bigint>(found, '_rowid').entries())
          hits.push({ part: Number(row >> 32n), at: Number(row & 0xffff_ffffn), score: own[at]! * unit })
      }
      return hits
    })
  }

  async #inTime<Found>(
    { tableName, isReplaceable, signal }: TableSearch,
    run: (table: LanceTable, signal: AbortSignal) => Promise<Found>,
  ): Promise<Found> {
    const { searchTimeoutMs = defaultSearchTimeoutMs } = this.#storage
    const limitMs = isReplaceable ? searchTimeoutMs : queryTimeoutMs
    const late = AbortSignal.timeout(limitMs)
    const either = signal ? anySignal(signal, late) : late
    try {
      const table = await raceSignal(this.#openTable(tableName), either)
      return await raceSignal(run(table, either), either)
    } catch (error) {
      if (!late.aborted || signal?.aborted) throw error
      this.#pausedUntilMs = performance.now() + pauseMs
      throw new Error(`no answer in ${limitMs} ms; it is not searched for some seconds`, { cause: error })
    }
  }
}

const termsIndex = {
  baseTokenizer: 'whitespace',
  lowercase: false,
  stem: false,
  removeStopWords: false,
  asciiFolding: false,
  withPosition: false,
}

/**
 * Of 100,000 chunks, one clause for each of 40 terms took 246 ms, one clause with all of them 13 ms, and with 220 repeats, which count as
 * weights, 51 ms.
 */
const maximumClauses = 8
const usualRepeats = 4
const maximumRepeats = 8

/**
 * Exact weights for a short query; for a long one, repeats are enough: the candidates are ranked by exact weights afterwards. `unit`: the weight
 * that LanceDB's scores count in, which differs between tables.
 */
function termQuery(lance: Lance, terms: readonly WeightedTerm[], usualWeight: number): { query: object; unit: number } {
  if (terms.length <= maximumClauses) {
    const clauses = terms.map(({ term, weight }) => {
      const match = new lance.MatchQuery(termText(term), 'terms', { boost: weight })
      return [lance.Occur.Should, match] as const
    })
    return { query: new lance.BooleanQuery(clauses), unit: 1 }
  }
  const repeated = terms.flatMap(({ term, weight }) => {
    const repeats = Math.min(maximumRepeats, Math.max(1, Math.round((usualRepeats * weight) / usualWeight)))
    return Array.from({ length: repeats }, () => termText(term))
  })
  return { query: new lance.MatchQuery(repeated.join(' '), 'terms'), unit: usualWeight / usualRepeats }
}

function vectorIndex(lance: Lance, rows: number, dimensions: number): object {
  const options = { distanceType: 'cosine', numPartitions: Math.ceil(rows / rowsPerPartition) } as const
  return dimensions % packedNumbers === 0
    ? lance.Index.ivfRq({ ...options, numBits: vectorBits })
    : lance.Index.ivfFlat(options)
}

function searchedPartitions(rows: number): number {
  return Math.max(leastPartitions, Math.ceil((rows / rowsPerPartition) * partitionShare))
}

function partsOf(documentIds: readonly string[] | null): (readonly string[] | null)[] {
  if (!documentIds) return [null]
  const count = Math.ceil(documentIds.length / documentsPerQuery)
  return Array.from({ length: count }, (_, at) =>
    documentIds.slice(at * documentsPerQuery, (at + 1) * documentsPerQuery),
  )
}

/** Ids only: conditions have no parameters. */
function literal(id: string): string {
  if (!/^[0-9a-f-]{36}$/i.test(id)) throw new Error('an id is no UUID')
  return `'${id.toLowerCase()}'`
}

/** Without rows there are no columns. */
function valuesOf<Value>(found: { getChild(column: string): Iterable<unknown> | null }, column: string): Value[] {
  return [...((found.getChild(column) ?? []) as Iterable<Value>)]
}

/** Takes 3 to 16 ms of the event loop for the texts of 5,000 rows; the package's builder of columns takes 14 to 70 ms. */
function asciiColumn(arrow: Arrow, values: readonly string[]): unknown {
  const valueOffsets = new Int32Array(values.length + 1)
  for (const [at, value] of values.entries()) valueOffsets[at + 1] = valueOffsets[at]! + value.length
  const data = Buffer.from(values.join(''), 'latin1')
  const { length } = values
  return new arrow.Vector([arrow.makeData({ type: new arrow.Utf8(), length, nullCount: 0, valueOffsets, data })])
}

function toArrow(arrow: Arrow, dimensions: number, { documentIds, terms, vectors }: LanceRows): object {
  const { length } = documentIds
  const text = (values: readonly string[]) => asciiColumn(arrow, values)
  const number = new arrow.Float32()
  const type = new arrow.FixedSizeList(dimensions, new arrow.Field('item', number, true))
  const child = arrow.makeData({ type: number, length: length * dimensions, nullCount: 0, data: vectors })
  return new arrow.Table({
    document: text(documentIds),
    terms: text(terms),
    vector: new arrow.Vector([arrow.makeData({ type, length, nullCount: 0, child })]),
  })
}
