import { countRows, type Database } from '../../../../platform/database/index.ts'
import type { ErasedDocuments } from '../../engine.ts'
import { segmentTable } from './vector-segments.store.ts'

const background = { background: true, timeoutMs: 60_000 }

/** Vectors of the documents in the segments of the organisation, in every state. A segment has no index by document: all its rows are read. */
export async function countInSegments(database: Database, documents: ErasedDocuments): Promise<number> {
  const own = database.for(documents.organisationId)
  let count = 0
  for (const id of await loadSegments(database, documents)) {
    const ofDocuments = `${segmentTable(id)} where document_id = any($1::uuid[])`
    count += await countRows(own, ofDocuments, [[...documents.documentIds]], background)
  }
  return count
}

/**
 * Deletes them. The lock waits for the fill of a segment that is being built: it may have read the rows of the documents before they were
 * removed, and a fill that begins later cannot. It does not block searches.
 */
export async function removeFromSegments(database: Database, documents: ErasedDocuments): Promise<void> {
  for (const id of await loadSegments(database, documents)) {
    await database.for(documents.organisationId).transaction(async (transaction) => {
      await transaction.execute(`lock table ${segmentTable(id)} in share row exclusive mode`)
      const removed = await transaction.execute(`delete from ${segmentTable(id)} where document_id = any($1::uuid[])`, [
        [...documents.documentIds],
      ])
      await transaction.execute(
        `update vector_segments set chunk_count = chunk_count - $2 where id = $1 and state = 'ready'`,
        [id, removed],
      )
    }, background)
  }
}

async function loadSegments(database: Database, { organisationId }: ErasedDocuments): Promise<number[]> {
  const rows = await database
    .for(organisationId)
    .query<{ id: number }>(
      'select id from vector_segments where organisation_id = $1 and storage is null order by id',
      [organisationId],
      background,
    )
  return rows.map(({ id }) => id)
}
