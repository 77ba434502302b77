import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findTablesWith } from '../harness/database.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { type ApiAnswer, expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'

/** Conversations of people in the console: stored only where a Space keeps conversations, and read only by the person. */

let stage: ScriptedStage
let organisation: TestOrganisation
let space: TestSpace
let documentId: string
let member: Browser
let administrator: Browser
let base: string

beforeAll(async () => {
  stage = await startScriptedStage()
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { model: 'm', settings: { queryRewriting: 'off' } })
  documentId = await stage.upload(organisation, space, 'Tickets for adults cost twelve euros.', 'tickets.txt')
  base = `/api/spaces/${space.id}`
  const person = { organisationId: organisation.id }
  administrator = await createPerson(stage.portico, { email: 'a@example.org', role: 'administrator', ...person })
  member = await createPerson(stage.portico, { email: 'm@example.org', ...person })
  await keep(true)
})
afterAll(() => stage?.stop())
beforeEach(() => stage.play(() => scriptedTurn('Adults pay twelve euros [1].')))

const keep = async (value: boolean) =>
  expectStatus(await administrator.call('PATCH', base, { settings: { keepConversations: value } }), 200)
const newId = () => crypto.randomUUID()

function ask(content: string, chatId: string, { browser = member, streaming = true, target = space } = {}) {
  const headers = { 'service-conversation': chatId, 'service-enable-inline-sources': 'true' }
  const body = { messages: [{ role: 'user', content }], streaming }
  return browser.call('POST', `/api/spaces/${target.id}/chat`, body, headers)
}

const list = async (query = '', browser = member) =>
  expectStatus(await browser.call('GET', `${base}/own-chats${query}`), 200)
const view = (id: string, browser = member): Promise<ApiAnswer> => browser.call('GET', `${base}/own-chats/${id}`)
const tablesWith = (text: string) => findTablesWith(stage.portico.service, text)

/** Resolves when the person's conversation has so many answers. */
const answered = (id: string, turns: number) =>
  expect.poll(async () => (await view(id)).body.turns?.length, { timeout: 20_000 }).toBe(turns)

describe('a conversation in the console', () => {
  it('is stored with its answers, and titled by its first question', async () => {
    const id = newId()
    const long = `What do adults pay, ${'and who else pays, '.repeat(8)}please?`
    expectStatus(await ask(long, id), 200)
    expectStatus(await ask('And children?', id, { streaming: false }), 200)
    await answered(id, 2)
    const { chat, turns, next } = expectStatus(await view(id), 200)
    expect(chat).toMatchObject({ id, turns: 2 })
    expect(long.startsWith(chat.title.slice(0, -1))).toBe(true)
    expect(chat.title).toMatch(/^.{40,80}…$/)
    expect(next).toBeNull()
    expect(turns).toMatchObject([
      { number: 1, question: long, outcome: 'complete', references: [{ id: 1, documentId }], model: 'm' },
      { number: 2, question: 'And children?', answer: expect.stringContaining('twelve euros') },
    ])
    expect(turns[0]).not.toHaveProperty('billedUsd')
  })

  it('is only for its person: no colleague, administrator or operator sees, changes or continues it', async () => {
    const id = newId()
    expectStatus(await ask('Where is the Zwiebelturm?', id), 200)
    await answered(id, 1)
    const others = [administrator.call, stage.portico.operator]
    for (const call of others) {
      expectStatus(await call('GET', `${base}/own-chats/${id}`), 404)
      expectStatus(await call('PATCH', `${base}/own-chats/${id}`, { title: 'Mine' }), 404)
      expectStatus(await call('DELETE', `${base}/own-chats/${id}`), 404)
      expectStatus(await call('GET', `${base}/own-chats/export?chatId=${id}`), 404)
      expect(JSON.stringify((await call('GET', `${base}/own-chats`)).body)).not.toContain('Zwiebelturm')
      expect(JSON.stringify((await call('GET', `${base}/own-chats/export`)).body)).not.toContain('Zwiebelturm')
      expect(JSON.stringify((await call('GET', `${base}/conversations`)).body)).not.toContain('Zwiebelturm')
      expect(JSON.stringify((await call('GET', `${base}/conversations/export`)).body)).not.toContain('Zwiebelturm')
      expectStatus(await call('GET', `${base}/conversations/${id}`), 404)
      expectStatus(await call('DELETE', `${base}/own-chats`), 200)
    }
    // The id of a colleague's conversation.
    expectStatus(await ask('I am somebody else', id, { browser: administrator }), 200)
    const own = newId()
    expectStatus(await ask('A question of the administrator', own, { browser: administrator }), 200)
    await expect.poll(async () => (await view(own, administrator)).body.turns?.length, { timeout: 20_000 }).toBe(1)
    expectStatus(await view(id, administrator), 404)
    expect(expectStatus(await view(id), 200).turns).toMatchObject([{ question: 'Where is the Zwiebelturm?' }])
    expect(await tablesWith('I am somebody else')).toEqual([])
    const stranger = await createPerson(stage.portico, {
      email: 's@example.org',
      organisationId: (await stage.portico.createOrganisation()).id,
    })
    expectStatus(await view(id, stranger), 404)
  })

  it('is found by a part of its title, a question or an answer, whatever its case, in pages', async () => {
    const ids = [newId(), newId()]
    stage.play(() => scriptedTurn('The blue whale sleeps.'))
    for (const id of ids) expectStatus(await ask('Who sleeps?', id), 200)
    await answered(ids[1]!, 1)
    const found = async (text: string) => (await list(`?search=${encodeURIComponent(text)}`)).items
    expect((await found('BLUE WHALE')).map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted())
    expect(await found('no such words')).toEqual([])
    expectStatus(await member.call('PATCH', `${base}/own-chats/${ids[0]}`, { title: 'About 100% of %_ animals' }), 204)
    expect(await found('of %_')).toMatchObject([{ id: ids[0], title: 'About 100% of %_ animals' }])
    const first = await list('?limit=1')
    expect(first.items).toHaveLength(1)
    const second = await list(`?limit=1&cursor=${first.nextCursor}`)
    expect(second.items[0].id).not.toBe(first.items[0].id)
    for (const title of ['', ' ', 'x'.repeat(201)])
      expect(expectStatus(await member.call('PATCH', `${base}/own-chats/${ids[0]}`, { title }), 400).error.param).toBe(
        'title',
      )
  })

  it('is exported as Markdown and JSON, one or all', async () => {
    const id = newId()
    expectStatus(await ask('What does\na ticket cost?', id), 200)
    await answered(id, 1)
    const markdown = await member.call('GET', `${base}/own-chats/export?format=md&chatId=${id}`)
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(markdown.headers.get('content-disposition')).toBe(`attachment; filename="conversation-${id}.md"`)
    const text = String(markdown.body)
    for (const part of [
      '# What does a ticket cost?',
      '> What does\n> a ticket cost?',
      'twelve euros',
      '[1] tickets.txt',
    ])
      expect(text).toContain(part)
    const one = expectStatus(await member.call('GET', `${base}/own-chats/export?chatId=${id}`), 200)
    expect(one.conversations).toMatchObject([{ id, answers: [{ number: 1, question: 'What does\na ticket cost?' }] }])
    const all = expectStatus(await member.call('GET', `${base}/own-chats/export`), 200)
    expect(all.conversations.length).toBe((await list()).items.length)
  })

  it('is deleted alone or with all others, also with an answer that is being written', async () => {
    const id = newId()
    expectStatus(await ask('Delete the Kellertor', id), 200)
    await answered(id, 1)
    const held = holdAnswer()
    const asking = ask('And the Kellerfenster', id)
    await held.begun
    expectStatus(await member.call('DELETE', `${base}/own-chats/${id}`), 204)
    await asking
    held.release()
    expectStatus(await view(id), 404)
    expectStatus(await member.call('DELETE', `${base}/own-chats/${id}`), 404)
    expect(await tablesWith('Kellertor')).toEqual([])
    const other = newId()
    expectStatus(await ask('Another one', other), 200)
    await answered(other, 1)
    expect(await tablesWith('Kellerfenster')).toEqual([])
    expect(expectStatus(await member.call('DELETE', `${base}/own-chats`), 200).chats).toBeGreaterThan(0)
    expect((await list()).items).toEqual([])
  })

  it('needs a UUID, and is not stored without one', async () => {
    expect(expectStatus(await ask('Hi', 'no-uuid'), 400).error.param).toBe('service-conversation')
    const body = { messages: [{ role: 'user', content: 'A preview about Nadelwald' }] }
    expectStatus(await member.call('POST', `${base}/chat`, body), 200)
    expectStatus(await stage.portico.operator('POST', `${base}/chat`, body), 200)
    const id = newId()
    expectStatus(await ask('Later', id), 200)
    await answered(id, 1)
    expect(await tablesWith('Nadelwald')).toEqual([])
  })
})

/** The next answer of the model stops after its first text until `release`. */
function holdAnswer(first = 'Adults pay', rest = ' twelve euros.') {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { headers, body } = scriptedTurn(first)
  const text = String(body)
  const bytes = text.indexOf('\n\n') + 2
  stage.play(() => {
    begun.resolve()
    return {
      headers: headers!,
      body: text.slice(0, bytes) + String(scriptedTurn(rest).body),
      holdAt: { bytes, until: held.promise },
    }
  })
  return { begun: begun.promise, release: () => held.resolve() }
}

/** A streamed question whose client may leave. */
async function open(content: string, chatId: string) {
  const leaving = new AbortController()
  const response = await fetch(`${stage.portico.url}${base}/chat`, {
    method: 'POST',
    headers: {
      cookie: member.cookie(),
      'content-type': 'application/json',
      'service-conversation': chatId,
      origin: stage.portico.url,
    },
    body: JSON.stringify({ messages: [{ role: 'user', content }], streaming: true }),
    signal: leaving.signal,
  })
  const reader = response.body!.getReader()
  await reader.read()
  return { leave: () => leaving.abort() }
}

describe('an answer whose page is loaded again', () => {
  it('is written to its end and stored', async () => {
    const id = newId()
    const held = holdAnswer()
    const client = await open('What do adults pay?', id)
    await held.begun
    client.leave()
    held.release()
    await answered(id, 1)
    expect((await view(id)).body.turns).toMatchObject([{ answer: 'Adults pay twelve euros.', outcome: 'complete' }])
  })

  it('ends when the person stops it, with what was written until then', async () => {
    const id = newId()
    const held = holdAnswer()
    const client = await open('What do adults pay?', id)
    await held.begun
    client.leave()
    expectStatus(await member.call('POST', `${base}/own-chats/${id}/stop`), 204)
    await answered(id, 1)
    expect((await view(id)).body.turns).toMatchObject([{ outcome: 'left' }])
    held.release()
  })
})

describe('what is kept', () => {
  it('is hidden at once when the Space stops keeping conversations, and deleted with the next sweep', async () => {
    const id = newId()
    expectStatus(await ask('Wo ist der Dachgarten?', id), 200)
    await answered(id, 1)
    await keep(false)
    expect(await list()).toMatchObject({ keeps: false, items: [] })
    expectStatus(await view(id), 404)
    await keep(true)
    expectStatus(await view(id), 404)
    const after = newId()
    expectStatus(await ask('After', after), 200)
    await answered(after, 1)
  })

  it('loses the answers that cite an erased document', async () => {
    const erased = await stage.upload(organisation, space, 'The Gartenhaus costs ninety euros.', 'house.txt')
    stage.play(() => scriptedTurn('The Gartenhaus costs ninety euros [1][2].'))
    const id = newId()
    expectStatus(await ask('What does the Gartenhaus cost?', id), 200)
    await answered(id, 1)
    const erasures = `/api/organisations/${organisation.id}/erasures`
    const { id: erasureId } = expectStatus(await administrator.call('POST', erasures, { documentId: erased }), 202)
    const load = async () => expectStatus(await administrator.call('GET', `${erasures}/${erasureId}`), 200)
    await expect.poll(async () => (await load()).state, { timeout: 60_000 }).toBe('completed')
    expect((await load()).certificate.removed.conversationTurns.count).toBe(1)
    expectStatus(await view(id), 404)
    expect(await tablesWith('What does the Gartenhaus cost?')).toEqual([])
  }, 90_000)

  it('ends with the account', async () => {
    const leaver = await createPerson(stage.portico, { email: 'l@example.org', organisationId: organisation.id })
    const id = newId()
    expectStatus(await ask('Where is the Eishaus?', id, { browser: leaver }), 200)
    await expect.poll(async () => (await view(id, leaver)).body.turns?.length, { timeout: 20_000 }).toBe(1)
    const { person } = (await leaver.call('GET', '/api/me')).body
    expectStatus(await stage.portico.operator('DELETE', `/api/people/${person.id}`), 204)
    const rows = await stage.portico.service.control.query(`SELECT person_id FROM own_chats WHERE id = $1`, [id])
    expect(rows).toEqual([{ person_id: null }])
  })
})
