import type { MetadataFilter } from '../../../contract/metadata-filter.ts'
import { type SqlValue, toJsonPath } from '../../../platform/database/index.ts'
import type { ReadScope, SpaceScope } from '../engine.ts'

/**
 * A condition on the row `d` of a document, as SQL; null without a filter. Adds its parameter to `values`. The index has all fields of a document under
 * its Space, so that the documents of other Spaces cost nothing.
 */
export function filterCondition(
  { spaceId }: SpaceScope,
  filter: MetadataFilter | null,
  values: SqlValue[],
): string | null {
  if (filter === null) return null
  values.push(toJsonPath(spaceId, filter))
  return `d.filter_fields @@ $${values.length}::text::jsonpath`
}

/** `and` with the condition of the scope's filter on the row `d` of a document; empty without a filter. Adds its parameter to `values`. */
export function andMatches(scope: ReadScope, values: SqlValue[]): string {
  const condition = filterCondition(scope, scope.filter, values)
  return condition === null ? '' : `and ${condition}`
}

/** The same for a column with the id of a document's row. */
export function andMatching(scope: ReadScope, values: SqlValue[]): (column: string) => string {
  const condition = filterCondition(scope, scope.filter, values)
  if (condition === null) return () => ''
  return (column) => `and ${column} in (select d.id from documents d where ${condition})`
}
