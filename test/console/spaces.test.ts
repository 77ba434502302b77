import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTextPdf } from '../../src/documents/ingestion/testing/build-documents.ts'
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
let base: string
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  const administrator = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(administrator)).page
  base = `${stage.url}/organisations/${organisation.id}`
})
afterAll(() => stage?.stop())

async function upload(space: TestSpace, content: string | Uint8Array, fileName: string) {
  const id = await uploadReady(organisation, space.id, content, fileName)
  return id as string
}

/** Runs a TypeScript program and returns what it prints. */
async function run(code: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-snippet-'))
  try {
    await writeFile(path.join(folder, 'snippet.mts'), code)
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, 'snippet.mts')])
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe.skipIf(!hasBrowser)(`Spaces${skipReason}`, () => {
  it('are created, instructed and published; the snippet works until they are unpublished', async () => {
    await page.goto(`${base}/spaces`)
    await page.getByText('No Spaces yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create Space' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Visitor handbook')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Be brief.')
    await page.getByText('9 of 50,000 characters').waitFor()
    await page.getByRole('textbox', { name: 'Maximum passages' }).fill('7')
    await page.getByRole('textbox', { name: 'Spending limit of tools' }).fill('0.25')

    // Unsaved changes are not lost by a click on a link.
    await page.getByRole('link', { name: 'Published Spaces' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Settings saved').waitFor()
    await expectAccessible(page)
    const { items } = expectStatus(await stage.portico.operator('GET', '/api/spaces?search=Visitor'), 200)
    expect(items[0]).toMatchObject({
      instructions: 'Be brief.',
      settings: { maximumPassages: 7, maximumToolCostUsd: 0.25 },
      published: false,
    })
    await upload(items[0], 'A ticket costs 12 euros.', 'tickets.txt')

    await page.getByRole('link', { name: 'Published Spaces' }).click()
    await page.getByRole('table').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Visitor handbook' }).click()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('tab', { name: 'TypeScript' }).click()
    await expectAccessible(page)
    const shown = await page.getByRole('tabpanel', { name: 'TypeScript' }).locator('pre').innerText()
    const assistants = page.getByRole('tabpanel', { name: 'Claude Code' })
    expect(await assistants.innerText()).toMatch(/http:\S+\/v2\/endpoints\/[\w-]{36}\/mcp /)
    const snippet = shown.replace('YOUR_API_KEY', organisation.apiKey)
    const printed = await run(snippet)
    expect(printed).toContain('A ticket costs 12 euros. [1]')
    expect(printed).toContain('tickets.txt')
    await page.getByRole('checkbox', { name: 'streaming: true' }).click()
    const whole = (await page.getByRole('tabpanel', { name: 'TypeScript' }).locator('pre').innerText()).replace(
      'YOUR_API_KEY',
      organisation.apiKey,
    )
    expect(await run(whole)).toContain('A ticket costs 12 euros. [1]')

    await page.getByRole('button', { name: 'Unpublish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unpublish' }).click()
    await page.getByText('This Space is not published', { exact: true }).waitFor()
    await expect(run(snippet)).rejects.toThrow('There is no published Space at this endpoint')
    expect(stage.problems).toEqual([])
  })

  it('are deleted after their name was typed', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Old Space' })
    await page.goto(`${base}/spaces/${space.id}/settings`)
    await page.getByRole('button', { name: 'Delete Space' }).click()
    const submit = page.getByRole('button', { name: 'Delete for good' })
    expect(await submit.isDisabled()).toBe(true)
    await page.getByRole('textbox', { name: /^Type/ }).fill('Old Space')
    await submit.click()
    await page.waitForURL(/\/spaces$/)
    expect((await stage.portico.operator('GET', `/api/spaces/${space.id}`)).status).toBe(404)
    expect(stage.problems).toEqual([])
  })
})

describe.skipIf(!hasBrowser)(`the chat of a Space${skipReason}`, () => {
  const ask = async (question: string) => {
    await page.getByRole('textbox', { name: 'Question' }).fill(question)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Send' }).waitFor()
  }

  it('streams an answer with citations that lead to the passage, its page and its quote', async () => {
    const settings = { wholeSpaceTokens: 0 }
    const space = await stage.portico.createSpace(organisation, { name: 'Garden', settings })
    await page.goto(`${base}/spaces/${space.id}/chat`)
    await page.getByText('This Space has no documents yet').waitFor()
    const text = (line: string) => ({ texts: [{ text: line, x: 72, y: 700 }] })
    const pdf = buildTextPdf([text('The gardens open in spring.'), text('The pond of the park holds forty herons.')])
    const documentId = await upload(space, pdf, 'garden.pdf')
    await page.reload()
    await ask('How many herons does the pond hold?')
    await page.getByRole('button', { name: 'Citation 1: garden.pdf' }).last().click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.locator('blockquote').innerText()).toBe('The pond of the park holds forty herons.')
    await expectAccessible(page)
    const link = new URL((await dialog.getByRole('link').getAttribute('href'))!, stage.url)
    expect(link.pathname).toBe(`/console/organisations/${organisation.id}/spaces/${space.id}/files/${documentId}`)
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      page: '2',
      from: expect.stringMatching(/^\d+$/),
      to: expect.stringMatching(/^\d+$/),
      quote: 'The pond of the park holds forty herons.',
    })
    await page.keyboard.press('Escape')

    await page.getByText('Checked citations: 1 supported').waitFor()
    await page.getByRole('button', { name: 'What do these numbers mean?' }).click()
    await page.getByText('The passage supports the sentence.').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: /1 search/ }).click()
    await page.getByText('“How many herons does the pond hold?”').waitFor()
    expect(await page.getByRole('link', { name: 'Receipt' }).getAttribute('href')).toMatch(/\/receipts\/req_/)

    // The conversation is still there after a look at the document.
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.goBack()
    await ask('When do the gardens open?')
    await page.getByRole('article').nth(1).getByText('The gardens open in spring.').first().waitFor()
    expect(await page.getByRole('article').count()).toBe(2)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask a question').waitFor()
    expect(await page.getByRole('article').count()).toBe(0)
    expect(stage.problems).toEqual([])
  })

  it('states that the model of the Space has no tools', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Tools' })
    await upload(space, 'A boat costs 9 euros.', 'boats.txt')
    await page.goto(`${base}/spaces/${space.id}/chat`)
    await page.getByRole('switch', { name: 'Tools' }).click()
    await page.getByText('query tables by SQL').waitFor()
    await ask('What does a boat cost?')
    await page.getByText('This model cannot use tools. It answered after one search.').waitFor()
    await page.getByRole('button', { name: /1 passage/ }).click()
    await page.getByRole('listitem').filter({ hasText: 'boats.txt' }).first().waitFor()
    await expectAccessible(page)
  })

  it('states why there is no answer, and what an administrator can do', async () => {
    const poor = await stage.portico.createOrganisation({ name: 'Poor', monthlyBudgetUsd: '0' })
    const space = await stage.portico.createSpace(poor)
    const person = { email: 'poor@example.com', organisationId: poor.id, role: 'administrator' } as const
    const { page: other } = await stage.openAs(person)
    await other.goto(`${stage.url}/organisations/${poor.id}/spaces/${space.id}/chat`)
    await other.getByRole('textbox', { name: 'Question' }).fill('Hello?')
    await other.getByRole('button', { name: 'Send' }).click()
    await other.getByText('Your team has no budget yet.').waitFor()
    expect(await other.getByRole('link', { name: 'Look at usage and budget' }).getAttribute('href')).toMatch(/\/usage$/)
    await expectAccessible(other)
  })

  it('speaks German in dark colours in a narrow window', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Besucherhandbuch' })
    await upload(space, 'Eine Karte kostet 12 Euro.', 'eintritt.txt')
    const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const member = { email: 'm@example.com', organisationId: organisation.id, role: 'member' } as const
    const { page: narrow } = await stage.openAs(member, options)
    await narrow.goto(`${base}/spaces/${space.id}/chat`)
    await narrow.getByRole('textbox', { name: 'Frage' }).fill('Was kostet eine Karte?')
    await narrow.getByRole('button', { name: 'Senden' }).click()
    await narrow.getByRole('button', { name: 'Zitat 1: eintritt.txt' }).waitFor()
    expect(await narrow.getByRole('link', { name: 'Beleg' }).count()).toBe(0)
    await expectNoSidewaysScroll(narrow)
    await expectAccessible(narrow)
    expect(stage.problems).toEqual([])
  })

  it('joins the changes of two people, and shows both values of a field that both changed', async () => {
    const space = await stage.portico.createSpace(organisation, { name: 'Shared', instructions: 'Be brief.' })
    const change = async (body: object) =>
      expectStatus(await stage.portico.operator('PATCH', `/api/spaces/${space.id}`, body), 200)
    const stored = async () => expectStatus(await stage.portico.operator('GET', `/api/spaces/${space.id}`), 200)
    await page.goto(`${base}/spaces/${space.id}/settings`)
    const instructions = page.getByRole('textbox', { name: 'Instructions' })
    const save = page.getByRole('button', { name: 'Save changes' })
    await instructions.fill('Be kind.')
    await change({ name: 'Renamed', settings: { maximumPassages: 9 } })
    await save.click()
    await page.getByText('Settings saved').waitFor()
    expect(await stored()).toMatchObject({
      name: 'Renamed',
      instructions: 'Be kind.',
      settings: { maximumPassages: 9 },
    })
    expect(await page.getByRole('textbox', { name: 'Maximum passages' }).inputValue()).toBe('9')

    await instructions.fill('Be kind and exact.')
    await page.getByRole('textbox', { name: 'Name' }).fill('Mine')
    await change({ instructions: 'Be formal.' })
    await save.click()
    const dialog = page.getByRole('dialog', { name: 'Someone else changed the same fields' })
    await dialog.getByText('Be formal.').waitFor()
    await dialog.getByText('Be kind and exact.').waitFor()
    // Only I changed the name.
    expect(await dialog.getByText('Mine', { exact: true }).count()).toBe(0)
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Use theirs' }).click()
    expect(await instructions.inputValue()).toBe('Be formal.')
    await page.getByText('Unsaved changes').waitFor()
    expect(await stored()).toMatchObject({ name: 'Renamed', instructions: 'Be formal.' })

    await instructions.fill('Be quick.')
    await change({ instructions: 'Be slow.' })
    await save.click()
    await dialog.getByRole('button', { name: 'Save mine' }).click()
    await expect.poll(stored).toMatchObject({ name: 'Mine', instructions: 'Be quick.' })
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  })
})
