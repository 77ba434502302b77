import { type Database, decodeVector, type Queryable, type QueryOptions } from '../../../database/index.ts'
import { type EmbeddingVersion, vectorTable } from '../../corpus/embedding-versions.store.ts'
import type { SpaceScope } from '../../engine.ts'
import { termsVersion } from '../../lexical/analyse-text.ts'
import type { Language } from '../../../language/index.ts'
import { type ChunkColumns, type DocumentRun, type DocumentState, toColumns } from './messages.ts'

/** Rows read at once: 5 to 15 ms, for which other statements wait on the embedded engine's one connection. */
const rowsPerPage = 100

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
export function loadSpaceSizes(database: Database, from: number, scope?: SpaceScope): Promise<SpaceSize[]> {
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
  const rows = await database.query<DocumentState & { languages: Language[]; termsVersion: number }>(
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
  let after = lowestId
  for (;;) {
    const page = await database.transaction((transaction) => loadPage(transaction, source, after), options)
    if (page.chunks.length === 0) return
    yield pagesByRun(page.chunks, page.vectors, source.version.dimensions)
    after = page.chunks.at(-1)!.chunkId
  }
}

/** Binary forms as bytes: text forms of arrays and vectors take several times longer to write and to parse. */
async function loadPage(transaction: Queryable, { scope, version, documentId }: ChunkSource, after: string) {
  const ofDocument = documentId === undefined ? '' : 'and c.document_id = $4'
  if (documentId === undefined) {
    // Without statistics of a new table, the planner would sort the whole Space for each page.
    await transaction.query(
      `select set_config(name, 'off', true) from unnest(array['enable_sort', 'enable_bitmapscan', 'enable_seqscan']) name`,
    )
  }
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
      return { chunkId, terms: parseIntegers(terms), vector: vector ? decodeVector(vector) : null }
    })
    const { documentId, runId } = rows[0]!
    return { run: { documentId, runId }, columns: toColumns(chunks, dimensions) }
  })
}

/** PostgreSQL's binary form of int[]: a head of 20 bytes, then length and value of each. */
function parseIntegers(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isEmpty = view.getInt32(0) === 0
  const count = isEmpty ? 0 : view.getInt32(12)
  return Int32Array.from({ length: count }, (_, index) => view.getInt32(24 + index * 8))
}
