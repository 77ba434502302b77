import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import type { TestOrganisation } from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

/** The markers of an answer whose text the test decides. */

const guide = 'Adults pay twelve euros.\n\nThe pond of the park holds forty herons.\n\nDogs are allowed on a lead.'
const prices = 'Item,Price\nPoster,24.90\nMug,8.50\n'
const answer = [
  'Adults pay twelve euros [1]. The pond holds forty herons [1], see `x[1]`.',
  '- Dogs are allowed on a lead [1]',
  '- The mug costs 8.50 [2], the poster costs 24.90 [2]',
].join('\n')

let upstream: Upstream
let stage: TestConsole
let organisation: TestOrganisation
let page: Page

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(() => scriptedTurn(answer))
  const provider = { id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us' }
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  stage = await startConsole({
    settings: {
      ollama: { detect: false },
      providers: [{ ...provider, models: 'declared' }],
      models: [{ id: 'large', maxOutputTokens: 1_000, contextTokens: 200_000, deployments }],
    },
  })
  organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  const person = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(person)).page
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})

describe.skipIf(!hasBrowser)(`a marker of an answer${skipReason}`, () => {
  it('opens only the quote that supports its sentence', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Guide', model: 'large' })
    for (const [name, content] of Object.entries({ 'guide.txt': guide, 'prices.csv': prices })) {
      await uploadReady(organisation, space.id, content, name)
    }
    await page.goto(`${stage.url}/organisations/${organisation.id}/spaces/${space.id}/chat`)
    await page.getByRole('textbox', { name: 'Question' }).fill('What do I have to know?')
    await page.keyboard.press('Enter')
    await page.getByText('Checked citations: 5 supported').waitFor()
    const quotes: string[][] = []
    const markers = page.getByRole('button', { name: /^Citation \d/ })
    await markers.nth(4).waitFor()
    for (const marker of await markers.all()) {
      await marker.click()
      quotes.push(await page.getByRole('dialog').locator('blockquote').allInnerTexts())
      if (quotes.length === 2) await expectAccessible(page)
      // On a busy machine the dialog has not taken the focus yet.
      await page.getByRole('dialog').press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    expect(quotes).toEqual([
      ['Adults pay twelve euros.'],
      ['The pond of the park holds forty herons.'],
      ['Dogs are allowed on a lead.'],
      ['Mug | 8.50'],
      ['Poster | 24.90'],
    ])
    expect(stage.problems).toEqual([])
  })
})
