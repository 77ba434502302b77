import {
  type FieldCondition,
  type FilterRange,
  type FilterValue,
  filterBounds,
  type MetadataFilter,
} from '../../../contract/metadata-filter.ts'
import type { SqlValue } from '../../../platform/database/index.ts'
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

const comparators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/**
 * The filter as a predicate of SQL's JSON path language. In its lax mode a comparison unwraps lists, is false where the field is missing, and compares
 * numbers with numbers, strings with strings by their code points.
 */
export function toJsonPath(spaceId: string, filter: MetadataFilter): string {
  return `$.space == ${literal(spaceId)} && ${ofFilter(filter, false)}`
}

/** `negated`: the opposite, so that `not` is only in front of single conditions. */
function ofFilter(filter: MetadataFilter, negated: boolean): string {
  const parts = Object.entries(filter).flatMap(([name, member]) => {
    if (member === undefined) return []
    if (name === 'not') return [ofFilter(member as MetadataFilter, !negated)]
    if (name === 'and' || name === 'or') {
      const joiner = (name === 'and') === negated ? ' || ' : ' && '
      return [`(${(member as MetadataFilter[]).map((one) => ofFilter(one, negated)).join(joiner)})`]
    }
    const condition = `(${ofField(name, member as FieldCondition)})`
    // A comparison of two types is unknown, whose opposite would be unknown as well.
    return [negated ? `(!${condition} || ${condition} is unknown)` : condition]
  })
  return `(${parts.join(negated ? ' || ' : ' && ')})`
}

function ofField(name: string, condition: FieldCondition): string {
  const field = `$.metadata.${literal(name)}`
  if (Array.isArray(condition)) return condition.map((value) => `${field} == ${literal(value)}`).join(' || ')
  if (typeof condition !== 'object') return `${field} == ${literal(condition)}`
  // One value of a list has to be within all bounds.
  return `exists (${field} ? (${ofRange(condition)}))`
}

const ofRange = (range: FilterRange) =>
  filterBounds
    .flatMap((bound) => (range[bound] === undefined ? [] : [`@ ${comparators[bound]} ${literal(range[bound])}`]))
    .join(' && ')

/** JSON's escapes are those of the path language. */
const literal = (value: FilterValue) => JSON.stringify(value)
