import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTextPdf } from '../../src/documents/ingestion/testing/build-documents.ts'
import { testPassword } from '../harness/people.ts'
import { expectStatus } from '../harness/portico.ts'
import { makeTemporaryFolder } from '../harness/temporary-folder.ts'
import {
  expectAccessible,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
  type Window,
} from './harness/console.ts'

/**
 * The whole way of a newcomer: from the operator token to a cited answer and its receipt, only by what the pages offer. The steps build
 * on each other.
 */

let stage: TestConsole
let folder: string
let operator: Window
/** The administrator of the team. */
let page: Page
let invitation: string
let key: string

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  operator = await stage.openWindow()
  page = (await stage.openWindow()).page
  folder = makeFolder()
})
afterAll(() => stage?.stop())

const sentence = 'Every employee has 30 days of paid leave per year.'

function makeFolder(): string {
  const root = path.join(makeTemporaryFolder('newcomer'), 'handbook')
  mkdirSync(path.join(root, 'rules'), { recursive: true })
  const text = (line: string) => ({ texts: [{ text: line, x: 72, y: 700 }] })
  const pages = [text('Welcome to the company.'), text(sentence), text('Trips below four hours are made by train.')]
  writeFileSync(path.join(root, 'handbook.pdf'), buildTextPdf(pages))
  writeFileSync(path.join(root, 'rules', 'canteen.md'), '# Canteen\n\nThe canteen is open from 11:30 to 14:00.\n')
  return root
}

/** Links of the page before have the same names, so the new page is there first. */
async function open(name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()
  await heading(name)
}
/** The list of first steps on a page. */
const stepsOf = (on: Page) => on.getByRole('region', { name: 'First steps' }).getByRole('listitem')
/** The steps that are not done. */
async function openSteps(on: Page): Promise<string[]> {
  await stepsOf(on).first().waitFor()
  const open = stepsOf(on).filter({ has: on.getByRole('img', { name: 'Not done' }) })
  return (await open.allInnerTexts()).map((text) => text.split('\n')[0]!)
}
const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()

describe.skipIf(!hasBrowser)(`a newcomer${skipReason}`, () => {
  it('sets the installation up with the operator token, creates an organisation, and invites its administrator', async () => {
    const { page } = operator
    await page.goto(stage.url)
    await page.getByLabel('Operator token').fill(stage.portico.operatorToken)
    await page.getByLabel('Name').fill('Olga Operator')
    await page.getByLabel('E-mail').fill('olga@example.com')
    await page.getByLabel('Password', { exact: true }).fill(testPassword)
    await page.getByRole('button', { name: 'Create account' }).click()
    const before = await openSteps(page)
    expect(before).toContain('Connect a provider of models with its key')
    expect(before).toContain('Invite an administrator of the organisation')
    await expectAccessible(page)
    await stepsOf(page).filter({ hasText: 'Create an organisation' }).getByRole('link').click()
    await page.getByRole('button', { name: 'New organisation' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Northwind Research')
    await dialog.getByLabel('Monthly budget').fill('50')
    await dialog.getByRole('switch', { name: 'Enable the gateway' }).click()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Northwind Research', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Open the team’s pages' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Members', exact: true }).click()
    await page.getByRole('button', { name: 'Invite', exact: true }).first().click()
    const invite = page.getByRole('dialog')
    await invite.getByLabel('E-mail').fill('ada@example.com')
    await invite.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Administrator' }).click()
    await invite.getByRole('button', { name: 'Create link' }).click()
    invitation = await invite.getByRole('textbox', { name: 'Link' }).inputValue()
    expect(invitation).toMatch(/\/console\/invitations\//)
    await page.goto(stage.url)
    expect(await openSteps(page)).toEqual(before.filter((step) => !step.startsWith('Create an organisation')))
  })

  it('accepts the invitation, opts in and makes a key', async () => {
    await page.goto(new URL(invitation, stage.portico.url).href)
    await page.getByLabel('Name').fill('Ada Administrator')
    await page.getByLabel('Password', { exact: true }).fill(testPassword)
    await page.getByRole('button', { name: 'Create account and accept' }).click()
    await open('Developer Tools')
    await heading('Developer Tools')
    await page.getByLabel('Gateway access for this team').click()
    await page.getByText('Open', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create API key' }).click()
    const dialog = page.getByRole('dialog')
    key = await dialog.getByLabel('API key').inputValue()
    await dialog.getByRole('button', { name: 'I have stored the key' }).click()
    const models = await fetch(`${stage.portico.url}/v1/gateway/models`, { headers: { 'x-api-key': key } })
    expect(models.status).toBe(200)
    expect(await openSteps(page)).toEqual(['Send a first call with one of the examples'])
  })

  it('creates a Space, uploads a folder and publishes the Space', async () => {
    await open('Spaces')
    await page.getByRole('button', { name: 'Create Space' }).first().click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Handbook')
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Add folder' }).first().click()
    await (await chooser).setFiles(folder)
    const rowOf = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name }) })
    for (const name of ['handbook.pdf', 'canteen.md'])
      await rowOf(name).getByText('Ready', { exact: true }).waitFor({ timeout: 60_000 })
    await open('Spaces')
    await expect.poll(() => openSteps(page)).toEqual(['Ask a question about them', 'Publish the Space'])
    await stepsOf(page).filter({ hasText: 'Publish' }).getByRole('link').click()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('button', { name: 'Unpublish' }).waitFor()
    const shown = await page.getByRole('tabpanel', { name: 'curl' }).locator('pre').innerText()
    const address = /https?:\/\/[^\s"'`]+\/chat/.exec(shown)![0]
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'How many days of paid leave are there?' }] }),
    })
    expect(answer.status).toBe(200)
  })

  it('asks a question, opens its citation at the page, and finds the receipt', async () => {
    await open('Spaces')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('link', { name: 'Chat', exact: true }).click()
    await page.getByRole('textbox', { name: 'Question' }).fill('How many days of paid leave does an employee have?')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Receipt' }).first().waitFor()
    const receipt = await page.getByRole('link', { name: 'Receipt' }).first().getAttribute('href')
    await page.getByRole('button', { name: 'Citation 1: handbook.pdf' }).first().click()
    await page.getByRole('dialog').getByRole('link').first().click()
    await page.waitForURL(/\/files\/[0-9a-f-]{36}\?.*page=2/)
    await page.getByText(`Highlighted: ${sentence}`).waitFor()
    await page.goto(new URL(receipt!, stage.url).href)
    await heading('Receipt')
    await page.getByText('space_chat').or(page.getByText('Space chat')).first().waitFor()
    expect(stage.problems).toEqual([])
  })

  it('sees the cost, the answer and the cited document on the page Usage', async () => {
    // Sums and insights are written in batches, some seconds after the answer.
    const [organisation] = /organisations\/[^/]+/.exec(page.url())!
    const usage = () => stage.portico.operator('GET', `/api/console/${organisation}/usage`)
    await expect.poll(async () => expectStatus(await usage(), 200).topDocuments.length).toBe(1)
    await open('Usage')
    await heading('Usage')
    await page
      .getByRole('table', { name: 'Most cited documents' })
      .getByRole('link', { name: 'handbook.pdf' })
      .waitFor()
    expect(stage.problems).toEqual([])
  })
})
