import {
  type FieldCondition,
  filterBounds,
  type FilterRange,
  type FilterValue,
  type MetadataFilter,
} from '../../contract/metadata-filter.ts'
import type { Queryable, QueryOptions, SqlScalar, SqlValue } from './port.ts'

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

/** The number of rows of `from`: tables, joins and conditions. */
export async function countRows(
  database: Queryable,
  from: string,
  values: readonly SqlValue[],
  options?: QueryOptions,
): Promise<number> {
  const [row] = await database.query<{ total: bigint }>(`select count(*) as total from ${from}`, values, options)
  return Number(row!.total)
}

/** A list for each column, for `unnest`; a column is a field of the rows, or what a function makes of each of them. */
export function columnsOf<Row>(
  rows: readonly Row[],
  ...columns: readonly (ScalarField<Row> | ((row: Row) => SqlScalar))[]
): SqlValue[] {
  return columns.map((column) =>
    rows.map((row) => (typeof column === 'function' ? column(row) : (row[column] as SqlScalar))),
  )
}

type ScalarField<Row> = { [Name in keyof Row]-?: Row[Name] extends SqlScalar ? Name : never }[keyof Row]

/** A value as a row has it: a moment is a date, and not milliseconds. */
export type Stored<Value, Moments extends keyof Value> = Omit<Value, Moments> & {
  [Moment in Moments]: null extends Value[Moment] ? Date | null : Date
}

/** An SQL identifier in quotes, for statements that do not accept a parameter in its place. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
