/**
 * Whether calls and reports cost more with more history: `npm run bench:growth [-- --sizes 100000,1000000,10000000] [--calls 300]
 * [--rounds 8] [--only calls] [--data PREFIX] [--plots FOLDER] [--json FILE]`. For each size (entries of the ledger, of 10,000 organisations over 400 days) it prints
 * what a call of the gateway costs, what the pages of reports and lists of documents (100 entries each) cost, the ratios to the smallest size, and
 * what calls cost while the entries of a day or two are removed. Embedded engine, or the server that PORTICO_TEST_DATABASE_URL names, whose processor time counts when it
 * is on this machine. 10 million entries need 15 GB of disk. `--data` keeps the data in the folders PREFIX_SIZE and, on a server, the databases of these names.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startRole } from './gateway/roles.ts'
import { type CallCost, measureCalls, measureRemoval } from './growth/calls.ts'
import { measurePages, type PageCost } from './growth/pages.ts'
import { openGrowthPlace } from './growth/place.ts'
import { figureWriter } from './runner/figures.ts'
import { writePlot } from './runner/plot.ts'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000,10000000' },
    calls: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '8' },
    /** `calls` leaves the pages out. */
    only: { type: 'string' },
    data: { type: 'string' },
    plots: { type: 'string' },
    json: { type: 'string' },
  },
})
const sizes = values.sizes.split(',').map(Number)
const amount = { calls: Number(values.calls), rounds: Number(values.rounds) }
/** The processor time of a call may be this much above that with the smallest size: more than runs on a busy machine differ. */
const callBound = 1.5
/** Of the data of each page, at p95, as in bench/usage-reports.ts. */
const pageBoundMs = 300

const prefix = path.resolve(
  values.data ?? path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-')), 'growth'),
)
const write = figureWriter(values.json)
const upstream = await startRole('upstream')
const places = []
const pages: PageCost[][] = []
for (const size of sizes) {
  const place = await openGrowthPlace(`${prefix}_${size}`, size)
  console.log(`${place.engine}, ${size} entries, load ${os.loadavg()[0]!.toFixed(1)}`)
  if (values.only !== 'calls') pages.push(await measurePages(place, amount.rounds))
  places.push(place)
}
const calls = await measureCalls(places, upstream.url, amount)
const removals = await measureRemoval(places, upstream.url, amount)
upstream.child.kill()
if (values.data === undefined) for (const place of places) await place.remove()

const isKept = [printCalls('calls, 16 at once', calls), printRemoval(), printPages()]
if (values.plots !== undefined) plot(values.plots)
process.exitCode = isKept.every(Boolean) ? 0 : 1

function printCalls(title: string, costs: readonly CallCost[]): boolean {
  console.log(`\n${title} (load ${os.loadavg()[0]!.toFixed(1)})`)
  console.log('   entries | processor ms a call | ratio | p50 ms | p95 ms')
  for (const [index, { processorMs, p50Ms, p95Ms }] of costs.entries()) {
    console.log(
      `${String(sizes[index]).padStart(10)} | ${processorMs.toFixed(2).padStart(19)} | ${(processorMs / costs[0]!.processorMs).toFixed(2).padStart(5)} | ${p50Ms.toFixed(1).padStart(6)} | ${p95Ms.toFixed(1).padStart(6)}`,
    )
    write({
      case: title,
      round: index,
      subject: String(sizes[index]),
      quantity: 'processor ms',
      value: processorMs,
      better: 'lower',
    })
  }
  return report(
    Math.max(...costs.map(({ processorMs }) => processorMs)) <= callBound * costs[0]!.processorMs,
    `${callBound} times the smallest size`,
  )
}

function printRemoval(): boolean {
  const isBounded = printCalls('calls while the entries of the first days are removed', removals)
  for (const [index, { removed, remaining }] of removals.entries())
    console.log(`${sizes[index]}: ${removed} entries removed, ${remaining} of them not yet after the calls`)
  return isBounded
}

function printPages(): boolean {
  if (pages.length === 0) return true
  console.log(
    `\n${'page, p50 / p95 ms'.padEnd(56)} | ${sizes.map((size) => String(size).padStart(14)).join(' | ')} | ratio of p50`,
  )
  for (const [index, { name }] of pages[0]!.entries()) {
    const costs = pages.map((ofSize) => ofSize[index]!)
    const columns = costs.map(({ p50Ms, p95Ms }) => `${p50Ms.toFixed(0)} / ${p95Ms.toFixed(0)}`.padStart(14))
    console.log(`${name.padEnd(56)} | ${columns.join(' | ')} | ${(costs.at(-1)!.p50Ms / costs[0]!.p50Ms).toFixed(1)}`)
  }
  return report(Math.max(...pages.flat().map(({ p95Ms }) => p95Ms)) <= pageBoundMs, `${pageBoundMs} ms at p95`)
}

function report(isWithin: boolean, bound: string): boolean {
  console.log(isWithin ? `within the bound: ${bound}` : `ABOVE THE BOUND: ${bound}`)
  return isWithin
}

function plot(folder: string): void {
  const axis = 'entries of the ledger'
  writePlot(path.join(folder, 'growth-calls.svg'), {
    title: 'Processor time of a call, ms',
    axis,
    sizes,
    lines: [
      { name: 'calls', values: calls.map(({ processorMs }) => processorMs) },
      { name: 'while old entries are removed', values: removals.map(({ processorMs }) => processorMs) },
    ],
  })
  if (pages.length === 0) return
  const lines = pages[0]!.flatMap(({ name, isPlotted }, index) =>
    isPlotted ? [{ name, values: pages.map((ofSize) => ofSize[index]!.p50Ms) }] : [],
  )
  writePlot(path.join(folder, 'growth-reports.svg'), { title: 'Data of a page, p50 in ms', axis, sizes, lines })
}
