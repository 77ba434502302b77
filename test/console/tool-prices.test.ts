import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

/** Tools that a provider runs: their uses on a receipt, and their prices on the operator's page. */

const model = 'searching'
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  output: ['rain', 'sun'].map((query, index) => ({
    type: 'web_search_call',
    id: `ws_${index}`,
    status: 'completed',
    action: { type: 'search', query },
  })),
  usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
}

let upstream: Upstream
let stage: TestConsole
let organisation: TestOrganisation

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(() => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(response),
  }))
  const prices = { ...stagePrices, perThousandUses: { web_search: '10' } }
  stage = await startConsole({
    settings: {
      ollama: { detect: false },
      providers: [
        {
          id: 'host',
          flavour: 'openai',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'key',
          hosting: 'us',
          models: 'declared',
        },
      ],
      models: [{ id: model, contextTokens: 8_000, deployments: [{ provider: 'host', wireId: 'gpt-4.1', prices }] }],
    },
  })
  organisation = await stage.portico.createOrganisation()
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})

const openAs = async (who: Parameters<TestConsole['openAs']>[0]): Promise<Page> => (await stage.openAs(who)).page

describe.skipIf(!hasBrowser)(`tools that a provider runs${skipReason}`, () => {
  it('are lines of a receipt, with their uses and prices', async () => {
    const tools = [{ type: 'web_search' }]
    const answer = await organisation.client('POST', '/v2/gateway/responses', { model, input: 'Weather?', tools })
    expectStatus(answer, 200)
    const page = await openAs({ email: 'ada@example.org', organisationId: organisation.id, role: 'administrator' })
    const id = answer.headers.get('x-request-id')
    await page.goto(`${stage.url}/organisations/${organisation.id}/receipts/${id}`)
    const row = page.getByRole('row').filter({ hasText: 'Web search' })
    await row.getByText('2 uses').waitFor()
    await row.getByText('$0.01 per use').waitFor()
    await row.getByText('$0.02').waitFor()
    await expectAccessible(page)
    expect(stage.problems).toEqual([])
  })

  it('keep their prices in a new price, unless the operator changes them', async () => {
    const page = await openAs({ email: 'operator@example.com' })
    await page.goto(`${stage.url}/operator/models/${model}`)
    await page.getByText(/Web search: .*\$10\.00 per 1,000/).waitFor()
    await page.getByRole('button', { name: 'Add price' }).click()
    const dialog = page.getByRole('dialog')
    const price = dialog.getByRole('textbox', { name: 'Web search' })
    expect(await price.inputValue()).toBe('10')
    // Other tools of the model have no price yet.
    expect(await dialog.getByRole('textbox', { name: 'Code execution' }).inputValue()).toBe('')
    await price.fill('ten')
    await dialog.getByRole('button', { name: 'Add price' }).click()
    await dialog.getByText('Enter a decimal such as 0.15').waitFor()
    await price.fill('12,5')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Add price' }).click()
    await page.getByText(/Web search: .*\$12\.50 per 1,000/).waitFor()
    expect(stage.problems).toEqual([])
  })
})
