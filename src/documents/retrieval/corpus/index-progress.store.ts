import type { OwnedDatabase } from '../../../platform/database/index.ts'
import { type EmbeddingVersion, vectorTable } from './embedding-versions.store.ts'

/** What an embedding model would read: the tokens are an estimate. */
export interface StoredTexts {
  documents: number
  chunks: number
  tokens: number
}

/** Why chunks have no vector of a version that is being built. */
export interface IndexProblem {
  reason: string
  /** Those that it concerns; empty: all. */
  organisationIds: string[]
}

export interface IndexProgress {
  startedAt: Date
  /** Documents with all their vectors. */
  documentsDone: number
  documentsTotal: number
  problem: IndexProblem | null
}

/** About that many chunks are read to estimate the tokens of all. */
const sampledChunks = 20_000
/** Characters of the names and headings that are embedded with a chunk, which its tokens do not count. */
const charactersPerToken = 4

/** The searchable texts of all organisations. */
export async function countStoredTexts(database: OwnedDatabase): Promise<StoredTexts> {
  const [counted] = await database.query<{ documents: number; chunks: number }>(
    'select count(*)::int as documents, coalesce(sum(chunk_count), 0)::int as chunks from indexed_documents where searchable',
    [],
    { background: true },
  )
  const { documents, chunks } = counted!
  const percent = Math.min(100, (100 * sampledChunks) / Math.max(1, chunks))
  const [sample] = await database.query<{ tokens: number }>(
    `select coalesce(avg(tokens + (char_length(document_name) + char_length(coalesce(table_header, ''))
       + char_length(array_to_string(heading_path, ' '))) / ${charactersPerToken}.0), 0)::float8 as tokens
     from chunks tablesample system (${percent})`,
    [],
    { background: true },
  )
  return { documents, chunks, tokens: Math.ceil(chunks * sample!.tokens) }
}

/** Chunks of a document have growing ids, and are embedded in their order: a document is done with its last one. */
export async function loadIndexProgress(database: OwnedDatabase, version: EmbeddingVersion): Promise<IndexProgress> {
  const [row] = await database.query<IndexProgress>(
    `select g.created_at as "startedAt", g.problem, counted.*
     from embedding_generations g, (
       select count(*)::int as "documentsTotal", count(e.chunk_id)::int as "documentsDone"
       from indexed_documents d
       left join chunks c on c.document_id = d.document_id and c.chunk_index = d.chunk_count - 1
       left join ${vectorTable(version)} e on e.space_id = c.space_id and e.chunk_id = c.id
       where d.searchable and d.chunk_count > 0
     ) counted where g.id = $1`,
    [version.id],
    { background: true },
  )
  return row!
}

export async function saveIndexProblem(
  database: OwnedDatabase,
  version: EmbeddingVersion,
  problem: IndexProblem | null,
): Promise<void> {
  await database.execute('update embedding_generations set problem = $2::jsonb where id = $1', [
    version.id,
    problem && JSON.stringify(problem),
  ])
}
