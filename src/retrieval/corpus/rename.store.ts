import type { Database, Queryable } from '../../database/index.ts'
import { createUuid, type SpaceId } from '../../kernel/index.ts'
import type { ResidentIndex } from '../engines/memory/memory-engine.ts'
import { chunksPerStep, replaceTerms, type StoredText, storedTextColumns } from './terms.store.ts'

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
  const chunks = await transaction.query<StoredText>(
    `select ${storedTextColumns} from chunks
     where document_id = $1 and document_name <> $2 order by chunk_index limit ${chunksPerStep}`,
    [documentId, document.name],
  )
  if (chunks.length > 0) {
    const { spaceId, name } = document
    await replaceTerms(transaction, { documentId, spaceId, name }, chunks)
    await transaction.execute('update chunks set document_name = $3 where space_id = $1 and id = any($2::uuid[])', [
      spaceId,
      chunks.map(({ id }) => id),
      name,
    ])
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
