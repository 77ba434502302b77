import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** Runs of golden questions with a model whose answers the tests decide. */

let upstream: Upstream
let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
/** Answers to questions that contain a text; the others are answered with "Yes." */
let answers: Record<string, string | Promise<string>> = {}

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(async ({ body }) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const found = Object.entries(answers).find(([part]) => messages.at(-1)!.content.includes(part))
    return scriptedTurn(await (found?.[1] ?? 'Yes.'))
  })
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
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})
beforeEach(async () => {
  if (!hasBrowser) return
  answers = {}
  space = await stage.portico.createSpace(organisation, { name: 'Tickets', model: 'large' })
  for (const [content, fact] of [
    ['What does a ticket cost?', '12 euros'],
    ['When is it open?', 'Yes'],
  ]) {
    const question = { messages: [{ role: 'user', content }], expectedFacts: [fact] }
    expectStatus(await stage.portico.operator('POST', `/api/spaces/${space.id}/golden-questions`, question), 201)
  }
})

const address = () => `${stage.url}/organisations/${organisation.id}/spaces/${space.id}/golden-questions/runs`
const runsOf = async () =>
  expectStatus(await stage.portico.operator('GET', `/api/spaces/${space.id}/golden-runs`), 200).items
const administrator = () =>
  ({ email: 'a@example.com', organisationId: organisation.id, role: 'administrator' }) as const

async function completeRun(page: Page, name: string, count: number) {
  await page.getByRole('button', { name }).click()
  const completed = async () => (await runsOf()).filter(({ state }: { state: string }) => state === 'completed').length
  await expect.poll(completed, { timeout: 60_000 }).toBe(count)
}

async function upload(content: string, fileName: string) {
  await uploadReady(organisation, space.id, content, fileName)
}

describe.skipIf(!hasBrowser)(`golden questions from documents${skipReason}`, () => {
  it('are written by the model of the Space, and count once they are reviewed', async () => {
    await upload('Parental leave lasts three years.', 'leave.txt')
    await upload('The company bicycle is blue.', 'bicycle.txt')
    answers = {
      years: JSON.stringify({ question: 'How long is it?', facts: ['three years', 'four years'] }),
      blue: JSON.stringify({ question: 'Which colour has the bicycle?', facts: ['blue'] }),
    }
    const path = `/api/spaces/${space.id}/golden-questions`
    const listNew = async () => expectStatus(await stage.portico.operator('GET', path), 200).items.slice(2)
    const { page } = await stage.openAs(administrator())
    await page.goto(`${stage.url}/organisations/${organisation.id}/spaces/${space.id}/golden-questions`)
    await page.getByRole('button', { name: 'From documents' }).click()
    const dialog = page.getByRole('dialog', { name: 'Questions from documents' })
    await dialog.getByText('large writes them; about').waitFor()
    await dialog.getByRole('button', { name: 'Make questions' }).click()
    const leave = dialog.getByRole('article', { name: 'How long is it?' })
    await leave.getByText('leave.txt: Parental leave lasts three years.').waitFor()
    expect(await leave.getByText('four years').count()).toBe(0)
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    expect(await listNew()).toEqual([])

    await dialog.getByRole('article', { name: 'Which colour' }).getByRole('button', { name: 'Add' }).click()
    await expect
      .poll(listNew)
      .toMatchObject([{ expectedDocuments: [{ name: 'bicycle.txt' }], expectedFacts: ['blue'] }])
    await leave.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('How long is parental leave?')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await listNew()).length).toBe(2)
    expect(JSON.stringify(await listNew())).toContain('How long is parental leave?')
    await expect.poll(() => dialog.getByRole('article').count()).toBe(0)
  })
})

describe.skipIf(!hasBrowser)(`runs of golden questions${skipReason}`, () => {
  it('are cancelled while the model answers, and keep the results that they have', async () => {
    const held = Promise.withResolvers<string>()
    answers = { open: held.promise }
    const { page } = await stage.openAs(administrator())
    await page.goto(address())
    await page.getByRole('button', { name: 'Run now' }).click()
    const progress = page.getByRole('region', { name: 'The current run' })
    await progress.getByText('1 of 2 questions').waitFor()
    await expectAccessible(page)
    await progress.getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByText('The run is cancelled').waitFor()
    await progress.waitFor({ state: 'detached' })
    await page.getByRole('table').getByText('Cancelled').waitFor()
    await page.getByRole('table').getByRole('link').first().click()
    await page.getByRole('row').filter({ hasText: 'When is it open?' }).getByText('Skipped').waitFor()
    await expectAccessible(page)
    held.resolve('Yes.')
    expect(await runsOf()).toMatchObject([{ state: 'cancelled', questions: { total: 2, pending: 0 } }])
    expect(stage.problems).toEqual([])
  })

  it('show in a notice and in their results what got worse, until it passes again', async () => {
    answers = { ticket: 'A ticket costs 12 euros.' }
    const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const { page } = await stage.openAs(administrator(), options)
    await page.goto(address())
    await completeRun(page, 'Jetzt ausführen', 1)

    const held = Promise.withResolvers<string>()
    answers = { ticket: held.promise }
    await page.getByRole('button', { name: 'Jetzt ausführen' }).click()
    await page.getByText('von 2 Fragen').waitFor()
    // Schedules begin at a full minute at the earliest.
    await stage.portico.service.control.execute(
      `UPDATE golden_runs SET run_trigger = 'schedule' WHERE space_id = $1 AND state <> 'completed'`,
      [space.id],
    )
    held.resolve('A ticket costs 13 euros.')
    const notice = page.getByRole('alert').filter({ hasText: '1 Frage ist schlechter geworden' })
    await notice.waitFor({ timeout: 60_000 })
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await notice.getByRole('link', { name: 'Antworten ansehen' }).click()
    const row = page.getByRole('row').filter({ hasText: 'What does a ticket cost?' })
    await row.getByText('schlechter als im letzten Lauf').waitFor()
    await row.getByText('Nicht bestanden').waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'When is it open?' }).count()).toBe(0)
    await page.getByText('Verglichen mit dem Lauf davor: 1 schlechter, 0 besser.').waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)

    answers = { ticket: 'A ticket costs 12 euros.' }
    await page.goto(address())
    await completeRun(page, 'Jetzt ausführen', 3)
    await notice.waitFor({ state: 'detached' })
    expect(stage.problems).toEqual([])
  })
})
