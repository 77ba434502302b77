import { createTimeSlices } from '../../../../platform/kernel/index.ts'
import {
  type Database,
  decodeIntegers,
  decodeVector,
  type Queryable,
  type QueryOptions,
  type SqlValue,
} from '../../../../platform/database/index.ts'
import { type EmbeddingVersion, vectorTable } from '../../corpus/embedding-versions.store.ts'
import { filterCondition } from '../../corpus/passages.store.ts'
import type { ReadScope, SpaceScope } from '../../engine.ts'
import { termsVersion } from '../../lexical/analyse-text.ts'
import type { Language } from '../../../../platform/language/index.ts'
import { type ChunkColumns, type DocumentRun, type DocumentState, toColumns } from './messages.ts'

/** Rows read at once: 5 to 15 ms, for which other statements wait on the embedded engine's one connection. */
const rowsPerPage = 100
/**
 * Pages are read for this part of the time that the turn was waited for, and one at least. A scan of a large Space takes a second: with one page after each, people
 * who search without a pause would keep their Space out of memory for a quarter of an hour.
 */
const shareOfWait = 0.5
/** Bounds the memory of what was read: 5,000 chunks. */
const maximumPagesPerTurn = 50

export interface SpaceSize extends SpaceScope {
  chunks: number
  /** Terms of all chunks, repeats counted. */
  terms: number
}

export interface LoadedPage {
  run: DocumentRun
  columns: ChunkColumns
}

/** The sizes of all Spaces, the largest first; of one where `scope` names it. Chunks that are not searchable yet count. */
export function loadSpaceSizes(database: Queryable, from: number, scope?: SpaceScope): Promise<SpaceSize[]> {
  return database.query<SpaceSize>(
    `select organisation_id as "organisationId", space_id as "spaceId", sum(chunk_count)::int as chunks,
       sum(term_count)::float8 as terms
     from indexed_documents where $2::uuid is null or (organisation_id = $3::uuid and space_id = $2::uuid)
     group by 1, 2 having sum(chunk_count) >= $1 order by 3 desc`,
    [from, scope?.spaceId ?? null, scope?.organisationId ?? null],
  )
}

/** Documents of a Space, or those of the ids; ids without a row have no run. */
export async function loadDocuments(
  database: Database,
  scope: SpaceScope,
  documentIds?: readonly string[],
): Promise<{ documents: DocumentState[]; languages: Language[]; hasFormerTerms: boolean }> {
  const rows = await database
    .for(scope.organisationId)
    .query<DocumentState & { languages: Language[]; termsVersion: number }>(
      `select document_id as "documentId", run_id as "runId", searchable, languages,
       terms_version as "termsVersion" from indexed_documents
     where organisation_id = $1 and space_id = $2 and ($3::uuid[] is null or document_id = any($3::uuid[]))`,
      [scope.organisationId, scope.spaceId, documentIds ? [...documentIds] : null],
    )
  const languages = [...new Set(rows.flatMap((row) => row.languages))]
  const found = new Set(rows.map((row) => row.documentId))
  const gone = (documentIds ?? []).filter((documentId) => !found.has(documentId))
  return {
    documents: [
      ...rows.map(({ documentId, runId, searchable }) => ({ documentId, runId, searchable })),
      ...gone.map((documentId) => ({ documentId, runId: null, searchable: false })),
    ],
    languages,
    hasFormerTerms: rows.some((row) => row.termsVersion < termsVersion),
  }
}

/** The ids of the documents that match the scope's filter, 16 bytes each; null without a filter. */
export async function loadMatchingIds(
  database: Queryable,
  scope: ReadScope,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const values: SqlValue[] = []
  const condition = filterCondition(scope, scope.filter, values)
  if (condition === null) return null
  const [row] = await database.query<{ ids: Uint8Array | null }>(
    `select string_agg(uuid_send(d.id), ''::bytea) as ids from documents d where ${condition}`,
    values,
    { signal },
  )
  return row!.ids ?? new Uint8Array()
}

interface ChunkRow extends DocumentRun {
  chunkId: string
  terms: Uint8Array
}

const lowestId = '00000000-0000-0000-0000-000000000000'

interface ChunkSource {
  scope: SpaceScope
  version: EmbeddingVersion
  /** Chunks of this document only. */
  documentId?: string
}

/** All chunks of a Space or document, searchable or not, page by page in the order of their keys. */
export async function* loadChunks(
  database: Database,
  source: ChunkSource,
  options: QueryOptions,
): AsyncGenerator<LoadedPage[]> {
  const slice = createTimeSlices()
  let after = lowestId
  for (;;) {
    const askedMs = performance.now()
    const pages = await database
      .for(source.scope.organisationId)
      .transaction((transaction) => loadTurn(transaction, source, after, askedMs), options)
    for (const { chunks, vectors } of pages) {
      await slice()
      yield pagesByRun(chunks, vectors, source.version.dimensions)
      after = chunks.at(-1)!.chunkId
    }
    if (pages.length === 0) return
  }
}

interface Page {
  chunks: ChunkRow[]
  vectors: Map<string, Uint8Array>
}

/** The next pages in one transaction; none at the end. `askedMs`: when it was asked for. */
async function loadTurn(transaction: Queryable, source: ChunkSource, after: string, askedMs: number): Promise<Page[]> {
  const startMs = performance.now()
  const untilMs = startMs + shareOfWait * (startMs - askedMs)
  if (source.documentId === undefined) {
    // Without statistics of a new table, the planner would sort the whole Space for each page.
    await transaction.query(
      `select set_config(name, 'off', true) from unnest(array['enable_sort', 'enable_bitmapscan', 'enable_seqscan']) name`,
    )
  }
  const pages: Page[] = []
  let last = after
  do {
    const page = await loadPage(transaction, source, last)
    if (page.chunks.length === 0) break
    pages.push(page)
    last = page.chunks.at(-1)!.chunkId
  } while (performance.now() < untilMs && pages.length < maximumPagesPerTurn)
  return pages
}

/** Binary forms as bytes: text forms of arrays and vectors take several times longer to write and to parse. */
async function loadPage(
  transaction: Queryable,
  { scope, version, documentId }: ChunkSource,
  after: string,
): Promise<Page> {
  const ofDocument = documentId === undefined ? '' : 'and c.document_id = $4'
  const chunks = await transaction.query<ChunkRow>(
    `select c.chunk_id as "chunkId", c.document_id as "documentId", d.run_id as "runId", array_send(c.terms) as terms
     from chunk_terms c join indexed_documents d on d.document_id = c.document_id
     where c.space_id = $1 and c.organisation_id = $2 and c.chunk_id > $3 ${ofDocument}
     order by c.space_id, c.chunk_id limit ${rowsPerPage}`,
    [scope.spaceId, scope.organisationId, after, ...(documentId === undefined ? [] : [documentId])],
  )
  const vectors = await transaction.query<{ chunkId: string; vector: Uint8Array }>(
    `select c.chunk_id as "chunkId", vector_send(c.embedding::vector) as vector from ${vectorTable(version)} c
     where c.space_id = $1 and c.organisation_id = $2 and c.chunk_id = any($3::uuid[])`,
    [scope.spaceId, scope.organisationId, chunks.map(({ chunkId }) => chunkId)],
  )
  return { chunks, vectors: new Map(vectors.map((row) => [row.chunkId, row.vector])) }
}

function pagesByRun(page: readonly ChunkRow[], vectors: Map<string, Uint8Array>, dimensions: number): LoadedPage[] {
  return [...Map.groupBy(page, (row) => row.runId).values()].map((rows) => {
    const chunks = rows.map(({ chunkId, terms }) => {
      const vector = vectors.get(chunkId)
      return { chunkId, terms: decodeIntegers(terms), vector: vector ? decodeVector(vector) : null }
    })
    const { documentId, runId } = rows[0]!
    return { run: { documentId, runId }, columns: toColumns(chunks, dimensions) }
  })
}
