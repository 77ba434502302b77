import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import { type ApiAnswer, expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import {
  countRequests,
  expectAccessible,
  expectNoSidewaysScroll,
  hasBrowser,
  skipReason,
  startConsole,
  type TestConsole,
} from './harness/console.ts'

let stage: TestConsole
let organisation: TestOrganisation
let space: TestSpace
let page: Page
let base: string
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await startConsole()
  organisation = await stage.portico.createOrganisation({ name: 'Riverside Museum' })
  space = await stage.portico.createSpace(organisation, { name: 'Visitor handbook' })
  await uploadReady(
    organisation,
    space.id,
    '# Tickets\n\nA ticket costs 12 euros. The museum opens at nine.',
    'tickets.md',
  )
  const administrator = { email: 'a@example.com', organisationId: organisation.id, role: 'administrator' } as const
  page = (await stage.openAs(administrator)).page
  base = `${stage.url}/organisations/${organisation.id}/spaces/${space.id}`
})
afterAll(() => stage?.stop())

type Message = { role: 'user' | 'assistant'; content: string }

async function send(messages: Message[], user: string): Promise<ApiAnswer> {
  const headers = {
    'service-user': user,
    'service-enable-inline-sources': 'true',
    'service-enable-passage-references': 'true',
  }
  const path = `/v1/endpoints/${space.endpointId}/chat`
  const answer = await organisation.client('POST', path, { messages }, headers)
  expectStatus(answer, 200)
  return answer
}
async function ask(messages: Message[], user: string): Promise<Message[]> {
  const { body } = await send(messages, user)
  return [...messages, { role: 'assistant', content: body.content }]
}
const question = (content: string): Message => ({ role: 'user', content })
const stored = (count: number) =>
  expect
    .poll(async () => (await stage.portico.operator('GET', `/api/spaces/${space.id}/conversations`)).body.stored.turns)
    .toBe(count)

describe.skipIf(!hasBrowser)(`Conversations${skipReason}`, () => {
  it('are stored after an administrator has turned that on, and shown with sources, references and receipts', async () => {
    await page.goto(`${base}/conversations`)
    await page.getByText('Conversations are not stored').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Open settings' }).click()
    await page.getByRole('switch', { name: 'Store conversations' }).click()
    await page.getByRole('textbox', { name: 'Days' }).fill('14')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Settings saved').waitFor()
    const first = await ask([question('What does a ticket cost?')], 'visitor-1')
    await ask([...first, question('And when does the museum open?')], 'visitor-1')
    await ask([question('Who painted the ceiling?')], 'visitor-2')
    await stored(3)

    const list = await countRequests(page, async () => {
      await page.goto(`${base}/conversations`)
      await page.getByText('2 conversations · 3 answers').waitFor()
    })
    expect(list.filter((path) => path.includes('/conversations'))).toEqual([`/api/spaces/${space.id}/conversations`])
    await page.getByText('Each is deleted after 14 days.').waitFor()
    await expectAccessible(page)
    await page.getByRole('searchbox').fill('ceiling')
    await page.getByRole('link', { name: 'What does a ticket cost?' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Who painted the ceiling?' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: 'What does a ticket cost?' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'And when does the museum open?' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Receipt' }).first().click()
    await page.getByText('portico/offline').first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'tickets.md' }).first().click()
    await page.waitForURL(/\/files\//)
    await page.goBack()
    await page.getByRole('article').first().waitFor()
  })

  it('show what a visitor did not like, which one click makes a golden question', async () => {
    const first = await ask([question('Is the museum open on Mondays?')], 'visitor-3')
    const { headers } = await send([...first, question('What about groups?')], 'visitor-3')
    const rating = `/v2/endpoints/${space.endpointId}/answers/${headers.get('x-request-id')}/rating`
    const given = { rating: 'down', reason: 'It does not name a price for groups.' }
    expectStatus(await organisation.client('PUT', rating, given), 204)
    await page.goto(`${base}/conversations?having=disliked`)
    await page.getByText('1 not helpful').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Is the museum open on Mondays?' }).click()
    await page.getByText('It does not name a price for groups.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Add “What about groups?”' }).click()
    await page.getByText('The question is a golden question now').waitFor()
    const golden = expectStatus(await stage.portico.operator('GET', `/api/spaces/${space.id}/golden-questions`), 200)
    expect(golden.items).toMatchObject([{ messages: [...first, question('What about groups?')] }])
    const erasure = { user: 'visitor-3' }
    expectStatus(await stage.portico.operator('POST', `/api/spaces/${space.id}/conversations/erase`, erasure), 200)
  })

  it('of one user are exported and erased', async () => {
    await page.goto(`${base}/conversations?user=visitor-2`)
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    expect((await downloading).suggestedFilename()).toBe(`conversations-${space.id}.csv`)
    await page.getByRole('button', { name: 'Erase' }).click()
    await expectAccessible(page)
    await page.getByRole('menuitem', { name: 'All of the user visitor-2' }).click()
    await page.getByText('Every stored answer to the user visitor-2 is deleted.').waitFor()
    await page.getByRole('button', { name: 'Erase', exact: true }).last().click()
    await page.getByText('1 answer erased').waitFor()
    await page.getByText('No conversation matches').waitFor()
    await stored(2)
  })

  it('speak German in dark colours in a narrow window', async () => {
    const narrow = await stage.openAs(
      { email: 'n@example.com', organisationId: organisation.id, role: 'administrator' },
      { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
    )
    await narrow.page.goto(`${base}/conversations`)
    await narrow.page.getByText('1 Gespräch · 2 Antworten').waitFor()
    await expectNoSidewaysScroll(narrow.page)
    await expectAccessible(narrow.page)
    await narrow.page.getByRole('link', { name: 'What does a ticket cost?' }).click()
    await narrow.page.getByRole('article').first().waitFor()
    await expectNoSidewaysScroll(narrow.page)
    await expectAccessible(narrow.page)
  })

  it('are hidden from members', async () => {
    const member = await stage.openAs({ email: 'm@example.com', organisationId: organisation.id })
    await member.page.goto(`${base}/settings`)
    await member.page.getByRole('link', { name: 'Settings', exact: true }).waitFor()
    expect(await member.page.getByRole('link', { name: 'Conversations' }).count()).toBe(0)
    expect(await member.page.getByRole('switch', { name: 'Store conversations' }).isDisabled()).toBe(true)
  })

  it('are erased when the setting is turned off, after a question', async () => {
    await page.goto(`${base}/settings`)
    await page.getByRole('switch', { name: 'Store conversations' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('all conversations of this Space are deleted').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Save and erase' }).click()
    await page.getByText('Settings saved').waitFor()
    await stored(0)
    expect(stage.problems).toEqual([])
  })
})
