import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

/** Conversations of a person in the console. */

const text = `Adults pay twelve euros.\n\n${'The pond of the park holds forty herons. '.repeat(20)}`
const answer = `Adults pay twelve euros [1].\n\n${'The pond holds forty herons.\n\n'.repeat(30)}Dogs are welcome.`

let upstream: Upstream
let reply: () => UpstreamReply
let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
let page: Page
let chat: string

beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startUpstream(() => reply())
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
  space = await stage.portico.createSpace(organisation, {
    name: 'Guide',
    model: 'large',
    settings: { queryRewriting: 'off' },
  })
  await uploadReady(organisation, space.id, text, 'guide.txt')
  page = (await stage.openAs({ email: 'm@example.com', organisationId: organisation.id })).page
  chat = `${stage.url}/organisations/${organisation.id}/spaces/${space.id}/chat`
})
afterAll(async () => {
  await stage?.stop()
  await upstream?.close()
})
beforeEach(() => {
  reply = () => scriptedTurn(answer)
})

const keep = async (keepConversations: boolean) =>
  expectStatus(
    await stage.portico.operator('PATCH', `/api/spaces/${space.id}`, { settings: { keepConversations } }),
    200,
  )
const item = (title: string) =>
  page.getByRole('navigation', { name: 'Your conversations' }).getByRole('link', { name: title })

async function ask(question: string) {
  await page.getByRole('textbox', { name: 'Question' }).fill(question)
  await page.keyboard.press('Enter')
}

async function askNew(question: string) {
  await page.goto(chat)
  await ask(question)
  await item(question).waitFor()
  await page.getByText('Dogs are welcome.').waitFor()
}

const distanceToEnd = () =>
  page.evaluate(() => document.documentElement.scrollHeight - window.scrollY - window.innerHeight)

describe.skipIf(!hasBrowser)(`conversations in the console${skipReason}`, () => {
  it('are lost with the page where the Space keeps none, and the page says so', async () => {
    await page.goto(chat)
    await page.getByText('This Space does not store conversations.').waitFor()
    await ask('What do adults pay?')
    await page.getByText('Dogs are welcome.').waitFor()
    expect(await page.getByRole('navigation', { name: 'Your conversations' }).count()).toBe(0)
    await expectAccessible(page)
    await page.reload()
    await page.getByText('Ask a question').waitFor()
  })

  it('stay after a reload, with their list, search, title and export', async () => {
    await keep(true)
    await askNew('What do adults pay?')
    await page.reload()
    await page.getByText('Dogs are welcome.').waitFor()
    await page
      .getByRole('button', { name: /^Citation 1/ })
      .first()
      .waitFor()
    await expect.poll(distanceToEnd).toBeLessThan(5)
    await page.getByRole('region', { name: 'Today' }).waitFor()
    await expectAccessible(page)
    reply = () => scriptedTurn('Nobody painted the ceiling. Dogs are welcome.')
    await askNew('Who painted the ceiling?')
    await page.getByRole('searchbox', { name: 'Search your conversations' }).fill('NOBODY painted')
    await item('What do adults pay?').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Actions for “Who painted the ceiling?”' }).click()
    await expectAccessible(page)
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
    expect((await downloading).suggestedFilename()).toMatch(/^conversation-.*\.md$/)
    await page.getByRole('button', { name: 'Actions for “Who painted the ceiling?”' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('The ceiling')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('searchbox', { name: 'Search your conversations' }).fill('')
    await item('The ceiling').waitFor()
    await item('What do adults pay?').click()
    await page.getByText('The pond holds forty herons.').first().waitFor()
  })

  it('lead back from a cited document to the same place of the answer', async () => {
    await item('What do adults pay?').click()
    await page.getByRole('link', { name: 'guide.txt' }).first().waitFor()
    const address = new URL(page.url()).searchParams.get('conversation')
    for (const scroll of ['end', 'start'] as const) {
      const chip = page.getByRole('button', { name: /^Citation 1/ }).first()
      const link = page.getByRole('link', { name: 'guide.txt' }).first()
      if (scroll === 'end') await link.evaluate((element) => element.scrollIntoView({ block: 'center' }))
      else await page.evaluate(() => window.scrollTo(0, 0))
      const top = await page.evaluate(() => window.scrollY)
      if (scroll === 'end') await link.click()
      else {
        await chip.click()
        await page.getByRole('dialog').getByRole('link').first().click()
      }
      await page.waitForURL(/\/files\//)
      // Nothing of the conversation is in the memory of the page then.
      if (scroll === 'end') await page.reload()
      await page.getByRole('link', { name: 'Back to the answer' }).click()
      await page.getByText('Dogs are welcome.').waitFor()
      expect(new URL(page.url()).searchParams.get('conversation')).toBe(address)
      await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(top)
    }
  })

  it('have the answer that was being written when the page was loaded again', async () => {
    const held = Promise.withResolvers<void>()
    const body = String(scriptedTurn('The first half. ').body)
    const bytes = body.indexOf('\n\n') + 2
    reply = () => ({
      ...scriptedTurn(''),
      body: body.slice(0, bytes) + String(scriptedTurn('And the second half.').body),
      holdAt: { bytes, until: held.promise },
    })
    await page.goto(chat)
    await ask('What comes in two halves?')
    await page.getByText('The first half.').waitFor()
    await page.reload()
    await page.getByText('The answer is being written.').waitFor()
    await page.getByRole('log').getByText('What comes in two halves?').waitFor()
    held.resolve()
    await page.getByText('The first half. And the second half.').waitFor()
    await page.reload()
    await page.getByText('The first half. And the second half.').waitFor()
  })

  it('are deleted one by one and all', async () => {
    await page.getByRole('button', { name: 'Actions for “What comes in two halves?”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Conversation deleted').waitFor()
    await item('What comes in two halves?').waitFor({ state: 'detached' })
    await page.getByText('Ask a question').waitFor()
    await page.getByRole('button', { name: 'Actions for all conversations' }).click()
    await page.getByRole('menuitem', { name: 'Delete all' }).click()
    await page.getByRole('button', { name: 'Delete all', exact: true }).click()
    await page.getByText('No conversations yet').waitFor()
    expect(stage.problems).toEqual([])
  })

  it('speak German in dark colours in a narrow window', async () => {
    const person = { email: 'm@example.com', organisationId: organisation.id }
    const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const
    const narrow = (await stage.openAs(person, options)).page
    await narrow.goto(chat)
    await narrow.getByRole('textbox', { name: 'Frage' }).fill('Was zahlen Erwachsene?')
    await narrow.keyboard.press('Enter')
    await narrow.getByText('Dogs are welcome.').waitFor()
    await narrow.getByText('Quellen').waitFor()
    await narrow.getByRole('button', { name: 'Ihre Unterhaltungen' }).click()
    await narrow.getByRole('link', { name: 'Was zahlen Erwachsene?' }).waitFor()
    await expectNoSidewaysScroll(narrow)
    await expectAccessible(narrow)
  })
})
