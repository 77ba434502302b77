import type { SpaceDocumentsView } from '../../contract/console-spaces.ts'
import type { Queryable } from '../../platform/database/index.ts'

const none: SpaceDocumentsView = { processing: 0, ready: 0, failed: 0, sizeBytes: 0 }

/**
 * Documents of some Spaces of one organisation, by status, and their size. A replacement in progress counts as the processing of its
 * document. Reads index entries of all documents of these Spaces: ask for one page of Spaces.
 */
export async function loadSpaceTotals(
  database: Queryable,
  organisationId: string,
  spaceIds: readonly string[],
): Promise<(spaceId: string) => SpaceDocumentsView> {
  const rows = await database.query<{ spaceId: string; kind: string; value: string }>(
    `select space_id as "spaceId", status as kind, count(*)::text as value from documents
     where organisation_id = $1 and space_id = any($2::uuid[]) and is_current group by space_id, status
     union all
     select space_id, 'size', sum(size_bytes)::text from documents
     where organisation_id = $1 and space_id = any($2::uuid[]) and is_current group by space_id
     union all
     select space_id, 'replaced', count(*)::text from documents
     where organisation_id = $1 and space_id = any($2::uuid[]) and not is_current group by space_id`,
    [organisationId, [...spaceIds]],
  )
  const bySpace = new Map<string, Map<string, number>>()
  for (const { spaceId, kind, value } of rows) {
    const values = bySpace.get(spaceId) ?? new Map<string, number>()
    bySpace.set(spaceId, values.set(kind, Number(value)))
  }
  return (spaceId) => {
    const values = bySpace.get(spaceId)
    if (!values) return none
    const of = (kind: string) => values.get(kind) ?? 0
    return {
      processing: of('processing') + of('replaced'),
      ready: Math.max(0, of('ready') - of('replaced')),
      failed: of('failed'),
      sizeBytes: of('size'),
    }
  }
}
