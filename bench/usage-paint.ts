/**
 * What a first visit of the Usage page costs the browser: `npm run bench:usage-paint [-- --entries 100000] [--rounds 7] [--data FOLDER]`.
 * The service runs as an operator starts it, with the data of usage-data.ts. Each round starts Chromium with an empty profile.
 * The main thread's time is processor time, so other programs disturb it little; the time until the first contentful paint is not.
 * Run `npm run build:console` first. Needs Chromium at /usr/bin/chromium.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { chromiumOptions } from '../test/harness/chromium.ts'
import { createPerson } from '../test/harness/people.ts'
import { createApiClient } from '../test/harness/portico.ts'
import { openDatabases } from '../test/harness/statements.ts'
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
/** The goals for a quiet core. */
const goals = { firstPaintMs: 1_000, mainThreadMs: 500 }

type Visit = Awaited<ReturnType<typeof measure>>

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

async function visitPage(url: string, cookie: string, address: string): Promise<Visit> {
  const browser = await chromium.launch(chromiumOptions)
  try {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } })
    await addCookies(context, url, cookie)
    return await measure(await context.newPage(), url + address)
  } finally {
    await browser.close()
  }
}

function addCookies(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const cookies = cookie.split('; ').map((pair) => {
    const end = pair.indexOf('=')
    return { name: pair.slice(0, end), value: pair.slice(end + 1), url }
  })
  return context.addCookies(cookies)
}

async function measure(page: Page, address: string) {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(address, { waitUntil: 'networkidle', timeout: timeoutMs })
  // Queries by role take the main thread's time as well.
  await page.locator('table[aria-label="Latency by model"]').waitFor({ state: 'attached', timeout: timeoutMs })
  for (const figure of await page.locator('figure').all())
    await figure.locator('path').first().waitFor({ state: 'attached', timeout: timeoutMs })
  const { metrics } = await devTools.send('Performance.getMetrics')
  const seconds = (name: string) => metrics.find((metric) => metric.name === name)!.value
  const firstPaintMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity,
  )
  return {
    firstPaintMs,
    mainThreadMs: seconds('TaskDuration') * 1000,
    scriptMs: seconds('ScriptDuration') * 1000,
    layoutMs: (seconds('LayoutDuration') + seconds('RecalcStyleDuration')) * 1000,
    elements: seconds('Nodes'),
  }
}
