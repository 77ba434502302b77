import type { SqlValue } from '../src/platform/database/index.ts'
import { type TestDatabase } from '../test/harness/statements.ts'

/** The parts of a plan that this file reads, as EXPLAIN (FORMAT JSON) prints them. */
interface PlanNode {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

/** A database whose queries can be explained as well, to count the rows that their scans read. Rows that no plan shows are those of functions. */
export function countRowsRead(database: TestDatabase) {
  let rows: number | undefined
  const explained: TestDatabase = {
    ...database,
    for: () => explained,
    async query<Row>(
      statement: string,
      parameters?: readonly SqlValue[],
      options?: Parameters<TestDatabase['query']>[2],
    ) {
      if (rows !== undefined && /^\s*(?:select|with)\b/i.test(statement)) {
        const [plan] = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `explain (analyze, timing off, buffers off, format json) ${statement}`,
          parameters,
        )
        rows += rowsOf(plan!['QUERY PLAN'][0].Plan)
      }
      return database.query<Row>(statement, parameters, options)
    },
  }
  return {
    database: explained,
    /** Rows that tables and indexes returned to the queries of `work`, also those that a filter removed. */
    async during(work: () => Promise<unknown>): Promise<number> {
      rows = 0
      await work()
      const read = rows
      rows = undefined
      return read
    },
  }
}

function rowsOf(node: PlanNode): number {
  const own =
    node['Relation Name'] === undefined
      ? 0
      : (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own)
}
