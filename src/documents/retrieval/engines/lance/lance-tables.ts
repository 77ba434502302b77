import { anySignal, raceSignal } from '../../../../platform/kernel/index.ts'
import { type Arrow, type Lance, type LanceConnection, type LanceTable, loadLance } from './lance-package.ts'

/** Where tables are, and what opens them. */
export interface LanceStorage {
  /** A folder, or `s3://bucket/prefix`. */
  address: string
  /** LanceDB's own: https://docs.lancedb.com/storage/configuration. */
  options: Record<string, string>
  /** Limit of the cache of indexes. */
  cacheBytes: number
  /** Longest search of one table, from its opening; default 5 s. */
  searchTimeoutMs?: number
}

/** Rows of one table, in columns. */
export interface LanceRows {
  chunkIds: string[]
  documentIds: string[]
  /** The terms of each chunk, as `termText` writes them. */
  terms: string[]
  /** All vectors in a row. */
  vectors: Float32Array
}

/** What all rows of a table have in common. */
interface TableScope {
  organisationId: string
  spaceId: string
  dimensions: number
}

/** A weighted term of a query. */
export interface WeightedTerm {
  term: number
  weight: number
}

export interface TableSearch {
  tableName: string
  organisationId: string
  spaceId: string
  /** Only chunks of these documents; null: all. */
  documentIds: readonly string[] | null
  limit: number
  signal: AbortSignal | undefined
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
/** Below, all vectors are compared: 20,000 × 384 take about 5 ms. */
export const vectorIndexFromRows = 20_000
/** Of an index of vectors; a filter makes LanceDB search more of them where too few match. */
const searchedPartitions = 40
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
  async create(name: string, scope: TableScope, parts: AsyncIterable<LanceRows>): Promise<number> {
    const { lance, arrow, connection } = await this.#open()
    let table: LanceTable | undefined
    let rows = 0
    for await (const part of parts) {
      const data = toArrow(arrow, scope, part)
      if (table) await table.add(data)
      else table = await connection.createTable(name, data, { mode: 'create' })
      rows += part.chunkIds.length
    }
    if (!table) return 0
    await table.createIndex('terms', { config: lance.Index.fts(termsIndex) })
    for (const column of ['document', 'space', 'organisation'])
      await table.createIndex(column, { config: lance.Index.btree() })
    if (rows >= vectorIndexFromRows)
      await table.createIndex('vector', { config: lance.Index.ivfFlat({ distanceType: 'cosine' }) })
    table.close()
    return rows
  }

  /** True for some seconds after a search that the storage did not answer in time. */
  isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs
  }

  /** Ids of the chunks with the best BM25 by these weights, with LanceDB's k1 and b. */
  byTerms(search: TableSearch, terms: readonly WeightedTerm[]): Promise<string[]> {
    return this.#search(search, async (table, where) => {
      const { lance } = await this.#open()
      const query = table.query().fullTextSearch(termQuery(lance, terms)).where(where)
      return idsOf(await query.select(['chunk', '_score']).limit(search.limit).toArrow({ timeoutMs: queryTimeoutMs }))
    })
  }

  /** Ids of the nearest chunks by cosine similarity. */
  byVector(search: TableSearch, vector: Float32Array): Promise<string[]> {
    return this.#search(search, async (table, where) => {
      const query = table.query().nearestTo(vector).distanceType('cosine').nprobes(searchedPartitions).where(where)
      return idsOf(
        await query.select(['chunk', '_distance']).limit(search.limit).toArrow({ timeoutMs: queryTimeoutMs }),
      )
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

  /** Runs the search for a part of the documents after the other; each returns its best. */
  async #search(search: TableSearch, run: (table: LanceTable, where: string) => Promise<string[]>): Promise<string[]> {
    const { searchTimeoutMs = defaultSearchTimeoutMs } = this.#storage
    const late = AbortSignal.timeout(searchTimeoutMs)
    try {
      return await this.#searchParts(search, run, search.signal ? anySignal(search.signal, late) : late)
    } catch (error) {
      if (!late.aborted || search.signal?.aborted) throw error
      this.#pausedUntilMs = performance.now() + pauseMs
      throw new Error(`no answer in ${searchTimeoutMs} ms; it is not searched for some seconds`, { cause: error })
    }
  }

  async #searchParts(
    search: TableSearch,
    run: (table: LanceTable, where: string) => Promise<string[]>,
    signal: AbortSignal,
  ): Promise<string[]> {
    const table = await raceSignal(this.#openTable(search.tableName), signal)
    const own = `organisation = ${literal(search.organisationId)} and space = ${literal(search.spaceId)}`
    const found: string[] = []
    for (const part of partsOf(search.documentIds)) {
      const among = part ? ` and document in (${part.map(literal).join(', ')})` : ''
      found.push(...(await raceSignal(run(table, own + among), signal)))
    }
    return found
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
const maximumRepeats = 4

/** Exact weights for a short query; for a long one, repeats are enough: the candidates are ranked by exact weights afterwards. */
function termQuery(lance: Lance, terms: readonly WeightedTerm[]): object {
  if (terms.length <= maximumClauses) {
    return new lance.BooleanQuery(
      terms.map(({ term, weight }) => [
        lance.Occur.Should,
        new lance.MatchQuery(termText(term), 'terms', { boost: weight }),
      ]),
    )
  }
  const highest = Math.max(...terms.map(({ weight }) => weight))
  const repeated = terms.flatMap(({ term, weight }) => {
    const repeats = Math.max(1, Math.round((maximumRepeats * weight) / highest))
    return Array.from({ length: repeats }, () => termText(term))
  })
  return new lance.MatchQuery(repeated.join(' '), 'terms')
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

function idsOf(found: { getChild(column: string): Iterable<unknown> | null }): string[] {
  // Without rows there is no column.
  return [...((found.getChild('chunk') ?? []) as Iterable<string>)]
}

/** Takes 3 to 16 ms of the event loop for the texts of 5,000 rows; the package's builder of columns takes 14 to 70 ms. */
function asciiColumn(arrow: Arrow, values: readonly string[]): unknown {
  const valueOffsets = new Int32Array(values.length + 1)
  for (const [at, value] of values.entries()) valueOffsets[at + 1] = valueOffsets[at]! + value.length
  const data = Buffer.from(values.join(''), 'latin1')
  const { length } = values
  return new arrow.Vector([arrow.makeData({ type: new arrow.Utf8(), length, nullCount: 0, valueOffsets, data })])
}

function toArrow(
  arrow: Arrow,
  { organisationId, spaceId, dimensions }: TableScope,
  { chunkIds, documentIds, terms, vectors }: LanceRows,
): object {
  const { length } = chunkIds
  const text = (values: readonly string[]) => asciiColumn(arrow, values)
  const number = new arrow.Float32()
  const type = new arrow.FixedSizeList(dimensions, new arrow.Field('item', number, true))
  const child = arrow.makeData({ type: number, length: length * dimensions, nullCount: 0, data: vectors })
  return new arrow.Table({
    organisation: text(chunkIds.map(() => organisationId)),
    space: text(chunkIds.map(() => spaceId)),
    document: text(documentIds),
    chunk: text(chunkIds),
    terms: text(terms),
    vector: new arrow.Vector([arrow.makeData({ type, length, nullCount: 0, child })]),
  })
}
