import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { expectAccessible, hasBrowser, skipReason, startConsole, type TestConsole } from './harness/console.ts'

/** Typed text is not lost without a question, and two people do not overwrite each other. */

let stage: TestConsole
let page: Page
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { name: 'Museum' })
  page = (await stage.openAs({ email: 'operator@example.org' })).page
})
afterAll(() => stage?.stop())

const question = () => page.getByRole('dialog').filter({ hasText: 'Your changes are not saved.' })
const open = async (path: string) => {
  await page.goto(`${stage.url}${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
}

describe.skipIf(!hasBrowser)(`typed text${skipReason}`, () => {
  it('in a dialog stays when Escape or the close button is pressed, until the person discards it', async () => {
    await open('/operator/organisations')
    await page.getByRole('button', { name: 'New organisation' }).first().click()
    const dialog = page.getByRole('dialog').filter({ has: page.getByRole('textbox', { name: 'Name' }) })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Half a na')
    await page.keyboard.press('Escape')
    await question().getByText('Discard what you typed?').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await question().waitFor({ state: 'detached' })
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half a na')
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await question().getByRole('button', { name: 'Keep editing' }).click()
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Half a na')
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await question().getByRole('button', { name: 'Discard' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('is not asked about when nothing was typed or the text is as before', async () => {
    await page.getByRole('button', { name: 'New organisation' }).first().click()
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
    await name.fill('a')
    await name.fill('')
    await page.keyboard.press('Escape')
    await name.waitFor({ state: 'detached' })
    expect(await question().count()).toBe(0)
  })

  it.each([
    ['the name of the account', '/account', 'Name', 'Another name'],
    ['the address of a webhook', '/operator/alerts?view=settings', 'Address', 'https://hooks.example.org/a'],
    ['a question of the chat', 'SPACE/chat', 'Question', 'What does a ticket'],
    ['a message of the playground', 'TEAM/playground', 'Message', 'Say this'],
  ])('in %s is kept when the page is left', async (_, path, label, text) => {
    const team = `/organisations/${organisation.id}`
    const address = path.replace('TEAM', team).replace('SPACE', `${team}/spaces/${space.id}`)
    await open(address)
    const field = page.getByRole('textbox', { name: label, exact: true }).first()
    await field.fill(text)
    await page
      .getByRole('link', { name: 'Providers', exact: true })
      .or(page.getByRole('link', { name: 'Spaces', exact: true }))
      .first()
      .click()
    await question().getByText('Leave without saving?').waitFor()
    await question().getByRole('button', { name: 'Stay' }).click()
    expect(await field.inputValue()).toBe(text)
    await field.fill('')
  })
})

describe.skipIf(!hasBrowser)(`two operators${skipReason}`, () => {
  it('who change the recipients of alerts see both lists', async () => {
    await open('/operator/alerts?view=settings')
    const recipients = page.getByLabel('Recipients').first()
    await recipients.fill('mine@example.org')
    await recipients.press('Enter')
    const settings = { recipients: ['theirs@example.org'] }
    expectStatus(await stage.portico.operator('PATCH', '/api/alerts/settings', settings), 200)
    await page.getByRole('button', { name: 'Save recipients' }).click()
    const conflict = page.getByRole('dialog').filter({ hasText: 'Save mine' })
    for (const value of ['mine@example.org', 'theirs@example.org']) {
      await conflict.getByRole('cell', { name: value, exact: true }).waitFor()
    }
    await expectAccessible(page)
    await conflict.getByRole('button', { name: 'Use theirs' }).click()
    await page.getByText('theirs@example.org', { exact: true }).waitFor()
    expect((await stage.portico.operator('GET', '/api/alerts/settings')).body).toMatchObject(settings)
  })

  it('who set another webhook see both addresses, and only the chosen one gets a secret', async () => {
    await open(`/operator/organisations/${organisation.id}`)
    const address = page.getByRole('textbox', { name: 'Address' })
    await address.fill('https://hooks.example.org/mine')
    const path = `/api/organisations/${organisation.id}`
    const url = 'https://hooks.example.org/theirs'
    expectStatus(await stage.portico.operator('PUT', `${path}/webhook`, { url }), 200)
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    const conflict = page.getByRole('dialog').filter({ hasText: 'Save mine' })
    await conflict.getByRole('cell', { name: url, exact: true }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).count()).toBe(0)
    expect((await stage.portico.operator('GET', path)).body.webhookUrl).toBe(url)
    await conflict.getByRole('button', { name: 'Save mine' }).click()
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/)
    expect((await stage.portico.operator('GET', path)).body.webhookUrl).toBe('https://hooks.example.org/mine')
  })

  it('who change one golden question see both facts, and keep what only one of them changed', async () => {
    const path = `/api/spaces/${space.id}/golden-questions`
    const asked = { messages: [{ role: 'user', content: 'What does a ticket cost?' }], expectedFacts: ['10 euros'] }
    const { id } = expectStatus(await stage.portico.operator('POST', path, asked), 201)
    await open(`/organisations/${organisation.id}/spaces/${space.id}/golden-questions`)
    await page.getByRole('button', { name: 'Edit “What does a ticket cost?”' }).click()
    const facts = page.getByRole('textbox', { name: 'Expected facts, one per line' })
    await facts.fill('12 euros')
    const theirs = { messages: [{ role: 'user', content: 'How much is a ticket?' }], expectedFacts: ['11 euros'] }
    expectStatus(await stage.portico.operator('PATCH', `${path}/${id}`, theirs), 200)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('dialog').filter({ hasText: 'Save mine' })
    for (const value of ['12 euros', '11 euros'])
      await conflict.getByRole('cell', { name: value, exact: true }).waitFor()
    await expectAccessible(page)
    await conflict.getByRole('button', { name: 'Save mine' }).click()
    await page.getByText('The question is saved').waitFor()
    expect((await stage.portico.operator('GET', `${path}/${id}`)).body).toMatchObject({
      ...theirs,
      expectedFacts: ['12 euros'],
    })
  })

  it('keep what the other has changed when one turns a switch', async () => {
    await open('/operator/alerts?view=settings')
    const settings = { recipients: ['later@example.org'] }
    expectStatus(await stage.portico.operator('PATCH', '/api/alerts/settings', settings), 200)
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok())
    await page.getByRole('switch').first().click({ force: true })
    expect((await saved).request().headers()['if-match']).toBeDefined()
    const stored = (await stage.portico.operator('GET', '/api/alerts/settings')).body
    expect(stored).toMatchObject({ ...settings, kinds: { budget: { enabled: false } } })
  })

  it('has no problems', () => expect(stage.problems).toEqual([]))
})
