/**
 * Load, failures and costs of cells, on paper: docs/operate/cells.md. Every assumption of bench/cells/plan.ts is a flag:
 *
 *   npm run simulate:cells [-- --seed 1] [--organisations 10000] [--callsPerDay 5000] [--pricePerVcpuHour 0.04] …
 */
import { parseArgs } from 'node:util'
import { assumed, type Assumptions, makeOrganisations, planCells, priceOf } from './cells/plan.ts'
import { type Failure, simulateCell } from './cells/simulate.ts'

const names = Object.keys(assumed) as (keyof Assumptions)[]
const { values } = parseArgs({
  options: Object.fromEntries(['seed', ...names].map((name) => [name, { type: 'string' as const }])),
})
const seed = Number(values['seed'] ?? 1)
const given = { ...assumed }
for (const name of names) if (values[name] !== undefined) given[name] = Number(values[name])

const cells = planCells(makeOrganisations(given, seed), given)
const allCallsPerSecond = cells.reduce((sum, { callsPerSecond }) => sum + callsPerSecond, 0)
const percent = (share: number) => `${Math.round(100 * share)} %`
const count = (value: number) => Math.round(value).toLocaleString('en')

printTable(
  ['cell', 'organisations', 'calls/s', 'of all calls', 'instances', 'vCPU of a database node', 'peaks'],
  cells.map((cell, at) => {
    const { instanceUtilisation, databaseUtilisation } = simulateCell(cell, 'none', given, seed + at)
    const { name, organisations, callsPerSecond, instances, databaseVcpus } = cell
    const share = percent(callsPerSecond / allCallsPerSecond)
    const peaks = `${percent(instanceUtilisation)}, ${percent(databaseUtilisation)}`
    return [name, organisations.length, callsPerSecond, share, instances, databaseVcpus, peaks]
  }),
)
for (const failure of ['instance', 'failover', 'cell'] satisfies Failure[]) {
  console.log(`\nloss of: ${failure}`)
  printTable(
    ['cell', 'calls', 'answered', 'delayed', 'refused', 'interrupted'],
    cells.map((cell, at) => {
      const { offered, answered, delayed, refused, interrupted } = simulateCell(cell, failure, given, seed + at)
      return [cell.name, offered, answered, delayed, refused, interrupted]
    }),
  )
}
console.log('\na month')
const costs = cells.map((cell) => priceOf(cell, given))
const sum = (name: keyof (typeof costs)[number]) => costs.reduce((total, cost) => total + cost[name], 0)
printTable(
  ['cell', 'vCPU hours', 'GB of disks', 'GB of files', 'price'],
  [
    ...cells.map(({ name }, at) => {
      const { vcpuHours, diskGigabytes, fileGigabytes, price } = costs[at]!
      return [name, vcpuHours, diskGigabytes, fileGigabytes, price]
    }),
    ['all', sum('vcpuHours'), sum('diskGigabytes'), sum('fileGigabytes'), sum('price')],
  ],
)

function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const texts = rows.map((row) => row.map((value) => (typeof value === 'number' ? count(value) : value)))
  const widths = head.map((title, at) => Math.max(title.length, ...texts.map((row) => row[at]!.length)))
  for (const row of [head, ...texts]) console.log(row.map((text, at) => text.padStart(widths[at]!)).join('  '))
}
