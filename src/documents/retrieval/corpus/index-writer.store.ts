import type { Database, Queryable, SqlValue } from '../../../platform/database/index.ts'
import { createUuid } from '../../../platform/kernel/index.ts'
import { type AnalysedChunk, termsVersion } from '../lexical/analyse-text.ts'
import { type ChunkBatch, type IndexedChunk, type IndexRun, IndexRunEndedError } from './chunks.ts'
import { type EmbeddingVersion, vectorParameter, vectorTable, versionColumns } from './embedding-versions.store.ts'

/** The columns of an `IndexedChunk` in a query of `chunks`. */
export const indexedChunkColumns = `chunk_index as index, content as text, heading_path as "headingPath",
  table_header as "tableHeader", tokens, page_from as "pageFrom", page_to as "pageTo",
  coalesce(page_starts, '{}') as "pageStarts", character_from as "characterFrom", character_to as "characterTo",
  row_from as "rowFrom", row_to as "rowTo"`

interface InsertedChunks {
  version: EmbeddingVersion
  /** In the order of the batch. */
  chunkIds: string[]
  /** Time of the transaction's statements, without the wait for a connection. */
  writeMs: number
}

/**
 * Starts a run and removes what an earlier one left. Null: the document is gone, or searchable already, so that a repeated job cannot remove what is
 * found.
 */
export async function beginRun(
  transaction: Queryable,
  { organisationId, spaceId, documentId }: Omit<IndexRun, 'runId'>,
): Promise<IndexRun | null> {
  // Serialises runs of one document; waits for a delete that is in progress and then sees it.
  const [document] = await transaction.query(
    `select 1 from documents where id = $1 and organisation_id = $2 and space_id = $3 for no key update`,
    [documentId, organisationId, spaceId],
  )
  if (!document) return null
  const [finished] = await transaction.query('select 1 from indexed_documents where document_id = $1 and searchable', [
    documentId,
  ])
  if (finished) return null
  await deleteDocument(transaction, documentId)
  const runId = createUuid()
  await transaction.execute(
    `insert into indexed_documents (document_id, organisation_id, space_id, run_id, terms_version)
     values ($1, $2, $3, $4, $5)`,
    [documentId, organisationId, spaceId, runId, termsVersion],
  )
  return { runId, organisationId, spaceId, documentId }
}

/** See SearchIndex. */
export async function countStaged(
  database: Database,
  { organisationId, documentId, runId }: IndexRun,
): Promise<number | null> {
  const [row] = await database
    .for(organisationId)
    .query<{ chunks: number }>(
      'select chunk_count as chunks from indexed_documents where document_id = $1 and run_id = $2 and not searchable',
      [documentId, runId],
    )
  return row?.chunks ?? null
}

/** Inserts the batch in one transaction under these settings. Throws IndexRunEndedError when the run has ended. */
export function insertChunks(
  database: Database,
  batch: ChunkBatch,
  analysed: readonly AnalysedChunk[],
  settings: Readonly<Record<string, string>>,
): Promise<InsertedChunks> {
  return database.for(batch.run.organisationId).transaction(
    async (transaction) => {
      const startedMs = performance.now()
      await applySettings(transaction, settings)
      const version = await loadVersion(transaction, batch.embedderId)
      const chunkIds = await insertRows(transaction, version, batch, analysed)
      return { version, chunkIds, writeMs: performance.now() - startedMs }
    },
    { background: true },
  )
}

/** See SearchIndex. */
export async function publishRun(transaction: Queryable, run: IndexRun): Promise<number> {
  const [published] = await transaction.query<{ chunks: number }>(
    `update indexed_documents set searchable = true, updated_at = now()
     where document_id = $1 and run_id = $2 returning chunk_count as chunks`,
    [run.documentId, run.runId],
  )
  if (!published) throw new IndexRunEndedError(run.documentId)
  return published.chunks
}

/** Removes chunks, terms and vectors of a document. Deleting the row of `documents` has the same effect. */
export async function deleteDocument(transaction: Queryable, documentId: string): Promise<void> {
  // Chunks, terms and the vectors of every embedding version refer to this row; deletes cascade.
  await transaction.execute('delete from indexed_documents where document_id = $1', [documentId])
}

async function applySettings(transaction: Queryable, settings: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(settings)
  if (names.length === 0) return
  await transaction.query(
    `select set_config(name, value, true) from unnest($1::text[], $2::text[]) s (name, value)
     where current_setting(name, true) is not null and has_parameter_privilege(name, 'set')`,
    [names, Object.values(settings)],
  )
}

async function loadVersion(transaction: Queryable, embedderId: string): Promise<EmbeddingVersion> {
  const [version] = await transaction.query<EmbeddingVersion>(
    `select ${versionColumns} from embedding_generations where embedder_id = $1 and state <> 'retired'`,
    [embedderId],
  )
  if (!version) throw new Error(`the index has no table for vectors of the embedder ${embedderId}: prepare() it first`)
  return version
}

/** Returns the ids of the new chunks. */
async function insertRows(
  transaction: Queryable,
  version: EmbeddingVersion,
  batch: ChunkBatch,
  analysed: readonly AnalysedChunk[],
): Promise<string[]> {
  const { run, chunks, vectors } = batch
  await countRows(transaction, run, analysed)
  const ids = chunks.map(() => createUuid())
  const shared = [run.organisationId, run.spaceId, run.documentId]
  await insert(
    transaction,
    `insert into chunks (organisation_id, space_id, document_id, document_name, id, chunk_index, content, heading_path,
       table_header, tokens, page_from, page_to, page_starts, character_from, character_to, row_from, row_to)`,
    [...shared, batch.documentName],
    ['uuid', 'int', 'text', 'text[]', 'text', 'int', 'int', 'int', 'int[]', 'int', 'int', 'int', 'int'],
    chunks.map((chunk, index) => [ids[index]!, ...chunkColumns(chunk)]),
  )
  await insert(
    transaction,
    'insert into chunk_terms (organisation_id, space_id, document_id, chunk_id, terms)',
    shared,
    ['uuid', 'int[]'],
    analysed.map(({ terms }, index) => [ids[index]!, terms]),
  )
  await insert(
    transaction,
    `insert into ${vectorTable(version)} (organisation_id, space_id, document_id, chunk_id, embedding)`,
    shared,
    ['uuid', version.storage],
    vectors.map((vector, index) => [ids[index]!, vectorParameter(version, vector)]),
  )
  return ids
}

/** Locks the run's row: this batch, a delete, a newer run and the publishing then run one after the other. */
async function countRows(transaction: Queryable, run: IndexRun, analysed: readonly AnalysedChunk[]): Promise<void> {
  const languages = [...new Set(analysed.flatMap((chunk) => chunk.languages))]
  const terms = analysed.reduce((sum, chunk) => sum + chunk.terms.length, 0)
  const counted = await transaction.execute(
    `update indexed_documents set
       chunk_count = chunk_count + $3::int,
       term_count = term_count + $4::bigint,
       languages = array(select distinct language from unnest(languages || $5::text[]) language order by language)
     where document_id = $1 and run_id = $2 and not searchable`,
    [run.documentId, run.runId, analysed.length, terms, languages],
  )
  if (counted === 0) throw new IndexRunEndedError(run.documentId)
}

function chunkColumns(chunk: IndexedChunk): SqlValue[] {
  return [
    chunk.index,
    chunk.text,
    chunk.headingPath,
    chunk.tableHeader,
    chunk.tokens,
    chunk.pageFrom,
    chunk.pageTo,
    chunk.pageStarts ?? [],
    chunk.characterFrom,
    chunk.characterTo,
    chunk.rowFrom,
    chunk.rowTo,
  ]
}

/** One insert of many rows; `shared` values are the first columns of every row. */
async function insert(
  transaction: Queryable,
  into: string,
  shared: readonly string[],
  types: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Promise<void> {
  const sharedColumns = shared.map((_, index) => `$${index + 1}${index < 3 ? '::uuid' : '::text'}`)
  let parameter = shared.length
  const values = rows.map(
    () => `(${[...sharedColumns, ...types.map((type) => `$${++parameter}::${type}`)].join(', ')})`,
  )
  await transaction.execute(`${into} values ${values.join(', ')}`, [...shared, ...rows.flat()])
}

/** Documents of one statement. */
const documentsPerStep = 100

/** Fills the column of filters for documents from before it; a filter matches none of them until then. Resolves to their number. Resumable. */
export async function fillFilterFields(database: Queryable, signal: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    // The trigger of the table writes the column.
    const filled = await database.execute(
      `update documents set metadata = metadata where id in (
         select id from documents where filter_fields is null order by id limit ${documentsPerStep} for no key update skip locked)`,
      [],
      { signal, background: true },
    )
    if (filled === 0) return total
    total += filled
  }
}
