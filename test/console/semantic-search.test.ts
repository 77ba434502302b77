import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOnnxRuntimeInstalled } from '../../src/documents/retrieval/index.ts'
import { type MeaningHost, startMeaningHost } from '../harness/meaning-host.ts'
import { type ModelHub, sendHalf, startModelHub, tinyModel } from '../harness/model-hub.ts'
import { uploadReady } from '../harness/museum.ts'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** An operator switches search by meaning on, sees the progress, and switches it off. */

let host: MeaningHost
let hub: ModelHub
let stage: TestConsole
let page: Page
let poor: TestOrganisation

beforeAll(async () => {
  if (!hasBrowser) return
  host = await startMeaningHost()
  hub = await startModelHub()
  stage = await startConsole({ settings: host.settings, localModelSource: { model: tinyModel, hubUrl: hub.url } })
  await upload(await stage.portico.createOrganisation({ name: 'Buyer' }), 'A physician is on duty.')
  poor = await stage.portico.createOrganisation({ name: 'No budget', monthlyBudgetUsd: '0' })
  await upload(poor, 'The hound sleeps.')
  ;({ page } = await stage.openAs({ email: 'operator@example.com' }))
})
afterAll(async () => {
  await stage?.stop()
  await host?.stop()
  hub?.close()
})

async function upload(organisation: TestOrganisation, text: string) {
  const { id: spaceId } = await stage.portico.createSpace(organisation)
  await uploadReady(organisation, spaceId, text, 'file.txt')
}

describe.skipIf(!hasBrowser)(`search by meaning in the console${skipReason}`, () => {
  it('is found on the page Models, and shows what a model costs and where the texts go', async () => {
    await page.goto(`${stage.url}/operator/models`)
    await page.getByRole('link', { name: 'Search by meaning' }).click()
    await page.getByRole('heading', { level: 1, name: 'Search by meaning' }).waitFor()
    const requests = await countRequests(page, () => page.reload())
    expect(requests.toSorted()).toEqual(['/api/me', '/api/semantic-search'])
    await page.getByText(/^2 documents are stored, about \d+ tokens\.$/).waitFor()
    const row = page.getByRole('row', { name: /embedder/ })
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      'embedder\n\np',
      'us (not only the EU)',
      'US$2.00',
      expect.stringMatching(/^US\$0\.0000\d+$/),
      'Use',
    ])
    expect(await page.getByLabel('Command').inputValue()).toBe('bin/portico embedder install')
    await expectAccessible(page)
  })

  it('is switched on with one click, and shows the progress and whose documents wait', async () => {
    const gate = Promise.withResolvers<void>()
    host.gate = gate.promise
    await page.getByRole('button', { name: 'Use embedder' }).click()
    await page.getByText('0 of 2 documents').waitFor()
    gate.resolve()
    await page.getByText('1 of 2 documents').waitFor()
    await page.getByText('Affected: No budget.').waitFor()
    await expectAccessible(page)
  })

  it('continues when the organisation has a budget, without a restart', async () => {
    const path = `/api/organisations/${poor.id}`
    expectStatus(await stage.portico.operator('PATCH', path, { monthlyBudgetUsd: '5' }), 200)
    await page.getByRole('button', { name: 'Try again now' }).click()
    await page.getByRole('main').getByText('On', { exact: true }).waitFor()
    expect(await page.getByText('Documents wait').count()).toBe(0)
  })

  it('is switched off again, and fits a narrow window in German', async () => {
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('main').getByText('Off', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Use embedder' }).waitFor()
    const narrow = await stage.openAs(
      { email: 'operator@example.com' },
      { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    )
    await narrow.page.goto(`${stage.url}/operator/semantic-search`)
    await narrow.page.getByText('Modelle Ihrer Anbieter').waitFor()
    await expectAccessible(narrow.page)
    await expectNoSidewaysScroll(narrow.page)
    expect(stage.problems).toEqual([])
  })

  it('installs the local model with progress, and shows what remains to be done', async () => {
    hub.intercept = sendHalf
    const section = page.getByRole('region', { name: 'A local model without a provider' })
    await section.getByRole('button', { name: 'Install' }).click()
    await section.getByText(/^200 kB of 400 kB, on /).waitFor()
    await expectAccessible(page)
    await section.getByRole('button', { name: 'Stop' }).click()
    await section.getByText('Stopped', { exact: true }).waitFor()
    hub.intercept = (_request, response) => Boolean(response.writeHead(503).end())
    await section.getByRole('button', { name: 'Continue' }).click()
    await section.getByText(`the hub returned 503 for ${hub.url}`).waitFor()
    await expectAccessible(page)
    hub.intercept = () => false
    await section.getByRole('button', { name: 'Continue' }).click()
    await section.getByText('The model is installed').waitFor()
    const next = isOnnxRuntimeInstalled()
      ? section.getByRole('button', { name: 'Use test/tiny' })
      : section.getByLabel('Run this in the folder of Portico, then open this page again')
    await next.waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    expect(stage.problems.filter((problem) => !problem.includes('503'))).toEqual([])
  })
})
