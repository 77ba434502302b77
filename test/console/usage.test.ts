import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Clock, parsePicoUsd, formatPicoUsd, systemClock } from '../../src/platform/kernel/index.ts'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
  type Window,
} from './harness/console.ts'

const dayMs = 86_400_000
/** Calls of the test: user, team, model, and days before today. */
const calls: [user: string | undefined, team: string | undefined, model: string, daysAgo: number][] = [
  ['ada@example.com', 'search', 'alpha', 4],
  ['ada@example.com', 'search', 'alpha', 2],
  ['ada@example.com', 'support', 'beta', 0],
  ['bob@example.com', 'support', 'beta', 2],
  ['=cmd()', 'support', 'alpha', 0],
  [undefined, undefined, 'alpha', 0],
]

let stage: TestConsole
let upstream: Server
let organisation: TestOrganisation
let empty: TestOrganisation
let administrator: Window
// The service, its prices and the organisations are older than the first call.
let offsetMs = -6 * dayMs
const clock: Clock = { ...systemClock, now: () => Date.now() + offsetMs }
const requestIds: string[] = []

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer(++answered)))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
  const provider = { id: 'scripted', format: 'openai', flavour: 'generic', baseUrl, apiKey: 'sk-test', hosting: 'us' }
  const model = (id: string, input: string) => ({
    id,
    maxOutputTokens: 4096,
    contextTokens: 100_000,
    deployments: [{ provider: 'scripted', prices: { input, output: '10' } }],
  })
  stage = await startConsole({
    clock,
    settings: { providers: [provider], models: [model('alpha', '2'), model('beta', '5')] },
  })
  organisation = await stage.portico.createOrganisation({ timeZone: 'UTC', monthlyBudgetUsd: '2' })
  empty = await stage.portico.createOrganisation({ name: 'Nothing yet' })
  // In the order of time.
  calls.sort(([, , , a], [, , , b]) => b - a)
  for (const call of calls) await makeCall(...call)
  offsetMs = 0
  // A refused call.
  await organisation.client('POST', '/v1/gateway/chat/completions', completion('gamma'))
  const report = () => stage.portico.operator('GET', `/api/console/organisations/${organisation.id}/usage`)
  // Refused calls are counted in the background.
  await vi.waitFor(async () => expect(JSON.stringify((await report()).body)).toContain('model_not_found'), 30_000)
  administrator = await stage.openAs({
    email: 'usage@example.com',
    organisationId: organisation.id,
    role: 'administrator',
  })
}, 120_000)
afterAll(async () => {
  await stage?.stop()
  upstream?.close()
})

let answered = 0

/** Every answer costs a different amount. */
function answer(number: number) {
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1000 + number * 37, completion_tokens: 100 + number, total_tokens: 1100 + number * 38 },
  }
}

const completion = (model: string) => ({ model, messages: [{ role: 'user', content: 'Yes or no?' }] })

async function makeCall(user: string | undefined, team: string | undefined, model: string, daysAgo: number) {
  offsetMs = -daysAgo * dayMs
  const made = await organisation.client('POST', '/v1/gateway/chat/completions', {
    ...completion(model),
    ...(user !== undefined && { user }),
    ...(team !== undefined && { metadata: { team } }),
  })
  expectStatus(made, 200)
  requestIds.push(made.headers.get('x-request-id')!)
}

/** The billed cost of each call of a user, by its receipts. */
async function spentBy(user: string | undefined): Promise<string> {
  let sum = 0n
  for (const [place, [of]] of calls.entries()) {
    if (of !== user) continue
    const receipt = expectStatus(await stage.portico.operator('GET', `/api/usage/${requestIds[place]}`), 200)
    sum += parsePicoUsd(receipt.billedUsd)
  }
  return formatPicoUsd(sum)
}

const spendChart = (page: Window['page']) => page.getByRole('figure', { name: 'Chart of the days' })
const bars = (page: Window['page']) => spendChart(page).locator('path')

/** What the chart of spending shows of a day. */
const dayOfChart = (page: Window['page'], daysAgo: number) => {
  const shown = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
  return spendChart(page)
    .getByRole('status')
    .filter({ hasText: shown.format(Date.now() - daysAgo * dayMs) })
}

const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
const address = (search = '') => `${stage.url}/organisations/${organisation.id}/usage?from=${day(6)}${search}`

/** The open list of a field names itself and the option that the keys have reached. */
async function expectChosenOption(field: Locator) {
  await expect.poll(() => field.getAttribute('aria-expanded')).toBe('true')
  const [list, option] = await Promise.all(
    ['controls', 'activedescendant'].map((name) => field.getAttribute(`aria-${name}`)),
  )
  await field.page().locator(`[id="${list}"][role="listbox"] [id="${option}"][role="option"]`).waitFor()
}

describe.skipIf(!hasBrowser)(`the usage page${skipReason}`, () => {
  it('shows the spend of each user as the receipts have it, and exports the same', async () => {
    const { page } = administrator
    const requests = await countRequests(page, () => page.goto(address()))
    expect(requests.filter((path) => path.includes('/usage'))).toHaveLength(1)
    await page.getByRole('combobox', { name: 'Split by' }).click()
    await page.getByRole('option', { name: 'by User' }).click()
    const table = page.getByRole('table', { name: 'Sums of the range' })
    await table.getByRole('row', { name: /ada@example\.com/ }).waitFor()
    const exported = await administrator.context.request.get(
      `${stage.portico.url}/api/console/organisations/${organisation.id}/usage/export?from=${day(6)}&split=user`,
    )
    expect(exported.headers()['content-disposition']).toContain('usage-user-')
    const lines = (await exported.text()).trim().split('\r\n')
    expect(lines[0]).toBe('user,requests,failed,promptTokens,completionTokens,cachedTokens,reasoningTokens,billedUsd')
    const money = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'USD', maximumSignificantDigits: 2 })
    for (const user of ['ada@example.com', 'bob@example.com', '=cmd()', undefined]) {
      const spent = await spentBy(user)
      const row = table.getByRole('row', { name: user ?? 'Without this tag' })
      expect(await row.textContent()).toContain(money.format(Number(spent)))
      const cell = user === undefined ? '' : user.startsWith('=') ? `'${user}` : user
      expect(
        lines
          .find((line) => line.startsWith(`${cell},`))
          ?.split(',')
          .at(-1),
      ).toBe(spent)
    }
    expect(lines).toHaveLength(5)
    const href = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
    expect(href).toContain('split=user')
  })

  it('shows what a day cost when one hovers it', async () => {
    const { page } = administrator
    await page.goto(address())
    await bars(page).first().waitFor()
    // The first calls were made on the third of seven days.
    const plot = spendChart(page).getByRole('application')
    const { width } = (await plot.boundingBox())!
    await plot.hover({ position: { x: (2.5 / 7) * width, y: 20 } })
    await dayOfChart(page, 4).filter({ hasText: 'alpha' }).waitFor()
    await page.getByRole('heading', { name: 'Budget' }).hover()
    await dayOfChart(page, 4).waitFor({ state: 'detached' })
  })

  it('shows what a day cost to those who use the keyboard', async () => {
    const { page } = administrator
    await page.goto(address())
    await spendChart(page).getByRole('application').focus()
    for (const [key, daysAgo] of [
      ['ArrowRight', 6],
      ['ArrowRight', 5],
      ['End', 0],
      ['ArrowRight', 0],
      ['ArrowLeft', 1],
    ] as const) {
      await page.keyboard.press(key)
      await dayOfChart(page, daysAgo).waitFor()
    }
    await page.keyboard.press('Escape')
    await dayOfChart(page, 1).waitFor({ state: 'detached' })
  })

  it('filters by a click on a value and keeps the filter in the address', async () => {
    const { page } = administrator
    await page.goto(address('&split=user'))
    await page.getByRole('button', { name: 'ada@example.com' }).click()
    await page.waitForURL(/tagValue=ada/)
    await page.getByText('User: ada@example.com').waitFor()
    const table = page.getByRole('table', { name: 'Sums of the range' })
    await table.getByRole('row', { name: /beta/ }).waitFor()
    expect(await table.getByRole('row').count()).toBe(3)
    await page.getByText('Requests', { exact: true }).first().click()
    await page.getByRole('table', { name: 'Requests' }).waitFor()
    expect(await page.getByRole('link', { name: /^Receipt of/ }).count()).toBe(3)
  })

  it('lists requests that lead to their receipts', async () => {
    const { page } = administrator
    await page.goto(address('&view=requests'))
    const links = page.getByRole('link', { name: /^Receipt of/ })
    await links.first().waitFor()
    expect(await links.count()).toBe(calls.length)
    expect(await links.first().getAttribute('href')).toBe(
      `/console/organisations/${organisation.id}/receipts/${requestIds.at(-1)}`,
    )
    await expectAccessible(page)
    await page.getByRole('combobox', { name: 'Ending' }).click()
    await page.getByRole('option', { name: 'All failures' }).click()
    await page.getByText('No call of these days passes the filters.').waitFor()
  })

  it('has no serious finding of axe in both colour schemes, and shows budget, errors and latency', async () => {
    const { page } = administrator
    await page.goto(address())
    await page.getByRole('heading', { name: 'Budget' }).waitFor()
    await page.getByRole('cell', { name: 'model_not_found' }).waitFor()
    await page.getByRole('table', { name: 'Latency by model' }).waitFor()
    await bars(page).first().waitFor()
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
    }
  })

  it('shows the frame before its data is there, and gives the browser little to lay out', async () => {
    const { page } = await stage.openAs({ email: 'usage@example.com' })
    const [session, report] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hold = (address: string | RegExp, until: Promise<void>) =>
      page.route(address, async (route) => {
        await until
        await route.continue()
      })
    await hold('**/api/me', session.promise)
    await hold(/\/api\/console\/organisations\/[^/]+\/usage/, report.promise)
    await page.clock.install()
    const asked = page.waitForRequest('**/api/me')
    await page.goto(address())
    await asked
    // A session that comes after the first placeholder.
    await page.clock.fastForward(2_000)
    session.resolve()
    await page.getByRole('link', { name: 'Developer Tools' }).waitFor()
    report.resolve()
    await bars(page).first().waitFor()
    expect(await page.locator('*').count()).toBeLessThan(2_000)
    // Choices of fields that are closed, what sorts a table in a narrow window, and a component for each cell, header and link.
    const needless =
      '[role="option"], #content select, :is(td, th > button, td button, nav nav a)[class*="mantine-" i][class*="-root"]'
    expect(await page.locator(needless).count()).toBe(0)
  })

  it('has the choices of a field where keys and screen readers look for them, and sorts tables in a narrow window', async () => {
    const { page } = administrator
    await page.goto(address())
    await page.getByRole('combobox', { name: 'Split by' }).focus()
    await page.keyboard.press('ArrowDown')
    await expectChosenOption(page.getByRole('combobox', { name: 'Split by' }))
    // A field that can be searched opens with the focus.
    await page.getByRole('combobox', { name: 'Model' }).focus()
    await page.getByRole('option', { name: 'beta' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await expectChosenOption(page.getByRole('combobox', { name: 'Model' }))
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 844 })
    const sort = page.getByRole('combobox', { name: 'Sort' }).first()
    const rows = page.getByRole('table', { name: 'Sums of the range' }).getByRole('row')
    for (const [label, first] of [
      ['Requests ↓', 'alpha'],
      ['Requests ↑', 'beta'],
    ] as const) {
      await sort.selectOption({ label })
      await expect.poll(() => rows.first().textContent()).toContain(first)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  it('leads from an empty report to the playground, in German on a narrow screen', async () => {
    const { page } = await stage.openAs(
      { email: 'leer@example.com', organisationId: empty.id, role: 'administrator' },
      { locale: 'de-DE', viewport: { width: 390, height: 844 } },
    )
    await page.goto(`${stage.url}/organisations/${empty.id}/usage`)
    await page.getByRole('link', { name: 'Playground öffnen' }).waitFor()
    expect(await page.getByRole('link', { name: 'Playground öffnen' }).getAttribute('href')).toContain('/playground')
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
  })

  it('deletes recorded tags after a confirmation', async () => {
    const { page } = administrator
    await page.goto(address('&split=user'))
    await page.getByRole('switch', { name: 'Record user and metadata of calls' }).click()
    // Calls follow the setting as soon as its change is answered.
    const answer = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await page.getByRole('button', { name: 'Stop and delete' }).click()
    expect((await (await answer).json()).recordUsageTags).toBe(false)
    await makeCall('carl@example.com', undefined, 'alpha', 0)
    const { body } = await stage.portico.operator(
      'GET',
      `/api/console/organisations/${organisation.id}/usage/requests?from=${day(1)}&tagKey=user&tagValue=carl@example.com`,
    )
    expect(body.items).toEqual([])
    expect(stage.problems).toEqual([])
  })
})
