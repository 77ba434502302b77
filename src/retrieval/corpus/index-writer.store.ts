import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Queryable, SqlValue } from '../../database/index.ts'
import { createUuid } from '../../kernel/index.ts'
import { type AnalysedChunk, analyseInSlices, termsVersion } from '../lexical/analyse-text.ts'
import { type Generation, generationColumns, vectorParameter, vectorTable } from './embedding-versions.store.ts'
import type { ChunkBatch, IndexedChunk, IndexRun, IndexWriter } from '../port.ts'
import { IndexRunEndedError } from '../port.ts'
import type { ResidentIndex } from '../engines/memory/memory-engine.ts'

/** Rows of one insert: the measured best on both engines, and a bound on the size of a statement. */
const maximumRowsPerStatement = 50

const background = { background: true }
/** What a search may have to wait for one transaction of staging. */
const transactionTargetMs = 8

/** The write side of the index; see IndexWriter for what it promises and docs/retrieval.md for why it is staged so. */
export function createIndexWriter(
  database: Database,
  { resident, isSearched }: { resident: ResidentIndex | undefined; isSearched: () => boolean },
): IndexWriter {
  // Grows and shrinks with what rows cost: 0.5 ms in a small Space, 8 ms where an HNSW index of 100,000 is kept.
  let rowsPerTransaction = 8
  return {
    async beginRun(transaction, { organisationId, spaceId, documentId }) {
      // Serialises runs of one document; a delete that is under way is waited for and then seen.
      const [document] = await transaction.query(
        `select 1 from documents where id = $1 and organisation_id = $2 and space_id = $3 for no key update`,
        [documentId, organisationId, spaceId],
      )
      if (!document) return null
      const [finished] = await transaction.query(
        'select 1 from indexed_documents where document_id = $1 and searchable',
        [documentId],
      )
      if (finished) return null
      await removeDocument(transaction, documentId)
      const runId = createUuid()
      await transaction.execute(
        `insert into indexed_documents (document_id, organisation_id, space_id, run_id, terms_version)
         values ($1, $2, $3, $4, $5)`,
        [documentId, organisationId, spaceId, runId, termsVersion],
      )
      return { runId, organisationId, spaceId, documentId }
    },
    async stageChunks(batch) {
      if (batch.chunks.length !== batch.vectors.length) {
        throw new Error(`${batch.chunks.length} chunks came with ${batch.vectors.length} vectors`)
      }
      for (let start = 0; start < batch.chunks.length;) {
        const end = start + rowsPerTransaction
        const part = { ...batch, chunks: batch.chunks.slice(start, end), vectors: batch.vectors.slice(start, end) }
        // Outside the transaction: on the embedded engine everything else waits for it.
        const texts = part.chunks.map((chunk) => searchableText(part.documentName, chunk))
        const analysed = await analyseInSlices(part.run.spaceId, texts)
        let tookMs = 0
        const staged = await database.transaction(async (transaction) => {
          // From here on the connection is ours: before it, others were served.
          const startedMs = performance.now()
          if (database.features.bm25) await tuneBm25(transaction)
          const generation = await loadGeneration(transaction, batch.embedderId)
          const chunkIds = await insertRows(transaction, generation, part, analysed)
          tookMs = performance.now() - startedMs
          return { generation, chunkIds }
        }, background)
        tellResident(part, staged, analysed)
        // One connection, and hardly more processors than threads: as long as people search, half of the time is theirs.
        if (database.engine === 'embedded' && isSearched()) await delay(tookMs)
        start = end
        rowsPerTransaction = nextRows(part.chunks.length, tookMs)
      }
    },
    async publish(transaction, run) {
      const [published] = await transaction.query<{ chunks: number }>(
        `update indexed_documents set searchable = true, updated_at = now()
         where document_id = $1 and run_id = $2 returning chunk_count as chunks`,
        [run.documentId, run.runId],
      )
      if (!published) throw new IndexRunEndedError(run.documentId)
      resident?.publishing(run)
      return published.chunks
    },
    deleteDocument: removeDocument,
  }

  function tellResident(batch: ChunkBatch, staged: Staged, analysed: readonly AnalysedChunk[]): void {
    const chunks = analysed.map(({ terms }, index) => ({
      chunkId: staged.chunkIds[index]!,
      terms,
      vector: batch.vectors[index]!,
    }))
    const languages = analysed.flatMap((chunk) => chunk.languages)
    resident?.staged(batch.run, staged.generation, chunks, languages)
  }
}

interface Staged {
  generation: Generation
  chunkIds: string[]
}

/** As many rows as `transactionTargetMs` has room for, going by the last ones; at most twice as many as those. */
function nextRows(rows: number, tookMs: number): number {
  const fitting = Math.floor((rows * transactionTargetMs) / Math.max(tookMs, 0.1))
  return Math.max(1, Math.min(fitting, rows * 2, maximumRowsPerStatement))
}

/**
 * Smaller and rarer merges of BM25 segments while rows come in: twice the rows a second, the longest statement 110 ms instead
 * of 800 (measured, 30,000 rows), and searches over the more segments are as fast.
 */
async function tuneBm25(transaction: Queryable): Promise<void> {
  await transaction.query(
    `select set_config(name, value, true)
     from (values ('pg_textsearch.segments_per_level', '64'), ('pg_textsearch.memtable_pages_threshold', '16')) s (name, value)
     where current_setting(name, true) is not null`,
  )
}

async function removeDocument(transaction: Queryable, documentId: string): Promise<void> {
  // Chunks, terms and the vectors of every generation refer to this row and go with it.
  await transaction.execute('delete from indexed_documents where document_id = $1', [documentId])
}

async function loadGeneration(transaction: Queryable, embedderId: string): Promise<Generation> {
  const [generation] = await transaction.query<Generation>(
    `select ${generationColumns} from embedding_generations where embedder_id = $1 and state <> 'retired'`,
    [embedderId],
  )
  if (!generation)
    throw new Error(`the index has no place for vectors of the embedder ${embedderId}: prepare() it first`)
  return generation
}

/** Returns the ids of the new chunks. */
async function insertRows(
  transaction: Queryable,
  generation: Generation,
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
       table_header, tokens, page_from, page_to, character_from, character_to, row_from, row_to)`,
    [...shared, batch.documentName],
    ['uuid', 'int', 'text', 'text[]', 'text', 'int', 'int', 'int', 'int', 'int', 'int', 'int'],
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
    `insert into ${vectorTable(generation)} (organisation_id, space_id, document_id, chunk_id, embedding)`,
    shared,
    ['uuid', generation.storage],
    vectors.map((vector, index) => [ids[index]!, vectorParameter(generation, vector)]),
  )
  return ids
}

/** Locks the run's row, so that this batch and a delete, a newer run or the publishing come one after the other. */
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

/** What a chunk is found by: its own words, and those that say where it stands. */
export function searchableText(
  documentName: string,
  chunk: Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'>,
): string {
  const stem = documentName.replace(/\.[a-z0-9]{1,5}$/i, '')
  return [stem, ...chunk.headingPath, chunk.tableHeader ?? '', chunk.text].join('\n')
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
    chunk.characterFrom,
    chunk.characterTo,
    chunk.rowFrom,
    chunk.rowTo,
  ]
}

/** One insert of many rows; `shared` values stand first in every row. */
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
