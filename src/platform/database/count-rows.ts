import type { Queryable, QueryOptions, SqlValue } from './port.ts'

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
