import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatAnswer, errorAnswer } from '../upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamReply, type UpstreamRequest } from '../upstream/upstream.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** An operator adds a provider from the list of presets. */

const rightKey = 'sk-right-0123456789abcdefghij'
const listing = { object: 'list', data: [{ id: 'gpt-5-mini' }, { id: 'gpt-5' }, { id: 'without-a-price' }] }

let upstream: Upstream
let stage: TestConsole

function answer({ headers, path }: UpstreamRequest): UpstreamReply {
  if (headers.authorization !== `Bearer ${rightKey}`)
    return errorAnswer(401, { message: 'Incorrect API key provided.', code: 'invalid_api_key' })
  if (!path.endsWith('/models')) return chatAnswer('Hello.')
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(listing) }
}

/** The presets have the addresses of companies; the server calls the test's upstream instead. */
async function redirectPresets(page: Page): Promise<void> {
  for (const path of ['**/api/providers/probe', '**/api/providers/openai'])
    await page.route(path, (route) => {
      const body = route.request().postDataJSON() as object | null
      if (body === null) return route.continue()
      return route.continue({ postData: JSON.stringify({ ...body, baseUrl: `${upstream.url}/v1` }) })
    })
}

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(answer)
  stage = await startConsole()
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})

describe.skipIf(!hasBrowser)(`adding a provider${skipReason}`, () => {
  it('tests the key before it stores anything, and offers only chosen models with a price', async () => {
    const { page } = await stage.openAs({ email: 'operator@example.com' })
    await redirectPresets(page)
    const drawer = page.getByRole('dialog')
    await page.goto(`${stage.url}/operator/providers`)
    await page.getByRole('button', { name: 'Add provider' }).click()
    await drawer.getByRole('textbox', { name: 'Search providers' }).fill('openai')
    await drawer.getByRole('button', { name: 'OpenAI', exact: true }).click()
    await drawer.getByRole('button', { name: 'Test the connection' }).click()
    await drawer.getByText('Enter a value.').waitFor()

    await drawer.getByLabel('API key').first().fill('sk-wrong-0123456789')
    await drawer.getByRole('button', { name: 'Test the connection' }).click()
    await drawer.getByText('The key was rejected').waitFor()
    expect(await drawer.getByRole('button', { name: 'Add provider' }).count()).toBe(0)
    expect((await stage.portico.operator('GET', '/api/providers/openai')).status).toBe(404)

    await drawer.getByLabel('API key').first().fill(rightKey)
    await drawer.getByRole('button', { name: 'Test the connection' }).click()
    await drawer.getByText('2 of 3 listed models have a price').waitFor()
    expect(await drawer.getByText('without-a-price').count()).toBe(0)
    await expectAccessible(page)
    await drawer.getByRole('checkbox', { name: 'gpt-5-mini' }).check()
    await drawer.getByRole('button', { name: 'Add provider with 1 model' }).click()
    await drawer.getByRole('button', { name: 'Test now' }).click()
    await drawer.getByText('A model answers').waitFor()

    const { body } = await stage.portico.operator('GET', '/api/deployments')
    const served = body.data.filter(({ provider }: { provider: string }) => provider === 'openai')
    expect(served.map(({ model }: { model: string }) => model)).toEqual(['gpt-5-mini'])
    expect(stage.problems).toEqual([])
  })

  it('does not replace a provider that exists, and fits a phone in the dark', async () => {
    const window = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }
    const { page } = await stage.openAs({ email: 'operator@example.com' }, window)
    const drawer = page.getByRole('dialog')
    await page.goto(`${stage.url}/operator/providers`)
    await page.getByRole('button', { name: 'Add provider' }).click()
    await expectAccessible(page)
    await drawer.getByRole('button', { name: 'OpenAI', exact: true }).click()
    expect(await drawer.getByRole('textbox', { name: 'Id' }).inputValue()).toBe('openai-2')
    await drawer.getByRole('textbox', { name: 'Id' }).fill('openai')
    await drawer.getByLabel('API key').first().fill(rightKey)
    await drawer.getByRole('button', { name: 'Test the connection' }).click()
    await drawer.getByText('A provider has this id.').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  })
})
