import type { Database } from '../../platform/database/index.ts'
import { publicId } from './replacement.store.ts'

export interface NamedDocument {
  id: string
  name: string
}

interface Place {
  organisationId: string
  spaceId: string
}

export type DocumentNames = ReturnType<typeof createDocumentNames>

/** Finds documents of a Space by id and by name. */
export function createDocumentNames(database: Database) {
  return {
    /** Documents with one of these ids or names, the newest first. Ids must be UUIDs. */
    find: ({ organisationId, spaceId }: Place, { ids, names }: { ids: readonly string[]; names: readonly string[] }) =>
      database.for(organisationId).query<NamedDocument>(
        `select ${publicId('d')} as id, name from documents d
          where organisation_id = $1 and space_id = $2 and is_current
            and (${publicId('d')} = any($3::uuid[]) or name = any($4::text[]))
          order by created_at desc, d.id desc`,
        [organisationId, spaceId, ids, names],
      ),
    /** A text that changes with each document that becomes ready, is changed or is deleted. */
    async loadStamp({ organisationId, spaceId }: Place): Promise<string> {
      const [row] = await database.for(organisationId).query<{ stamp: string }>(
        `select concat(count(*), ' ', extract(epoch from max(updated_at))) as stamp from documents
          where organisation_id = $1 and space_id = $2 and is_current and status = 'ready'`,
        [organisationId, spaceId],
      )
      return row!.stamp
    },
  }
}
