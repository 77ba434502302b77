import {
  decodeIntegers,
  decodeVector,
  type OwnedDatabase,
  type QueryOptions,
} from '../../../../platform/database/index.ts'
import { createTimeSlices, createUuid } from '../../../../platform/kernel/index.ts'
import { vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { NewSegment, SegmentStore } from '../postgres/vector-segments.store.ts'
import { type LanceRows, type LanceTables, termText } from './lance-tables.ts'

/** Rows of one statement: 5 to 15 ms of the embedded engine's one connection, as space-rows.store.ts reads them. */
const rowsPerPage = { embedded: 100, postgres: 1_000 }
/** Rows of one write, which are one file of the table. */
const rowsPerPart = 5_000
const fillTimeoutMs = 2 * 60 * 60_000

export const tablePrefix = 'segment_'

/** Segments as tables of LanceDB. A table name is never used twice, also after a database was set back. */
export function createLanceSegments(tables: LanceTables): SegmentStore {
  return {
    storage: tables.address,
    newName: () => `${tablePrefix}${createUuid().replaceAll('-', '')}`,
    async create() {},
    async fill(database, { id, tableName }, segment) {
      const read = readDocuments(database, segment)
      const { organisationId, spaceId, version } = segment.scope
      const rows = await tables.create(
        tableName!,
        { organisationId, spaceId, dimensions: version.dimensions },
        read.parts(),
      )
      await database.execute(
        'update vector_segments set term_counts = $2 where id = $1',
        [id, await encodeCounts(read.termCounts)],
        { background: true },
      )
      const documents = [...read.documents]
      return {
        documents: `select * from unnest($7::uuid[], $8::int[], $9::uuid[]) filled (document_id, chunks, run_id)`,
        values: [
          documents.map(([documentId]) => documentId),
          documents.map(([, { chunks }]) => chunks),
          documents.map(([, { runId }]) => runId),
        ],
        rows: String(rows),
      }
    },
    drop: (_, { tableName }) => tables.drop(tableName!),
  }
}

interface Row {
  chunkId: string
  documentId: string
  runId: string
  terms: Uint8Array
  vector: Uint8Array
}

/** Reads the documents page by page. After `parts`, what was read of each, and how many chunks contain each term. */
function readDocuments(database: OwnedDatabase, { scope, documents, signal }: NewSegment) {
  const read = new Map<string, { runId: string; chunks: number }>()
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
          `select c.chunk_id as "chunkId", c.document_id as "documentId", d.run_id as "runId", array_send(c.terms) as terms,
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
        part.vectors.set(decodeVector(row.vector), part.chunkIds.length * dimensions)
        part.chunkIds.push(row.chunkId)
        part.documentIds.push(row.documentId)
        part.terms.push(Array.from(terms, termText).join(' '))
        if (part.chunkIds.length < rowsPerPart) continue
        yield part
        part = emptyPart(dimensions)
      }
    }
    const last = part.chunkIds.length
    if (last > 0) yield { ...part, vectors: part.vectors.subarray(0, last * dimensions) }
  }

  return { documents: read, termCounts, parts }
}

const noRun = '00000000-0000-0000-0000-000000000000'

function emptyPart(dimensions: number): LanceRows {
  return { chunkIds: [], documentIds: [], terms: [], vectors: new Float32Array(rowsPerPart * dimensions) }
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

/** How many chunks of a segment contain a term. */
export type TermCounts = (term: number) => number

/** Pairs of term and count, sorted by term, as `TermCounts` are stored. */
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

export function decodeCounts(bytes: Uint8Array): TermCounts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return (term) => {
    let [low, high] = [0, bytes.byteLength / 8]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (view.getInt32(middle * 8) < term) low = middle + 1
      else high = middle
    }
    const isStored = low * 8 < bytes.byteLength && view.getInt32(low * 8) === term
    return isStored ? view.getInt32(low * 8 + 4) : 0
  }
}
