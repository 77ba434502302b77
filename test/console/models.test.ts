import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import { chatAnswer, errorAnswer } from '../upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'
import {
  countRequests,
  expectAccessible,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** The operator's pages for providers, deployments and models, one step after another as an operator takes them. */

const rightKey = 'sk-right-0123456789abcdefghij'
const listing = { object: 'list', data: [{ id: 'llama-3.3' }, { id: 'bge-m3' }] }

let upstream: Upstream
let stage: TestConsole
let organisation: TestOrganisation
let page: Page

/** An OpenAI-compatible host that checks the key. */
function answer({ headers, path }: UpstreamRequest): UpstreamReply {
  if (headers.authorization !== `Bearer ${rightKey}`)
    return errorAnswer(401, { message: 'Incorrect API key provided.', code: 'invalid_api_key' })
  if (!path.endsWith('/models')) return chatAnswer('Hello.')
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(listing) }
}

const complete = () =>
  organisation.client('POST', '/v1/gateway/chat/completions', {
    model: 'eu/llama-3.3',
    messages: [{ role: 'user', content: 'Hello' }],
  })
const row = (name: string) => page.getByRole('row').filter({ hasText: name })
const drawer = () => page.getByRole('dialog')

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(answer)
  stage = await startConsole({ environment: { OPENAI_API_KEY: 'sk-of-the-environment-0123456789' } })
  organisation = await stage.portico.createOrganisation()
  ;({ page } = await stage.openAs({ email: 'operator@example.com' }))
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})

describe.skipIf(!hasBrowser)(`the pages for providers, deployments and models${skipReason}`, () => {
  it('add a provider, with errors at the fields, and test a wrong and a right key', async () => {
    const requests = await countRequests(page, async () => {
      await page.goto(`${stage.url}/operator/providers`)
      await row('openai').getByText('Environment').waitFor()
    })
    expect(requests.filter((path) => path.startsWith('/api/console/'))).toEqual(['/api/console/providers'])
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Add provider' }).click()
    await expectAccessible(page)
    await drawer().getByRole('button', { name: 'Another server or more settings' }).click()
    const submit = drawer().getByRole('button', { name: 'Add provider' })
    await submit.click()
    // The id and the address: a host without a preset has none.
    expect(await drawer().getByText('Enter a value.').count()).toBe(2)
    await drawer().getByRole('textbox', { name: 'Id' }).fill('East Host')
    await drawer().getByRole('textbox', { name: 'Base URL' }).fill(`${upstream.url}/v1`)
    await drawer().getByLabel('API key').first().fill('sk-wrong-0123456789')
    await drawer().getByRole('combobox', { name: 'Hosting' }).fill('europe')
    await submit.click()
    await drawer().getByText('at most 63').waitFor()
    await expectAccessible(page)
    await drawer().getByRole('textbox', { name: 'Id' }).fill('east')
    await submit.click()
    // The answer of the API, at the field that it concerns.
    await drawer().getByText('use exactly eu for the European Union').waitFor()
    await drawer().getByRole('combobox', { name: 'Hosting' }).fill('eu')
    await submit.click()

    await drawer().getByRole('button', { name: 'Test now' }).click()
    await drawer().getByText('The key was rejected').waitFor()
    expect(await drawer().innerText()).not.toContain('sk-wrong')
    await expectAccessible(page)

    await drawer().getByRole('button', { name: 'Edit' }).click()
    await drawer().getByText('A value is stored.').waitFor()
    await drawer().getByLabel('API key').first().fill(rightKey)
    await drawer().getByRole('button', { name: 'Save' }).click()
    await drawer().getByRole('button', { name: 'Test now' }).click()
    await drawer().getByText('2 models').waitFor()
  })

  it('list the models of the provider, and make one of them callable with a price from today', async () => {
    await drawer().getByRole('button', { name: 'List models' }).click()
    await drawer().getByRole('checkbox', { name: 'llama-3.3' }).check()
    const prices = row('llama-3.3')
    await prices.getByLabel('Input').fill('0.5')
    await prices.getByLabel('Output').fill('1.5')
    await drawer().getByRole('button', { name: 'Add 1 model' }).click()
    await row('llama-3.3').getByText('Added', { exact: true }).waitFor()
    await drawer().getByRole('button', { name: 'Test now' }).click()
    await drawer().getByText('A model answers').waitFor()
    await expect.poll(() => drawer().getByText('passed').count()).toBe(4)
    expectStatus(await complete(), 200)
    expect(stage.problems).toEqual([])
  })

  it('show the request of an organisation, and the circuit when it opens, without a reload', async () => {
    await page.goto(`${stage.url}/operator/deployments?search=east`)
    await row('east/llama-3.3').getByText('Serving').waitFor()
    expect(await row('east/llama-3.3').getByRole('img').getAttribute('aria-label')).toContain('1 requests')
    await expectAccessible(page)
    upstream.script(() => errorAnswer(500, { message: `Failure with ${rightKey}` }))
    for (let count = 0; count < 12; count++) await complete()
    await row('east/llama-3.3').getByText('Circuit open').waitFor()
    await row('east/llama-3.3').getByText('Next try').waitFor()

    await page.getByRole('button', { name: 'east/llama-3.3' }).click()
    await drawer()
      .getByText(/Last error/)
      .waitFor()
    expect(await drawer().innerText()).toContain('server_error · 500 · Failure with [secret]')
    await expectAccessible(page)
    upstream.script(answer)
    await drawer().getByLabel('Weight').fill('0')
    await drawer().getByRole('button', { name: 'Save' }).click()
    await drawer().getByText('The weight must be above 0.').waitFor()
    await drawer().getByRole('switch', { name: 'Enabled' }).click({ force: true })
    await drawer().getByRole('switch', { name: 'Disabled' }).waitFor()
    expect((await complete()).status).toBe(404)
    await drawer().getByRole('switch', { name: 'Disabled' }).click({ force: true })
    await drawer().getByRole('switch', { name: 'Enabled' }).waitFor()
  })

  it('show both values of a weight that two operators changed, and keep the chosen one', async () => {
    const deployment = '/api/deployments/east%2Fllama-3.3'
    await drawer().getByLabel('Weight').fill('3')
    expectStatus(await stage.portico.operator('PATCH', deployment, { weight: 7 }), 200)
    await drawer().getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog').filter({ hasText: 'Save mine' })
    for (const value of ['3', '7']) await conflict.getByRole('cell', { name: value, exact: true }).waitFor()
    await expectAccessible(page)
    await conflict.getByRole('button', { name: 'Save mine' }).click()
    await conflict.waitFor({ state: 'detached' })
    await expect.poll(async () => (await stage.portico.operator('GET', deployment)).body.weight).toBe(3)
  })

  it('join the changes that two operators make of different fields of a provider', async () => {
    await page.goto(`${stage.url}/operator/providers?open=east`)
    await drawer().getByRole('button', { name: 'Edit' }).click()
    await drawer().getByText('A value is stored.').waitFor()
    await drawer().getByRole('combobox', { name: 'Hosting' }).fill('us')
    expectStatus(await stage.portico.operator('PATCH', '/api/providers/east', { models: 'declared' }), 200)
    await drawer().getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(async () => (await stage.portico.operator('GET', '/api/providers/east')).body)
      .toMatchObject({ hosting: 'us', models: 'declared', apiKeyLastFour: rightKey.slice(-4) })
    expectStatus(await stage.portico.operator('PATCH', '/api/providers/east', { hosting: 'eu' }), 200)
  })

  it('ask which key of a provider stays when two operators replace it', async () => {
    await drawer().getByRole('button', { name: 'Edit' }).click()
    await drawer().getByText('A value is stored.').waitFor()
    await drawer().getByLabel('API key').first().fill(rightKey)
    const theirs = 'sk-of-another-operator-7777'
    expectStatus(await stage.portico.operator('PATCH', '/api/providers/east', { apiKey: theirs }), 200)
    await drawer().getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('dialog').filter({ hasText: 'Save mine' })
    for (const end of [rightKey.slice(-4), '7777'])
      await conflict.getByRole('cell', { name: `••••${end}`, exact: true }).waitFor()
    const lastFour = async () => (await stage.portico.operator('GET', '/api/providers/east')).body.apiKeyLastFour
    expect(await lastFour()).toBe('7777')
    await conflict.getByRole('button', { name: 'Save mine' }).click()
    await expect.poll(lastFour).toBe(rightKey.slice(-4))
  })

  it('show a future price in the timeline with the cost of a typical call, and take it back', async () => {
    await page.goto(`${stage.url}/operator/models?search=llama-3.3&availability=eu`)
    await row('llama-3.3').getByText('$0.50').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'llama-3.3', exact: true }).click()
    await page.getByRole('button', { name: 'Add price' }).click()
    await drawer().getByRole('textbox', { name: 'Input', exact: true }).fill('1,0')
    await drawer().getByRole('textbox', { name: 'Output', exact: true }).fill('one')
    await drawer().getByRole('switch', { name: 'Valid from a later date' }).check()
    await drawer().getByRole('button', { name: 'Add price' }).click()
    await drawer().getByText('Enter a decimal such as 0.15').waitFor()
    await drawer().getByText('Choose a time in the future.').waitFor()
    await drawer().getByRole('textbox', { name: 'Output', exact: true }).fill('3')
    // 2,000 and 500 tokens: from 0.00175 to 0.0035 dollars.
    await drawer().getByText('+100%').waitFor()
    await expectAccessible(page)
    await drawer().locator('input[type=datetime-local]').fill('2040-01-02T03:04')
    await drawer().getByRole('button', { name: 'Add price' }).click()
    await row('Future').getByText('$1.00').waitFor()
    await row('In force').getByText('$0.50').waitFor()
    await expectAccessible(page)
    await row('Future').getByRole('button', { name: 'Delete this price' }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await row('Future').waitFor({ state: 'detached' })
    expect(stage.problems).toEqual([])
  })

  it.each([
    ['providers', 'No provider matches'],
    ['deployments', 'No deployment matches'],
    ['models?availability=not_callable&kind=rerank', 'No model matches'],
  ])('lead from an empty list of %s back to the whole one', async (path, title) => {
    await page.goto(`${stage.url}/operator/${path}`)
    if (!path.includes('?')) await page.getByRole('searchbox').or(page.getByRole('textbox')).first().fill('zzz')
    await page.getByRole('heading', { name: title }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('heading', { name: title }).waitFor({ state: 'detached' })
    expect(await page.getByRole('row').count()).toBeGreaterThan(1)
  })
})
