import { createLedger, loadBudgetsLeft } from '../../src/gateway/billing/index.ts'
import { createDocumentStore } from '../../src/documents/documents/index.ts'
import { createJobQueue } from '../../src/platform/jobs/index.ts'
import { percentile, silentLog, type SpaceId, systemClock } from '../../src/platform/kernel/index.ts'
import { usageOrganisation } from '../usage-data.ts'
import { usagePages } from '../usage-pages.ts'
import { type GrowthPlace, growthSpace } from './place.ts'

export interface PageCost {
  name: string
  p50Ms: number
  p95Ms: number
  isPlotted: boolean
}

/** Pages of the plot: those that read the most. */
const plotted = new Set([
  'report: this period by model',
  'report: 398 days by Space',
  'report: 92 days by user',
  'requests: newest',
  'requests: failed',
  'documents: from the middle',
  'operator: organisations by spending',
])

/** What the data of each page cost, one at a time. The audit is none of them: it reads every entry and every sum. */
export async function measurePages(place: GrowthPlace, rounds: number): Promise<PageCost[]> {
  const { control, corpus, close } = await place.open()
  const ledger = await createLedger({ database: control, clock: systemClock, log: silentLog })
  const jobs = createJobQueue({ database: corpus, clock: systemClock, log: silentLog })
  const store = createDocumentStore({ database: corpus, jobs, removeFromIndex: async () => {} })
  const list = (offset: number, search?: string) => () =>
    store.loadList(usageOrganisation(0), growthSpace as SpaceId, {
      filter: search === undefined ? {} : { search },
      sort: 'newest',
      after: undefined,
      offset,
      limit: 100,
    })
  const pages = [
    ...usagePages(control, ledger),
    ['documents: newest', list(0)],
    ['documents: from the middle', list(Math.floor(place.documents / 2))],
    ['documents: search with few matches', list(0, 'ff00a')],
    ['metrics: budgets', () => loadBudgetsLeft(control, { nowMs: Date.now(), limit: 500, timeoutMs: 60_000 })],
  ] as const
  const costs: PageCost[] = []
  for (const [name, load] of pages) {
    const times = await timesOf(load, rounds)
    costs.push({ name, ...times, isPlotted: plotted.has(name) })
  }
  await ledger.close()
  await close()
  return costs
}

async function timesOf(load: () => Promise<unknown>, rounds: number) {
  await load()
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now()
    await load()
    times.push(performance.now() - startMs)
  }
  times.sort((a, b) => a - b)
  return { p50Ms: percentile(times, 0.5)!, p95Ms: percentile(times, 0.95)! }
}
