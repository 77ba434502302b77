/**
 * What a first visit of the Usage page costs the browser: `npm run bench:usage-paint [-- --entries 100000] [--rounds 7] [--data FOLDER]`.
 * The service runs as an operator starts it, with the data of usage-data.ts. Each round starts Chromium with an empty profile.
 * The main thread's time is processor time, so other programs disturb it little; the time until the first contentful paint is not.
 * Run `npm run build:console` first. Needs Chromium at /usr/bin/chromium.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { createPerson } from '../test/harness/people.ts'
import { createApiClient } from '../test/harness/portico.ts'
import { openDatabases } from '../test/harness/statements.ts'
import { type BrowserTab, openTab } from './browser-tab.ts'
import { median } from './runner/ratios.ts'
import { startServiceProcess } from './service-process.ts'
import { fillUsage, usageOrganisation } from './usage-data.ts'

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '7' },
    data: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
const organisationId = usageOrganisation(0)
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
const cases = [
  { name: '30 days', from: day(29) },
  { name: '398 days', from: day(397) },
]
/** For busy machines. */
const timeoutMs = 120_000
/** The page no longer changes if it has as many nodes after so many of these. */
const pollMs = 400
const quietPolls = 3
/** In the page: whether its last table and all charts are there. */
const isShown = `document.querySelector('table[aria-label="Latency by model"]') !== null &&
  [...document.querySelectorAll('figure')].every((figure) => figure.querySelector('path') !== null)`
/** The goals for a quiet core. */
const goals = { firstPaintMs: 1_000, mainThreadMs: 500 }

type Visit = Awaited<ReturnType<typeof visitPage>>

const dataFolder = values.data ?? fs.mkdtempSync(path.join(os.tmpdir(), 'portico-usage-paint-'))
try {
  await fill()
  const service = await startServiceProcess({ dataFolder })
  try {
    await measureAll(service.url, await signIn(service))
  } finally {
    await service.stop()
  }
} finally {
  if (values.data === undefined) fs.rmSync(dataFolder, { recursive: true })
}

async function fill(): Promise<void> {
  fs.mkdirSync(dataFolder, { recursive: true })
  const databases = await openDatabases({ dataFolder, databaseUrl: undefined, clock: systemClock, log: silentLog })
  await fillUsage(databases.control, { entries: Number(values.entries), organisations: 10 })
  await databases.close()
}

/** The cookies of a new administrator of the organisation. */
async function signIn({ url, operatorToken }: { url: string; operatorToken: string }): Promise<string> {
  const operator = createApiClient(url, operatorToken)
  const email = `visitor-${Date.now()}@example.com`
  return (await createPerson({ url, operator }, { email, organisationId, role: 'administrator' })).cookie()
}

async function measureAll(url: string, cookie: string): Promise<void> {
  const visits = new Map(cases.map(({ name }) => [name, [] as Visit[]]))
  // The first visits fill the service's caches.
  for (let round = -1; round < rounds; round += 1) {
    for (const { name, from } of cases) {
      const visit = await visitPage(url, cookie, `/console/organisations/${organisationId}/usage?from=${from}`)
      if (round >= 0) visits.get(name)!.push(visit)
    }
  }
  console.log(
    `${rounds} rounds, load ${os.loadavg()[0]!.toFixed(1)}; goals: first paint ${goals.firstPaintMs} ms, main thread ${goals.mainThreadMs} ms`,
  )
  for (const [name, measured] of visits) {
    const shown = Object.keys(measured[0]!).map((key) => {
      const all = measured.map((visit) => visit[key as keyof Visit])
      return `${key} ${median(all).toFixed(0)} (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`
    })
    console.log(`${name.padEnd(9)} ${shown.join(', ')}`)
  }
}

async function visitPage(url: string, cookie: string, address: string) {
  await using tab = await openTab({ width: 1280, height: 800, language: 'en-GB' })
  await tab.send('Network.setCookies', { cookies: cookiesOf(cookie, url) })
  await tab.send('Performance.enable', { timeDomain: 'threadTicks' })
  await tab.send('Page.navigate', { url: url + address })
  const metrics = await whenShown(tab)
  const firstPaintMs = Number(
    await tab.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`),
  )
  return {
    firstPaintMs,
    mainThreadMs: metrics('TaskDuration') * 1000,
    scriptMs: metrics('ScriptDuration') * 1000,
    layoutMs: (metrics('LayoutDuration') + metrics('RecalcStyleDuration')) * 1000,
    nodes: metrics('Nodes'),
  }
}

function cookiesOf(cookie: string, url: string) {
  return cookie.split('; ').map((pair) => {
    const end = pair.indexOf('=')
    return { name: pair.slice(0, end), value: pair.slice(end + 1), url }
  })
}

/** The measures of the browser, once the page has its last table and its charts, and no longer changes. */
async function whenShown(tab: BrowserTab): Promise<(name: string) => number> {
  const startedMs = performance.now()
  let nodes = 0
  for (let unchanged = 0; performance.now() - startedMs < timeoutMs;) {
    await setTimeout(pollMs)
    const { metrics } = (await tab.send('Performance.getMetrics')) as { metrics: { name: string; value: number }[] }
    const valueOf = (name: string) => metrics.find((metric) => metric.name === name)!.value
    unchanged = valueOf('Nodes') === nodes ? unchanged + 1 : 0
    nodes = valueOf('Nodes')
    // Seldom: a question takes the main thread's time as well.
    if (unchanged > 0 && unchanged % quietPolls === 0 && (await tab.evaluate(isShown)) === true) return valueOf
  }
  throw new Error('The page was not shown in time.')
}
