import type { Database, Queryable } from '../../database/index.ts'
import { createUuid, type SpaceId } from '../../kernel/index.ts'
import { analyseInSlices, termsVersion } from '../lexical/analyse-text.ts'
import { searchableText } from './index-writer.store.ts'
import type { IndexedChunk } from '../port.ts'
import type { ResidentIndex } from '../engines/memory/memory-engine.ts'

/** A stored chunk whose terms are made again. */
export type StoredText = Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'> & { id: string; index: number }

/** Chunks of one transaction: about 15 ms on the embedded engine. */
export const chunksPerStep = 25

export const storedTextColumns =
  'id, chunk_index as index, content as text, heading_path as "headingPath", table_header as "tableHeader"'

/** Replaces the terms of stored chunks of one document, and counts them in its row. */
export async function replaceTerms(
  transaction: Queryable,
  { documentId, spaceId, name }: { documentId: string; spaceId: SpaceId; name: string },
  chunks: readonly StoredText[],
): Promise<void> {
  const analysed = await analyseInSlices(
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
  await transaction.execute(
    `update indexed_documents set term_count = term_count + $2,
       languages = array(select distinct language from unnest(languages || $3::text[]) language order by language)
     where document_id = $1`,
    [documentId, difference!.terms, [...new Set(analysed.flatMap((chunk) => chunk.languages))]],
  )
}

/**
 * Makes the terms of all documents again that an older version of text analysis made; searches find them by both meanwhile.
 * Resumable by document: what a process leaves half done is done again. Returns how many documents it has done.
 */
export async function updateTerms(
  database: Database,
  resident: ResidentIndex | undefined,
  signal: AbortSignal,
): Promise<number> {
  let done = 0
  for (;;) {
    const documents = await database.query<{ documentId: string }>(
      `select document_id as "documentId" from indexed_documents where searchable and terms_version < $1
       order by document_id limit 100`,
      [termsVersion],
      { signal, background: true },
    )
    if (documents.length === 0) break
    for (const { documentId } of documents) await updateDocument(database, resident, documentId, signal)
    done += documents.length
  }
  // What is in memory asks for the terms of both versions until it is loaded again.
  if (done > 0) resident?.forgetAll()
  return done
}

async function updateDocument(
  database: Database,
  resident: ResidentIndex | undefined,
  documentId: string,
  signal: AbortSignal,
): Promise<void> {
  for (let after: number | null = -1; after !== null;) {
    const from: number = after
    after = await database.transaction((transaction) => updateStep(transaction, resident, documentId, from), {
      signal,
      background: true,
    })
  }
}

/** Returns the last chunk of the step; null: nothing is left to do. */
async function updateStep(
  transaction: Queryable,
  resident: ResidentIndex | undefined,
  documentId: string,
  after: number,
): Promise<number | null> {
  // Locked, so that a rename and this take turns.
  const [document] = await transaction.query<{ spaceId: SpaceId }>(
    `select space_id as "spaceId" from indexed_documents
     where document_id = $1 and searchable and terms_version < $2 for no key update`,
    [documentId, termsVersion],
  )
  if (!document) return null
  const chunks = await transaction.query<StoredText & { name: string }>(
    `select ${storedTextColumns}, document_name as name from chunks
     where document_id = $1 and chunk_index > $2 order by chunk_index limit ${chunksPerStep}`,
    [documentId, after],
  )
  // Half of a document may be renamed: each part keeps its own name.
  for (const [name, part] of Map.groupBy(chunks, (chunk) => chunk.name)) {
    await replaceTerms(transaction, { documentId, spaceId: document.spaceId, name }, part)
  }
  if (chunks.length === chunksPerStep) return chunks.at(-1)!.index
  // Another run: who holds the chunks in memory reads them again.
  await transaction.execute(
    'update indexed_documents set terms_version = $3, run_id = $2, updated_at = now() where document_id = $1',
    [documentId, createUuid(), termsVersion],
  )
  resident?.documentChanged(document.spaceId, documentId)
  return null
}
