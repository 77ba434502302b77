import type { Queryable, QueryOptions } from '../../../../platform/database/index.ts'
import { isUuid, type SpaceId } from '../../../../platform/kernel/index.ts'
import { vectorTable } from '../../corpus/embedding-versions.store.ts'

/** The name of a Space's HNSW index of an earlier version of Portico, in one embedding version. */
export function vectorIndexName(versionId: number, spaceId: SpaceId): string {
  return `${vectorTable({ id: versionId })}_hnsw_${nameSuffix(spaceId)}`
}

/** How the names of BM25 indexes begin; the number changes with their settings, so that indexes of former settings are dropped. */
export const bm25IndexPrefix = 'chunk_terms_bm25_2_'

/** The name of a Space's BM25 index. */
export function bm25IndexName(spaceId: SpaceId): string {
  return `${bm25IndexPrefix}${nameSuffix(spaceId)}`
}

/** The end of the names of a Space's indexes; checked, because names are not parameters of statements. */
function nameSuffix(spaceId: SpaceId): string {
  if (!isUuid(spaceId)) throw new Error('a Space id is no UUID')
  return spaceId.replaceAll('-', '').toLowerCase()
}

/** A checked literal instead of a parameter: the planner can then always use the Space's partial indexes. */
export function spaceLiteral(spaceId: SpaceId): string {
  if (!isUuid(spaceId)) throw new Error('a Space id is no UUID')
  return `'${spaceId}'::uuid`
}

/** The names of the Space's valid indexes that searches use. */
export async function loadSpaceIndexes(
  queryable: Queryable,
  spaceId: SpaceId,
  options: QueryOptions,
): Promise<Set<string>> {
  const rows = await queryable.query<{ name: string }>(
    // By whole names: a pattern would read the catalogue, which has two entries for each segment of each Space.
    `select c.relname::text as name from pg_class c join pg_index i on i.indexrelid = c.oid
     where i.indisvalid and pg_table_is_visible(c.oid) and c.relname = any(array(
       select $1::name
       union all select format('embeddings_%s_hnsw_%s', id, $2::text)::name from embedding_generations where state <> 'retired'))`,
    [bm25IndexName(spaceId), nameSuffix(spaceId)],
    options,
  )
  return new Set(rows.map(({ name }) => name))
}
