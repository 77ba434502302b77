import {
  columnsOf,
  decodeIntegers,
  decodeVector,
  type OwnedDatabase,
  type QueryOptions,
} from '../../../../platform/database/index.ts'
import { createTimeSlices, createUuid, uuidOf } from '../../../../platform/kernel/index.ts'
import { vectorTable } from '../../corpus/embedding-versions.store.ts'
import {
  type FilledSegment,
  type NewSegment,
  retireSegments,
  type SegmentPlace,
  type SegmentStore,
} from '../postgres/vector-segments.store.ts'
import { type LanceRows, type LanceTables, termText } from './lance-tables.ts'

/** Rows of one statement: 5 to 15 ms of the embedded engine's one connection, as space-rows.store.ts reads them. */
const rowsPerPage = { embedded: 100, postgres: 1_000 }
/** Of one write, which is one file of the table: rows, and numbers of their vectors, 16 MB, of which LanceDB's package makes copies. */
const most = { rowsPerPart: 5_000, numbersPerPart: 4_000_000 }
const fillTimeoutMs = 2 * 60 * 60_000

export const tablePrefix = 'segment_'

/** Segments as tables of LanceDB. A table name is never used twice, also after a database was set back. */
export function createLanceSegments(tables: LanceTables): SegmentStore {
  return {
    storage: tables.address,
    newName: () => `${tablePrefix}${createUuid().replaceAll('-', '')}`,
    async create() {},
    async fill(database, place, segment) {
      try {
        return await fillTable(database, tables, place, segment)
      } catch (error) {
        // If this fails too, or the process dies, maintenance removes the table.
        await giveUp(database, tables, place).catch(() => {})
        throw error
      }
    },
    drop: (_, { tableName }) => tables.drop(tableName!),
  }
}

async function fillTable(
  database: OwnedDatabase,
  tables: LanceTables,
  { id, tableName }: SegmentPlace,
  segment: NewSegment,
): Promise<FilledSegment> {
  const read = readDocuments(database, segment)
  const { dimensions } = segment.scope.version
  const rows = await tables.create(tableName!, dimensions, whileBuilding(database, id, read.parts()))
  const chunkIds = Buffer.concat([idHeader(dimensions), ...read.chunkIds])
  await noteBuilding(database, id, { counts: await encodeCounts(read.termCounts), chunkIds })
  const documents = Array.from(read.documents, ([documentId, counts]) => ({ documentId, ...counts }))
  return {
    documents: `select * from unnest($7::uuid[], $8::int[], $9::uuid[]) filled (document_id, chunks, run_id)`,
    values: columnsOf(documents, 'documentId', 'chunks', 'runId'),
    rows: String(rows),
  }
}

/** The parts, while the segment is still wanted. */
async function* whileBuilding(
  database: OwnedDatabase,
  id: number,
  parts: AsyncIterable<LanceRows>,
): AsyncGenerator<LanceRows> {
  for await (const part of parts) {
    await noteBuilding(database, id)
    yield part
  }
  await noteBuilding(database, id)
}

/** Reports that the build is alive. Throws where it was given up, by an erasure or by maintenance, after a time without a report. */
async function noteBuilding(
  database: OwnedDatabase,
  id: number,
  notes: { counts: Uint8Array; chunkIds: Uint8Array } | null = null,
): Promise<void> {
  const noted = await database.execute(
    `update vector_segments set changed_at = now(), term_counts = coalesce($2, term_counts), chunk_ids = coalesce($3, chunk_ids)
     where id = $1 and state = 'building'`,
    [id, notes?.counts ?? null, notes?.chunkIds ?? null],
    { background: true },
  )
  if (noted === 0) throw new Error(`segment ${id} was given up while it was built`)
}

/** Removes what was written of a table, then its note. */
async function giveUp(database: OwnedDatabase, tables: LanceTables, { id, tableName }: SegmentPlace): Promise<void> {
  await retireSegments(database, [id])
  await tables.drop(tableName!)
  await database.execute('delete from vector_segments where id = $1', [id], { background: true })
}

interface Row {
  /** 16 bytes. */
  chunkId: Uint8Array
  documentId: string
  runId: string
  terms: Uint8Array
  vector: Uint8Array
}

/** Reads the documents page by page. After `parts`, what was read of each, the ids of the chunks in their order, and how many contain each term. */
function readDocuments(database: OwnedDatabase, { scope, documents, signal }: NewSegment) {
  const read = new Map<string, { runId: string; chunks: number }>()
  const chunkIds: Uint8Array[] = []
  const termCounts = new Map<number, number>()
  const options = { background: true, timeoutMs: fillTimeoutMs, ...(signal ? { signal } : {}) }

  async function* rows(): AsyncGenerator<Row[]> {
    const size = rowsPerPage[database.engine]
    for (const group of await groupDocuments(database, documents, size, options)) {
      // By their keys: a page after the other would sort all chunks of a large document for each.
      const ids = await database.query<{ id: string }>(
        'select chunk_id as id from chunk_terms where document_id = any($1::uuid[]) order by chunk_id',
        [group],
        options,
      )
      for (let from = 0; from < ids.length; from += size) {
        const wanted = ids.slice(from, from + size).map(({ id }) => id)
        yield await database.query<Row>(
          `select uuid_send(c.chunk_id) as "chunkId", c.document_id as "documentId", d.run_id as "runId", array_send(c.terms) as terms,
             vector_send(e.embedding::vector) as vector
           from chunk_terms c join indexed_documents d on d.document_id = c.document_id and d.searchable
             join ${vectorTable(scope.version)} e on e.space_id = c.space_id and e.chunk_id = c.chunk_id
           where c.space_id = $1 and c.organisation_id = $2 and c.chunk_id = any($3::uuid[])`,
          [scope.spaceId, scope.organisationId, wanted],
          options,
        )
      }
    }
  }

  function note({ documentId, runId }: Row, terms: Int32Array): void {
    const known = read.get(documentId)
    // Chunks of two runs: the document is left out.
    if (known && known.runId !== runId) known.runId = noRun
    else if (known) known.chunks++
    else read.set(documentId, { runId, chunks: 1 })
    // They are sorted.
    for (const [at, term] of terms.entries())
      if (term !== terms[at - 1]) termCounts.set(term, (termCounts.get(term) ?? 0) + 1)
  }

  async function* parts(): AsyncGenerator<LanceRows> {
    const slice = createTimeSlices()
    const { dimensions } = scope.version
    let part = emptyPart(dimensions)
    for await (const page of rows()) {
      for (const row of page) {
        await slice()
        const terms = decodeIntegers(row.terms)
        note(row, terms)
        const at = part.documentIds.length
        part.vectors.set(decodeVector(row.vector), at * dimensions)
        part.ids.set(row.chunkId, at * idBytes)
        part.documentIds.push(row.documentId)
        part.terms.push(Array.from(terms, termText).join(' '))
        if (part.documentIds.length < rowsOfPart(dimensions)) continue
        chunkIds.push(part.ids)
        yield part
        part = emptyPart(dimensions)
      }
    }
    const last = part.documentIds.length
    if (last === 0) return
    chunkIds.push(part.ids.subarray(0, last * idBytes))
    yield { ...part, vectors: part.vectors.subarray(0, last * dimensions) }
  }

  return { documents: read, chunkIds, termCounts, parts }
}

const noRun = '00000000-0000-0000-0000-000000000000'

function emptyPart(dimensions: number): LanceRows & { ids: Uint8Array } {
  const rows = rowsOfPart(dimensions)
  const vectors = new Float32Array(rows * dimensions)
  return { documentIds: [], terms: [], vectors, ids: new Uint8Array(rows * idBytes) }
}

function rowsOfPart(dimensions: number): number {
  return Math.max(1, Math.min(most.rowsPerPart, Math.floor(most.numbersPerPart / dimensions)))
}

/** Groups of about one page, so that each page is found by few documents; a larger document is a separate group. */
async function groupDocuments(
  database: OwnedDatabase,
  documents: readonly string[],
  chunksPerGroup: number,
  options: QueryOptions,
): Promise<string[][]> {
  const sizes = await database.query<{ id: string; chunks: number }>(
    'select document_id as id, chunk_count as chunks from indexed_documents where document_id = any($1::uuid[])',
    [[...documents]],
    options,
  )
  const groups: string[][] = []
  let room = 0
  for (const { id, chunks } of sizes) {
    if (chunks > room || groups.length === 0) {
      groups.push([])
      room = chunksPerGroup
    }
    groups.at(-1)!.push(id)
    room -= chunks
  }
  return groups
}

/** What is known of a segment besides its table. */
export interface SegmentNotes {
  /** How many of its chunks contain a term. */
  countOf(term: number): number
  chunkIdOf(place: { part: number; at: number }): string
}

const idBytes = 16

/** The rows of a part. The ids follow it, in the order of the rows. */
function idHeader(dimensions: number): Uint8Array {
  const bytes = Buffer.alloc(idBytes)
  bytes.writeUInt32BE(rowsOfPart(dimensions))
  return bytes
}

/** Pairs of term and count, sorted by term, as the notes of a segment store them. */
async function encodeCounts(counts: ReadonlyMap<number, number>): Promise<Uint8Array> {
  const slice = createTimeSlices()
  const terms = Int32Array.from(counts.keys()).sort()
  const bytes = Buffer.allocUnsafe(terms.length * 8)
  for (const [at, term] of terms.entries()) {
    await slice()
    bytes.writeInt32BE(term, at * 8)
    bytes.writeInt32BE(counts.get(term)!, at * 8 + 4)
  }
  return bytes
}

export function decodeNotes(counts: Uint8Array, chunkIds: Uint8Array): SegmentNotes {
  const view = new DataView(counts.buffer, counts.byteOffset, counts.byteLength)
  const ids = Buffer.from(chunkIds.buffer, chunkIds.byteOffset, chunkIds.byteLength)
  return {
    countOf(term) {
      let [low, high] = [0, counts.byteLength / 8]
      while (low < high) {
        const middle = (low + high) >>> 1
        if (view.getInt32(middle * 8) < term) low = middle + 1
        else high = middle
      }
      const isStored = low * 8 < counts.byteLength && view.getInt32(low * 8) === term
      return isStored ? view.getInt32(low * 8 + 4) : 0
    },
    chunkIdOf({ part, at }) {
      const from = idBytes * (1 + part * ids.readUInt32BE() + at)
      return uuidOf(ids.toString('hex', from, from + idBytes))
    },
  }
}
