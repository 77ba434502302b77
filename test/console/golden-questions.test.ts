import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

let stage: TestConsole
let organisation: TestOrganisation
let page: Page
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  const administrator = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(administrator)).page
})
afterAll(() => stage?.stop())

const addressOf = (space: TestSpace, part = '') =>
  `${stage.url}/organisations/${organisation.id}/spaces/${space.id}/golden-questions${part}`
const pathOf = ({ id }: TestSpace) => `/api/spaces/${id}/golden-questions`
const listOf = async (space: TestSpace) => expectStatus(await stage.portico.operator('GET', pathOf(space)), 200).items

async function upload(space: TestSpace, content: string, fileName: string): Promise<string> {
  return uploadReady(organisation, space.id, content, fileName)
}

describe.skipIf(!hasBrowser)(`golden questions${skipReason}`, () => {
  it('are not made from documents by the built-in model', async () => {
    await page.goto(addressOf(await stage.portico.createSpace(organisation, { name: 'Handbook' })))
    await page.getByRole('button', { name: 'From documents' }).click()
    const dialog = page.getByRole('dialog', { name: 'Questions from documents' })
    await dialog.getByText('The built-in model writes no questions.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Make questions' }).isDisabled()).toBe(true)
  })

  it('are added with a document and facts, changed and deleted', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Tickets' })
    await upload(space, 'A ticket costs 12 euros.', 'tickets.txt')
    await page.goto(addressOf(space))
    await page.getByText('No golden questions yet').waitFor()
    await expectAccessible(page)

    await page.getByRole('button', { name: 'Add question' }).click()
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('What does a ticket cost?')
    await page.getByPlaceholder('Search by name').fill('tick')
    await page.getByRole('option', { name: 'tickets.txt' }).click()
    await page.getByRole('textbox', { name: 'Expected facts, one per line' }).fill('12 euros\n\n')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row').filter({ hasText: 'What does a ticket cost?' })
    await row.getByText('tickets.txt').waitFor()
    await expectAccessible(page)
    expect(await listOf(space)).toMatchObject([
      {
        messages: [{ role: 'user', content: 'What does a ticket cost?' }],
        expectedDocuments: [{ name: 'tickets.txt', exists: true }],
        expectedFacts: ['12 euros'],
        mustAbstain: false,
      },
    ])

    await row.getByRole('button', { name: /^Edit/ }).click()
    await page.getByRole('button', { name: 'Add an earlier message' }).click()
    await page.getByRole('textbox', { name: 'Earlier message 1' }).fill('Hello')
    await page.getByRole('switch', { name: 'The files do not contain the answer' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Must not be answered').waitFor()
    const [changed] = await listOf(space)
    expect(changed).toMatchObject({ expectedDocuments: [], expectedFacts: [], mustAbstain: true })
    expect(changed.messages).toHaveLength(2)

    await row.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No golden questions yet').waitFor()
    expect(stage.problems).toEqual([])
  })

  it('are exported, and imported into another Space by the names of documents', async () => {
    const [from, to] = [
      await stage.portico.createSpace(organisation, { name: 'From' }),
      await stage.portico.createSpace(organisation, { name: 'To' }),
    ]
    for (const space of [from, to]) await upload(space, 'A boat costs 9 euros.', 'boats.txt')
    await upload(from, 'Only here.', 'elsewhere.txt')
    const add = (content: string, name: string) =>
      stage.portico.operator('POST', pathOf(from), {
        messages: [{ role: 'user', content }],
        expectedDocuments: [{ name }],
        expectedFacts: ['9 euros'],
      })
    expectStatus(await add('What does a boat cost?', 'boats.txt'), 201)
    expectStatus(await add('What is only here?', 'elsewhere.txt'), 201)
    await page.goto(addressOf(from))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export' }).click(),
    ])
    const buffer = await readFile(await download.path())

    await page.goto(addressOf(to))
    await page.getByRole('button', { name: 'Import' }).click()
    const input = page.locator('input[type=file]')
    await input.setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') })
    await page.getByText('The file has no golden questions.').waitFor()
    await input.setInputFiles({ name: 'golden-questions.json', mimeType: 'application/json', buffer })
    await page.getByText('1 question will be added').waitFor()
    const row = page.getByRole('dialog').getByRole('row').filter({ hasText: 'What is only here?' })
    await row.getByText('Expected documents, entry 1: the Space has no such document.').waitFor()
    await expectAccessible(page)
    expect(await listOf(to)).toEqual([])
    await page.getByRole('button', { name: 'Import the other question' }).click()
    await page.getByText('1 question added').waitFor()
    await page.getByText('1 question was not imported').waitFor()
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'What does a boat cost?' }).waitFor()
    expect(await listOf(to)).toMatchObject([{ expectedDocuments: [{ name: 'boats.txt' }] }])
    expect(stage.problems).toEqual([])
  })

  it('are imported from a CSV file, whose problems are shown before and can be corrected', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Spreadsheet' })
    const member = { email: 'import@example.com', organisationId: organisation.id, role: 'member' } as const
    const options = { locale: 'de-DE', viewport: { width: 390, height: 844 } } as const
    const { page: narrow } = await stage.openAs(member, options)
    await narrow.goto(addressOf(space))
    await narrow.getByRole('button', { name: 'Importieren' }).first().click()
    const input = narrow.locator('input[type=file]')
    const choose = (text: string) =>
      input.setInputFiles({ name: 'fragen.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await choose('question,answer\nWas?,Das')
    await narrow.getByText('Zeile 1: Die Spalte „answer“ ist unbekannt.').waitFor()
    const lines = [1, 2, 3].map((number) => `"Frage ${number}?","Fakt\n${'x'.repeat(number === 2 ? 501 : 10)}"`)
    await choose(['question;facts', ...lines].join('\n').replaceAll('","', '";"'))
    await narrow.getByText('2 Fragen werden hinzugefügt').waitFor()
    const row = narrow.getByRole('dialog').getByRole('row').filter({ hasText: 'Frage 2?' })
    await row.getByText('Erwartete Fakten, Eintrag 2: Höchstens 500 Zeichen.').waitFor()
    await row.getByText('Zeile 4', { exact: true }).waitFor()
    await narrow.getByRole('button', { name: 'Die anderen 2 Fragen importieren' }).waitFor()
    await expectNoSidewaysScroll(narrow)
    await expectAccessible(narrow)
    await choose(['question;facts', ...lines].join('\n').replaceAll('","', '";"').replace('x'.repeat(501), 'kurz'))
    await narrow.getByRole('button', { name: '3 Fragen importieren' }).click()
    await narrow.getByText('3 Fragen hinzugefügt').waitFor()
    await narrow.getByRole('row').filter({ hasText: 'Frage 3?' }).waitFor()
    expect(await listOf(space)).toMatchObject([1, 2, 3].map((n) => ({ messages: [{ content: `Frage ${n}?` }] })))
    expect(stage.problems).toEqual([])
  })

  it('are made of unanswered questions with one click', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Candidates' })
    await page.goto(addressOf(space, '/candidates'))
    await page.getByText('Unanswered questions are not kept').waitFor()
    await expectAccessible(page)
    const settings = { keepUnansweredQuestions: true }
    expectStatus(await stage.portico.operator('PATCH', `/api/spaces/${space.id}`, { settings }), 200)
    const messages = [{ role: 'user', content: 'Is there a cloakroom?' }]
    const answer = await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages })
    expectStatus(answer, 200)
    // Questions are written in batches, some seconds after the answer.
    const candidates = () => stage.portico.operator('GET', `${pathOf(space)}/candidates`)
    await expect.poll(async () => expectStatus(await candidates(), 200).items.length).toBe(1)
    await page.reload()
    const row = page.getByRole('row').filter({ hasText: 'Is there a cloakroom?' })
    await row.waitFor()
    await expectAccessible(page)
    await row.getByRole('button', { name: 'Add “Is there a cloakroom?”', exact: true }).click()
    await page.getByText('No candidates').waitFor()
    expect(await listOf(space)).toMatchObject([{ messages, mustAbstain: false }])
  })

  it('have a schedule, limits and a gate that only administrators change', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Settings' })
    await page.goto(addressOf(space, '/settings'))
    await page.getByLabel('Begin a run', { exact: true }).first().click()
    await page.getByRole('option', { name: 'Every week' }).click()
    await page.getByRole('textbox', { name: 'Cost limit per run' }).fill('2.5')
    await page.getByRole('switch', { name: 'Check a run before publishing' }).click()
    await page.getByRole('textbox', { name: 'Passed questions' }).fill('80')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Settings saved').waitFor()
    await page.getByText(/^Next run: /).waitFor()
    expect(expectStatus(await stage.portico.operator('GET', `${pathOf(space)}/settings`), 200)).toMatchObject({
      schedule: { every: 'week', weekday: 1, time: '02:30' },
      maximumCostUsd: 2.5,
      gate: { passedShare: 0.8 },
    })

    const member = { email: 'm@example.com', organisationId: organisation.id, role: 'member' } as const
    const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const { page: narrow } = await stage.openAs(member, options)
    await narrow.goto(addressOf(space, '/settings'))
    await narrow.getByText('Nur Administratoren dürfen diese Einstellungen ändern.').waitFor()
    expect(await narrow.getByRole('button', { name: 'Änderungen speichern' }).isDisabled()).toBe(true)
    expect(await narrow.getByRole('link', { name: 'Vorschläge' }).count()).toBe(0)
    await expectNoSidewaysScroll(narrow)
    await expectAccessible(narrow)
    await narrow.goto(addressOf(space))
    await narrow.getByText('Noch keine Prüffragen').waitFor()
    await expectNoSidewaysScroll(narrow)
    await expectAccessible(narrow)
    expect(stage.problems).toEqual([])
  })

  it('run with live progress and a history, and keep a Space from being published', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Gate' })
    await upload(space, 'A ticket costs 12 euros.', 'tickets.txt')
    await upload(space, 'The garden opens in spring.', 'garden.txt')
    const add = async (content: string, name: string, fact: string) => {
      const question = { messages: [{ role: 'user', content }], expectedDocuments: [{ name }], expectedFacts: [fact] }
      expectStatus(await stage.portico.operator('POST', pathOf(space), question), 201)
    }
    await add('What does a ticket cost?', 'tickets.txt', '12 euros')
    await add('When does the garden open?', 'garden.txt', 'in autumn')
    expectStatus(await stage.portico.operator('PATCH', `${pathOf(space)}/settings`, { gate: { passedShare: 1 } }), 200)

    await page.goto(addressOf(space, '/runs'))
    await page.getByText('No runs yet').waitFor()
    await expectAccessible(page)
    for (const count of [1, 2]) {
      await page.getByRole('button', { name: 'Run now' }).click()
      await expect.poll(() => page.getByText('Completed').count(), { timeout: 60_000 }).toBe(count)
    }
    await page.getByRole('figure', { name: 'Measures of the runs' }).locator('svg').first().waitFor()
    await expectAccessible(page)

    await page.getByRole('table').getByRole('link').first().click()
    const row = page.getByRole('row').filter({ hasText: 'When does the garden open?' })
    await row.getByText('in autumn').waitFor()
    await row.getByText('Not passed').waitFor()
    await expectAccessible(page)
    await row.getByRole('button').click()
    await page.getByRole('dialog').getByText('The garden opens in spring.').first().waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Which results are shown' }).getByText('Not passed').click()
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'What does a ticket' }).count()).toBe(0)

    expectStatus(await stage.portico.operator('POST', `/api/spaces/${space.id}/unpublish`), 200)
    await page.goto(`${stage.url}/organisations/${organisation.id}/published-spaces/${space.id}`)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('heading', { name: 'The golden questions did not pass' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('textbox', { name: 'Reason to publish anyway' }).fill('The garden page is being rewritten.')
    await page.getByRole('button', { name: 'Publish anyway' }).click()
    await page.getByText('The Space is published').waitFor()
    expect(stage.problems).toEqual([])
  })
})
