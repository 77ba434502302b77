import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findTablesWith } from '../harness/database.ts'
import { startMuseum } from '../harness/museum.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  type ApiAnswer,
  expectStatus,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Conversations of published chats: stored only where a Space keeps them, read and erased by its administrators. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let documentId: string
let administrator: Browser
let member: Browser
let base: string

beforeAll(async () => {
  ;({ portico, organisation, space, documentId } = await startMuseum())
  base = `/api/spaces/${space.id}/conversations`
  const person = { organisationId: organisation.id }
  administrator = await createPerson(portico, { email: 'a@example.org', role: 'administrator', ...person })
  member = await createPerson(portico, { email: 'm@example.org', ...person })
})
afterAll(() => portico?.stop())

type Message = { role: 'user' | 'assistant'; content: string }
const question = (content: string): Message[] => [{ role: 'user', content }]
const send = (messages: Message[], headers: Record<string, string> = {}, more: object = {}): Promise<ApiAnswer> =>
  organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages, ...more }, headers)
const ask = async (messages: Message[], user?: string, more: object = {}) =>
  expectStatus(await send(messages, user === undefined ? {} : { 'service-user': user }, more), 200)
const keep = (value: boolean, browser = administrator) =>
  browser.call('PATCH', `/api/spaces/${space.id}`, { settings: { keepConversations: value } })
const list = async (query = '') => expectStatus(await administrator.call('GET', base + query), 200)
const listed = (count: number, query = '') =>
  expect.poll(async () => (await list(query)).items.length, { timeout: 20_000 }).toBe(count)
const view = async (id: string) => expectStatus(await administrator.call('GET', `${base}/${id}`), 200)

const tablesWith = (text: string) => findTablesWith(portico.service, text)

describe('a published Space', () => {
  it('stores neither question nor answer unless its setting is on', async () => {
    const secret = 'Wo liegt der Schlüssel zum Zwiebelkuchenlager?'
    await ask(question(secret), 'visitor-off')
    await ask(question(`${secret} `), 'visitor-off', { streaming: true })
    await keep(true)
    await ask(question('Now it is on: what does a ticket cost?'))
    await listed(1)
    expect(await tablesWith('Zwiebelkuchenlager')).toEqual([])
    expect(await tablesWith('visitor-off')).toEqual([])
    expect(await tablesWith('Now it is on')).toEqual(['conversation_turns'])
    // A preview by a person is none of its visitors.
    expectStatus(
      await member.call('POST', `/api/spaces/${space.id}/chat`, { messages: question('A preview of Zwiebelturm') }),
      200,
    )
    await ask(question('The second one'))
    await listed(2)
    expect(await tablesWith('Zwiebelturm')).toEqual([])
  })

  it('shows a conversation with its turns, sources, references and receipts', async () => {
    const first = question('What does a ticket cost?')
    const answer = await ask(first, 'visitor 1')
    const second: Message[] = [
      ...first,
      { role: 'assistant', content: answer.content },
      ...question('And when does it open?'),
    ]
    await ask(second, 'visitor 1', { streaming: true })
    await expect.poll(async () => (await list('?user=visitor%201')).items[0]?.turns, { timeout: 20_000 }).toBe(2)
    const { items } = await list('?user=visitor%201')
    expect(items).toMatchObject([{ user: 'visitor 1', turns: 2, failed: 0, opening: 'What does a ticket cost?' }])
    const { turns } = await view(items[0].id)
    expect(turns).toMatchObject([
      {
        number: 1,
        follows: null,
        question: 'What does a ticket cost?',
        answer: answer.content,
        references: [{ id: 1, title: 'museum.md', documentId }],
        sources: [{ source: 'UPLOADED_FILES', status: 'RETRIEVED' }],
        model: 'portico/offline',
        outcome: 'complete',
        given: null,
      },
      { number: 2, follows: 1, question: 'And when does it open?', outcome: 'complete', given: null },
    ])
    expect(turns[0].receipts).toHaveLength(1)
    const [{ requestId, billedUsd }] = turns[0].receipts
    expect(expectStatus(await administrator.call('GET', `/api/usage/${requestId}`), 200).billedUsd).toBe(billedUsd)
    expect(turns[0].requestId).toBe(requestId)
  })

  it('takes the rating of a visitor, which administrators find', async () => {
    const { headers } = await send(question('Is there a ticket for families?'), { 'service-user': 'rater' })
    const requestId = headers.get('x-request-id')
    const rating = `/v2/endpoints/${space.endpointId}/answers/${requestId}/rating`
    const rate = (body: object, client = organisation.client, path = rating) => client('PUT', path, body)
    expectStatus(await rate({ rating: 'down', reason: 'Not about families' }), 204)
    const { items } = await list('?user=rater&having=disliked')
    expect((await view(items[0].id)).turns).toMatchObject([
      { rating: { rating: 'down', reason: 'Not about families' } },
    ])
    expectStatus(await organisation.client('DELETE', rating), 204)
    expect((await list('?user=rater&having=disliked')).items).toEqual([])
    for (const [body, param] of [
      [{ rating: 'bad' }, 'rating'],
      [{ rating: 'up', reason: 'x'.repeat(1_001) }, 'reason'],
    ] as const)
      expect(expectStatus(await rate(body), 400).error.param).toBe(param)
    expectStatus(await rate({ rating: 'up' }, (await portico.createOrganisation()).client), 404)
    expectStatus(await rate({ rating: 'up' }, organisation.client, rating.replace(requestId!, 'req_unknown')), 404)
    await keep(false)
    expect(expectStatus(await rate({ rating: 'up' }), 409).error.message).toContain('keepConversations')
    await keep(true)
  })

  it('rejects a user that it cannot keep, whether it keeps conversations or not', async () => {
    for (const user of ['x'.repeat(129), 'a\tb', '\u00e4']) {
      const { status, body } = await send(question('Hello'), { 'service-user': user })
      expect([user, status, body.error.param]).toEqual([user, 400, 'service-user'])
      expect(body.error.message).toContain('1 to 128 printable ASCII characters')
    }
  })

  it('stores a failed answer with its code, and the largest question cut', async () => {
    const { status } = await send([{ role: 'user', content: 'ä'.repeat(200_000) }], { 'service-user': 'large' })
    await listed(1, '?user=large')
    const { items } = await list('?user=large')
    const { turns } = await view(items[0].id)
    expect(turns[0]).toMatchObject(
      status === 200
        ? { outcome: 'complete', questionCut: true }
        : { outcome: 'failed', errorCode: 'context_length_exceeded', questionCut: true },
    )
    expect(turns[0].question).toBe('ä'.repeat(32_768))
    const history = Array.from({ length: 1_022 }, (_none, index): Message => ({
      role: index % 2 ? 'assistant' : 'user',
      content: `${index} ${'x'.repeat(200)}`,
    }))
    await send([...history, ...question('What does a ticket cost?')], { 'service-user': 'long' })
    await listed(1, '?user=long')
    const long = await view((await list('?user=long')).items[0].id)
    expect(long.turns[0].given.leftOut).toBeGreaterThan(0)
    expect(long.turns[0].given.leftOut + long.turns[0].given.messages.length).toBe(1_022)
  })

  it('stores what was written to a client that has left', async () => {
    const stop = new AbortController()
    const response = await fetch(`${portico.url}/v1/endpoints/${space.endpointId}/chat`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', 'service-user': 'gone' },
      body: JSON.stringify({ messages: question('What does a ticket cost?'), streaming: true }),
      signal: stop.signal,
    })
    await response.body!.getReader().read()
    stop.abort()
    await listed(1, '?user=gone')
    const { turns } = await view((await list('?user=gone')).items[0].id)
    // A short answer may be over before its client has left.
    expect(['left', 'complete']).toContain(turns[0].outcome)
  })
})

describe('administrators', () => {
  it('find texts, export all of one user and erase it', async () => {
    await ask(question('A special ticket for =cats?'), 'cat')
    await listed(1, '?user=cat')
    expect((await list('?search=SPECIAL%20tick')).items).toHaveLength(1)
    expect((await list('?search=%25')).items).toHaveLength(0)
    const exported = await administrator.call('GET', `${base}/export?user=cat`)
    const lines = String(exported.body.question ?? exported.body)
    expect(exported.headers.get('content-disposition')).toContain('.jsonl')
    expect(lines).toContain('A special ticket')
    const csv = await administrator.call('GET', `${base}/export?format=csv&user=cat`)
    expect(csv.headers.get('content-type')).toContain('text/csv')
    expect(csv.body.split('\r\n')).toHaveLength(3)
    const erased = await administrator.call('POST', `${base}/erase`, { user: 'cat' })
    expect(erased.body).toEqual({ conversations: 1, turns: 1 })
    expect(await tablesWith('A special ticket for')).toEqual([])
    const { items } = (await portico.operator('GET', `/api/admin-log?organisationId=${organisation.id}&limit=3`)).body
    expect(items.map((entry: { action: string; actor: string }) => [entry.action, entry.actor])).toEqual([
      ['conversations.removed', 'a@example.org'],
      ['conversations.exported', 'a@example.org'],
      ['conversations.exported', 'a@example.org'],
    ])
    expect(items[0].before).toEqual({ scope: 'user', conversations: 1, turns: 1 })
    expect(JSON.stringify(items)).not.toContain('cat')
  })

  it('get an error that names the field', async () => {
    const call = (method: string, path: string, body?: object) => administrator.call(method, base + path, body)
    const errors: [string, ApiAnswer][] = [
      ['limit', await call('GET', '?limit=101')],
      ['search', await call('GET', `?search=${'x'.repeat(201)}`)],
      ['cursor', await call('GET', '?cursor=1')],
      ['user', await call('GET', `?user=${'x'.repeat(129)}`)],
      ['to', await call('GET', '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')],
      ['format', await call('GET', '/export?format=xls')],
    ]
    for (const [field, { status, body }] of errors)
      expect([field, status, body.error.param]).toEqual([field, 400, field])
    expect((await call('POST', '/erase', {})).status).toBe(400)
    expect((await call('POST', '/erase', { user: 'a', all: true })).status).toBe(400)
    expect((await call('GET', `/${crypto.randomUUID()}`)).status).toBe(404)
    expect((await call('DELETE', `/${crypto.randomUUID()}`)).status).toBe(404)
    const days = await administrator.call('PATCH', `/api/spaces/${space.id}`, { settings: { conversationDays: 401 } })
    expect([days.status, days.body.error.param]).toEqual([400, 'settings.conversationDays'])
  })

  it('of another organisation, and members, read and erase nothing', async () => {
    const other = await portico.createOrganisation({ name: 'Other' })
    const stranger = await createPerson(portico, {
      email: 's@example.org',
      organisationId: other.id,
      role: 'administrator',
    })
    const otherSpace = await portico.createSpace(other)
    const [{ id }] = (await list()).items
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['GET', `/${id}`],
      ['GET', '/export'],
      ['DELETE', `/${id}`],
      ['POST', '/erase', { all: true }],
    ]
    for (const [method, path, body] of calls) {
      expect((await stranger.call(method, base + path, body)).status).toBe(404)
      expect((await member.call(method, base + path, body)).body.error.code).toBe('forbidden_role')
    }
    const wrong = `/api/spaces/${otherSpace.id}/conversations/${id}`
    expect((await stranger.call('GET', wrong)).status).toBe(404)
    expect((await stranger.call('DELETE', wrong)).status).toBe(404)
    expect((await view(id)).conversation.id).toBe(id)
    expect((await keep(false, member)).body.error.code).toBe('forbidden_role')
  })

  it('who turn the setting off find nothing any more, also after it is on again', async () => {
    expect((await list()).stored.conversations).toBeGreaterThan(2)
    expect((await keep(false)).status).toBe(200)
    expect(await list()).toMatchObject({ keeps: false, items: [], stored: { conversations: 0, turns: 0 } })
    await keep(true)
    expect((await list()).items).toEqual([])
    const { requestId } = expectStatus(await administrator.call('POST', `${base}/erase`, { all: true }), 200)
    expect(requestId).toBeUndefined()
    await expect.poll(() => tablesWith('Now it is on'), { timeout: 20_000 }).toEqual([])
  })
})
