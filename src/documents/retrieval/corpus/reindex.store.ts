import type { OwnedDatabase } from '../../../platform/database/index.ts'
import type { OrganisationId, SpaceId } from '../../../platform/kernel/index.ts'
import type { IndexedChunk } from './chunks.ts'
import { type EmbeddingVersion, vectorParameter, vectorTable } from './embedding-versions.store.ts'

/** A chunk that lacks its vector in an embedding version that is being built. */
export interface MissingChunk extends Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'> {
  organisationId: OrganisationId
  spaceId: SpaceId
  chunkId: string
  documentName: string
}

/** The next chunks of one Space without a vector, in the order of their keys, after the position reached so far. */
export async function loadMissingChunks(
  database: OwnedDatabase,
  version: EmbeddingVersion,
  limit: number,
): Promise<MissingChunk[]> {
  const chunks = await database.query<MissingChunk>(
    `select c.organisation_id as "organisationId", c.space_id as "spaceId", c.id as "chunkId", c.content as text,
       c.heading_path as "headingPath", c.table_header as "tableHeader", c.document_name as "documentName"
     from chunks c, (select position_space_id, position_chunk_id from embedding_generations where id = $1) p
     where (p.position_space_id is null or (c.space_id, c.id) > (p.position_space_id, p.position_chunk_id))
       and not exists (select from ${vectorTable(version)} e where e.space_id = c.space_id and e.chunk_id = c.id)
     order by c.space_id, c.id limit $2`,
    [version.id, limit],
  )
  // One Space per batch: its organisation is billed for it.
  return chunks.filter((chunk) => chunk.spaceId === chunks[0]!.spaceId)
}

/** Stores vectors and advances the position; skips chunks that were deleted meanwhile. */
export async function storeVectors(
  database: OwnedDatabase,
  version: EmbeddingVersion,
  chunks: readonly MissingChunk[],
  vectors: readonly Float32Array[],
): Promise<void> {
  await database.transaction(
    async (transaction) => {
      for (const [index, chunk] of chunks.entries()) {
        await transaction.execute(
          `insert into ${vectorTable(version)} (organisation_id, space_id, chunk_id, document_id, embedding)
           select c.organisation_id, c.space_id, c.id, c.document_id, $3::${version.storage}
           from chunks c join indexed_documents i on i.document_id = c.document_id
           where c.space_id = $1 and c.id = $2 for key share of i
           on conflict (space_id, chunk_id) do nothing`,
          [chunk.spaceId, chunk.chunkId, vectorParameter(version, vectors[index]!)],
        )
      }
      const last = chunks.at(-1)
      if (!last) return
      await transaction.execute(
        'update embedding_generations set position_space_id = $2, position_chunk_id = $3 where id = $1',
        [version.id, last.spaceId, last.chunkId],
      )
    },
    { background: true },
  )
}

/** Moves the position behind the last chunk of a Space. */
export async function skipSpace(database: OwnedDatabase, version: EmbeddingVersion, spaceId: SpaceId): Promise<void> {
  await database.execute(
    `update embedding_generations set position_space_id = $2, position_chunk_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
     where id = $1`,
    [version.id, spaceId],
  )
}

/** Resets the position to the first chunk, to find chunks that were inserted before it. */
export async function resetPosition(database: OwnedDatabase, version: EmbeddingVersion): Promise<void> {
  await database.execute(
    'update embedding_generations set position_space_id = null, position_chunk_id = null where id = $1',
    [version.id],
  )
}
