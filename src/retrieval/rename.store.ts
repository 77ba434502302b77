import type { Database, Queryable } from '../database/index.ts'
import { createUuid, type SpaceId } from '../kernel/index.ts'
import { analyseChunks } from './analysis/analyse-text.ts'
import { searchableText } from './index-writer.store.ts'
import type { IndexedChunk } from './port.ts'
import type { ResidentIndex } from './resident/resident-index.ts'

/** Chunks of one transaction: about 15 ms on the embedded engine. */
const chunksPerStep = 25

interface RenamedDocument {
  spaceId: SpaceId
  name: string
}

/**
 * Takes the present name of a searchable document into the words of its chunks, so that it is found by that name and no longer
 * by the former. Vectors keep the name they were made with until they are made anew. Resumable: a chunk carries the name that its words
 * are of. Does nothing where the document is gone, or not searchable yet.
 */
export async function renameDocument(
  database: Database,
  resident: ResidentIndex | undefined,
  { documentId, signal }: { documentId: string; signal: AbortSignal },
): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await database.transaction((transaction) => renameStep(transaction, resident, documentId), {
      signal,
      background: true,
    })
  }
}

/** True: nothing is left to do. */
async function renameStep(
  transaction: Queryable,
  resident: ResidentIndex | undefined,
  documentId: string,
): Promise<boolean> {
  // Locked, so that two renames of one document take turns; each reads the name that holds then.
  const [document] = await transaction.query<RenamedDocument>(
    `select i.space_id as "spaceId", d.name from indexed_documents i join documents d on d.id = i.document_id
     where i.document_id = $1 and i.searchable for no key update of i`,
    [documentId],
  )
  if (!document) return true
  const chunks = await transaction.query<Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'> & { id: string }>(
    `select id, content as text, heading_path as "headingPath", table_header as "tableHeader" from chunks
     where document_id = $1 and document_name <> $2 order by chunk_index limit ${chunksPerStep}`,
    [documentId, document.name],
  )
  if (chunks.length > 0) {
    await replaceTerms(transaction, documentId, document, chunks)
    return false
  }
  // Another run: who holds the chunks in memory reads them anew.
  await transaction.execute('update indexed_documents set run_id = $2, updated_at = now() where document_id = $1', [
    documentId,
    createUuid(),
  ])
  resident?.documentChanged(document.spaceId, documentId)
  return true
}

async function replaceTerms(
  transaction: Queryable,
  documentId: string,
  { spaceId, name }: RenamedDocument,
  chunks: readonly (Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'> & { id: string })[],
): Promise<void> {
  const analysed = analyseChunks(
    spaceId,
    chunks.map((chunk) => searchableText(name, chunk)),
  )
  const ids = chunks.map(({ id }) => id)
  const values = chunks.map((_, index) => `($${2 * index + 2}::uuid, $${2 * index + 3}::int[])`).join(', ')
  const [difference] = await transaction.query<{ terms: bigint }>(
    `with former as (
       select c.chunk_id, cardinality(c.terms) as count from chunk_terms c
       where c.space_id = $1 and c.chunk_id = any($${2 * chunks.length + 2}::uuid[])
     ), changed as (
       update chunk_terms c set terms = n.terms from (values ${values}) n (chunk_id, terms)
       where c.space_id = $1 and c.chunk_id = n.chunk_id returning c.chunk_id, cardinality(c.terms) as count
     )
     select coalesce(sum(changed.count - former.count), 0)::bigint as terms from changed join former using (chunk_id)`,
    [spaceId, ...chunks.flatMap(({ id }, index) => [id, analysed[index]!.terms]), ids],
  )
  await transaction.execute('update chunks set document_name = $3 where space_id = $1 and id = any($2::uuid[])', [
    spaceId,
    ids,
    name,
  ])
  await transaction.execute(
    `update indexed_documents set term_count = term_count + $2,
       languages = array(select distinct language from unnest(languages || $3::text[]) language order by language)
     where document_id = $1`,
    [documentId, difference!.terms, [...new Set(analysed.flatMap((chunk) => chunk.languages))]],
  )
}
