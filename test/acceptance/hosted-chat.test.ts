import { randomUUID } from 'node:crypto'
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { hastyClock } from '../harness/hasty-clock.ts'
import { createPerson } from '../harness/people.ts'
import { createApiClient, expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { enterSite, museumQuestion, openSite, openVisit } from '../harness/site.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'

/** The website of a published Space: what its visitors can do, and what they cannot. */

let stage: ScriptedStage
let organisation: TestOrganisation
let space: TestSpace
let documentId: string

beforeAll(async () => {
  stage = await startScriptedStage({ clock: hastyClock })
  organisation = await stage.portico.createOrganisation()
  const settings = { queryRewriting: 'off', keepConversations: true }
  space = await stage.portico.createSpace(organisation, { name: 'Museum für Reiher', model: 'm', settings })
  documentId = await stage.upload(
    organisation,
    space,
    '# Tickets\n\nTickets for adults cost twelve euros at the museum.\n\n# What about children?\n\nChildren pay nothing.',
    'tickets.md',
  )
}, 120_000)
afterAll(() => stage?.stop())
beforeEach(() => stage.play(() => scriptedTurn('Tickets for adults cost twelve euros [1].')))

const url = () => stage.portico.url
const operator = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  stage.portico.operator(method, path, body, headers)
/** Limits count for each Space. Without files, the model answers all the same. */
const freshSpace = () => stage.portico.createSpace(organisation, { model: 'm', settings: { queryRewriting: 'off' } })
const site = (path = '') => `/api/spaces/${space.id}/site${path}`
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

describe('the settings of a site', () => {
  test('are off until an administrator sets them up, with a free name proposed', async () => {
    const other = await stage.portico.createSpace(organisation, { name: 'Größe & Maße', model: 'm' })
    const view = expectStatus(await operator('GET', `/api/spaces/${other.id}/site`), 200)
    expect(view).toMatchObject({ site: null, proposedName: 'grosse-masse', published: true, shareUrl: null })
    expect(codeOf(await operator('POST', `/api/spaces/${other.id}/site/pause`))).toEqual([404, 'not_found'])
  })

  test('are changed by one of two editors, and a name belongs to one Space', async () => {
    const given = { enabled: true, name: 'the-museum', title: 'Museum', dailyCapUsd: '0.50' }
    const first = await operator('PUT', site(), given, { 'if-match': '"0"' })
    expect(expectStatus(first, 200).site).toMatchObject({ generation: 1, dailyCapUsd: '0.5', access: 'everyone' })
    expect(codeOf(await operator('PUT', site(), given, { 'if-match': '"0"' }))).toEqual([409, 'conflict'])
    const other = await stage.portico.createSpace(organisation, { model: 'm' })
    const taken = await operator('PUT', `/api/spaces/${other.id}/site`, given)
    expect(taken).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'name' } } })
  })

  test('suggest golden questions and headings without a model', async () => {
    const messages = [{ role: 'user', content: 'When is the museum open?' }]
    expectStatus(await operator('POST', `/api/spaces/${space.id}/golden-questions`, { messages }), 201)
    const { questions } = expectStatus(await operator('GET', site('/suggestions')), 200)
    expect(questions).toEqual(['When is the museum open?', 'What about children?'])
    expect(stage.calls()).toEqual([])
  })

  test.each([
    [{ name: 'No' }, 'name'],
    [{ name: randomUUID() }, 'name'],
    [{ allowedOrigins: ['https://example.com/page'] }, 'allowedOrigins.0'],
    [{ allowedOrigins: ['https://*.example.com'] }, 'allowedOrigins.0'],
    [{ access: 'password' }, 'password'],
    [{ access: 'members', allowedOrigins: ['https://example.com'] }, 'allowedOrigins'],
    [{ dailyCapUsd: '-1' }, 'dailyCapUsd'],
    [{ dailyCapUsd: '0.0000000000001' }, 'dailyCapUsd'],
    [{ logo: 'data:image/svg+xml;base64,PHN2Zz4=' }, 'logo'],
    [{ suggestions: Array.from({ length: 7 }, () => 'Why?') }, 'suggestions'],
    [{ colour: 'red' }, 'colour'],
    [{ limits: { perHour: 3 } }, 'limits'],
  ])('are refused with the field that is wrong: %j', async (wrong, param) => {
    const answer = await operator('PUT', site(), {
      enabled: true,
      name: 'a-name',
      title: 'M',
      dailyCapUsd: '1',
      ...wrong,
    })
    expect(answer).toMatchObject({ status: 400, body: { error: { param: expect.stringContaining(param) } } })
  })
})

describe('a visitor', () => {
  test('asks and receives the quote and the page of each citation, without an API key', async () => {
    const name = await openSite(stage.portico, space, { citations: 'page' })
    const visitor = await enterSite(url(), name)
    const { events, requestId } = await visitor.stream()
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['message_source', 'assistant_write', 'assistant_finish', 'references', 'done']),
    )
    const [reference] = events.find(({ event }) => event === 'references')!.data.references
    expect(reference).toMatchObject({
      title: 'tickets.md',
      documentId,
      passages: [{ markers: [{ occurrence: 1, quote: 'Tickets for adults cost twelve euros at the museum.' }] }],
    })
    const at = `/documents/${documentId}`
    const ticket = `?ticket=${encodeURIComponent(reference.ticket)}`
    expect((await visitor.call('GET', at + ticket)).body).toMatchObject({ title: 'tickets.md', pageCount: null })
    expect((await visitor.call('GET', `${at}/text${ticket}&from=0&to=9`)).body).toMatchObject({ from: 0, to: 9 })
    expect((await visitor.call('GET', `${at}/content${ticket}`)).body).toContain('Children pay nothing')
    expectStatus(await visitor.call('POST', '/ratings', { requestId, rating: 'down', reason: 'Wrong.' }), 204)

    const other = await enterSite(url(), name)
    expect(codeOf(await other.call('GET', at + ticket))).toEqual([404, 'document_not_found'])
    expect(codeOf(await other.call('POST', '/ratings', { requestId, rating: 'up' }))).toEqual([404, 'not_found'])
    const found = await operator('GET', `/api/spaces/${space.id}/conversations?user=web:${visitor.visitorId}`)
    expect(found.body.items).toMatchObject([{ disliked: 1, turns: 1 }])
    expectStatus(
      await operator('POST', `/api/spaces/${space.id}/conversations/erase`, { user: `web:${visitor.visitorId}` }),
      200,
    )
  })

  test.each([
    ['title', ['id', 'title']],
    ['quote', ['id', 'passages', 'title']],
  ])('receives no more of a citation than the site shows: %s', async (citations, fields) => {
    const visitor = await enterSite(url(), await openSite(stage.portico, space, { citations }))
    const [reference] = expectStatus(await visitor.ask(), 200).references
    expect(Object.keys(reference).toSorted()).toEqual(fields)
    const path = `/documents/${documentId}/content?ticket=v1.AAAA`
    expect(codeOf(await visitor.call('GET', path))).toEqual([404, 'document_not_found'])
  })

  test('may ask a long question after a long conversation', async () => {
    const visitor = await enterSite(url(), await openSite(stage.portico, space))
    const earlier = Array.from({ length: 40 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: 'A ticket of the museum. '.repeat(200),
    }))
    const question = `${'word '.repeat(700)}${museumQuestion}`
    expectStatus(
      await visitor.call('POST', '/chat', { messages: [...earlier, { role: 'user', content: question }] }),
      200,
    )
  })

  test('is refused with a message that is too long, too many of them, and a body that is too large', async () => {
    const visitor = await enterSite(url(), await openSite(stage.portico, space))
    const ask = (messages: object[]) => visitor.call('POST', '/chat', { messages })
    const user = (content: string) => ({ role: 'user', content })
    expect(await ask([user('a'.repeat(4_001))])).toMatchObject({
      status: 400,
      body: { error: { param: 'messages.0.content', message: expect.stringContaining('4000') } },
    })
    expect(await ask(Array.from({ length: 61 }, () => user('a')))).toMatchObject({
      status: 400,
      body: { error: { param: 'messages', message: expect.stringContaining('60') } },
    })
    expect(codeOf(await ask([user('a'.repeat(300_000))]))).toEqual([413, 'request_too_large'])
    expect(stage.calls()).toEqual([])
  })

  test('is refused above the limits a minute of a visitor, an address and a Space, with the time to wait', async () => {
    const limits = { visitorPerMinute: 2, addressPerMinute: 3, spacePerMinute: 100 }
    const name = await openSite(stage.portico, await freshSpace(), { limits })
    const visitor = await enterSite(url(), name)
    expectStatus(await visitor.ask(), 200)
    // The address of a client counts, not what it states in a header.
    expectStatus(
      await visitor.call(
        'POST',
        '/chat',
        { messages: [{ role: 'user', content: 'Hi' }] },
        { 'x-forwarded-for': '203.0.113.7' },
      ),
      200,
    )
    const limited = await visitor.ask()
    expect(codeOf(limited)).toEqual([429, 'rate_limit_exceeded'])
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    const second = await enterSite(url(), name)
    expectStatus(await second.ask(), 200)
    expect(
      codeOf(
        await second.call(
          'POST',
          '/chat',
          { messages: [{ role: 'user', content: 'Hi' }] },
          { 'x-forwarded-for': '203.0.113.8' },
        ),
      ),
    ).toEqual([429, 'rate_limit_exceeded'])
  })
})

describe('a session', () => {
  test('ends when the site is paused or changed, and begins again by itself', async () => {
    const space = await freshSpace()
    const name = await openSite(stage.portico, space)
    const visitor = await enterSite(url(), name)
    expectStatus(await operator('POST', `/api/spaces/${space.id}/site/pause`), 200)
    expect(codeOf(await visitor.ask())).toEqual([403, 'site_paused'])
    expect(codeOf(await openVisit(url(), name))).toEqual([403, 'site_paused'])
    expect(
      (await createApiClient(url(), '')('GET', `/s/${name}/config`, undefined, { authorization: '' })).body.state,
    ).toBe('paused')
    expectStatus(await operator('POST', `/api/spaces/${space.id}/site/resume`), 200)
    expect(codeOf(await visitor.ask())).toEqual([401, 'invalid_visit'])
    const second = await enterSite(url(), name)
    expectStatus(await second.ask(), 200)
    const { site } = expectStatus(await operator('GET', `/api/spaces/${space.id}/site`), 200)
    const changed = { enabled: true, name, title: 'Another title', dailyCapUsd: site.dailyCapUsd }
    expectStatus(await operator('PUT', `/api/spaces/${space.id}/site`, changed), 200)
    expect(codeOf(await second.ask())).toEqual([401, 'invalid_visit'])
    // It begins again, and is no renewal: a new password, puzzle or website counts at once.
    expectStatus(await openVisit(url(), name, { visitorId: second.visitorId, session: second.session }), 200)
    const closed = { ...changed, access: 'password', password: 'twelve herons' }
    expectStatus(await operator('PUT', `/api/spaces/${space.id}/site`, closed), 200)
    const former = { visitorId: second.visitorId, session: second.session }
    expect(codeOf(await openVisit(url(), name, former))).toEqual([401, 'password_required'])
  })

  test('is renewed for the same visitor on the same website only', async () => {
    const name = await openSite(stage.portico, await freshSpace(), {
      access: 'password',
      password: 'twelve herons',
      allowedOrigins: ['https://www.example.com'],
    })
    const visitorId = randomUUID()
    expect(codeOf(await openVisit(url(), name, { visitorId }))).toEqual([401, 'password_required'])
    expect(codeOf(await openVisit(url(), name, { visitorId, password: 'a guess of ours' }))).toEqual([
      401,
      'password_required',
    ])
    const { session } = expectStatus(await openVisit(url(), name, { visitorId, password: 'twelve herons' }), 200)
    expectStatus(await openVisit(url(), name, { visitorId, session }), 200)
    expect(codeOf(await openVisit(url(), name, { session }))).toEqual([401, 'password_required'])
    const embeddedBy = 'https://www.example.com'
    expect(codeOf(await openVisit(url(), name, { visitorId, session, embeddedBy }))).toEqual([401, 'password_required'])
    expectStatus(await openVisit(url(), name, { visitorId, password: 'twelve herons', embeddedBy }), 200)
    for (let guess = 0; guess < 5; guess++) await openVisit(url(), name, { password: `a guess ${guess}` })
    expect(codeOf(await openVisit(url(), name, { password: 'twelve herons' }))).toEqual([429, 'rate_limit_exceeded'])
  })

  test('is refused to other websites and to pages of other origins', async () => {
    const name = await openSite(stage.portico, await freshSpace(), { allowedOrigins: ['https://www.example.com'] })
    const embeddedBy = 'https://evil.example'
    expect(codeOf(await openVisit(url(), name, { embeddedBy }))).toEqual([403, 'origin_not_allowed'])
    const headers = { authorization: '', origin: 'https://www.example.com' }
    const sent = await createApiClient(url(), '')('POST', `/s/${name}/session`, { visitorId: randomUUID() }, headers)
    expect(codeOf(sent)).toEqual([403, 'cross_site_request'])
    expect(sent.headers.get('access-control-allow-origin')).toBeNull()
    const visitor = await enterSite(url(), name)
    expect(codeOf(await visitor.call('POST', '/chat', { messages: [] }, { origin: 'https://evil.example' }))).toEqual([
      403,
      'cross_site_request',
    ])
  })

  test('of another site, a changed one and an API key are refused', async () => {
    const name = await openSite(stage.portico, await freshSpace())
    const other = await freshSpace()
    const foreign = await enterSite(url(), await openSite(stage.portico, other))
    const visitor = await enterSite(url(), name)
    const last = visitor.session.at(-2) === 'A' ? 'B' : 'A'
    const changed = `${visitor.session.slice(0, -2)}${last}${visitor.session.slice(-1)}`
    for (const session of [foreign.session, changed, organisation.apiKey, '', 'ptv_', 'ptv_v1.AAAA'])
      expect(codeOf(await createApiClient(url(), session)('POST', `/s/${name}/chat`, {}))).toEqual([
        401,
        'invalid_visit',
      ])
  })

  test('of a member needs the sign-in on every call', async () => {
    const name = await openSite(stage.portico, await freshSpace(), { access: 'members' })
    const member = await createPerson(stage.portico, { email: 'member@example.org', organisationId: organisation.id })
    const stranger = await createPerson(stage.portico, { email: 'stranger@example.org' })
    const body = { visitorId: randomUUID() }
    expect(codeOf(await openVisit(url(), name))).toEqual([401, 'not_signed_in'])
    expect(codeOf(await stranger.call('POST', `/s/${name}/session`, body))).toEqual([404, 'not_found'])
    const { session } = expectStatus(await member.call('POST', `/s/${name}/session`, body), 200)
    const messages = [{ role: 'user', content: museumQuestion }]
    const ask = (cookie: string) =>
      createApiClient(url(), session)('POST', `/s/${name}/chat`, { messages }, cookie === '' ? {} : { cookie })
    expectStatus(await ask(member.cookie()), 200)
    expect(codeOf(await ask(''))).toEqual([401, 'not_signed_in'])
    expect(codeOf(await ask(stranger.cookie()))).toEqual([404, 'not_found'])
  })
})

describe('a puzzle', () => {
  const challengeOf = async (name: string) =>
    expectStatus(await createApiClient(url(), '')('GET', `/s/${name}/challenge`, undefined, { authorization: '' }), 200)
  const solve = async (challenge: never) => {
    const { counter, derivedKey } = (await solveChallenge({ challenge, deriveKey }))!
    return { challenge, solution: { counter, derivedKey } }
  }

  test('is required where the site wants one, and counts once, solved, and for its site', async () => {
    const name = await openSite(stage.portico, await freshSpace(), { proofOfWork: 'always' })
    expect(codeOf(await openVisit(url(), name))).toEqual([403, 'proof_of_work_required'])
    const challenge = await challengeOf(name)
    const proof = await solve(challenge as never)
    const wrong = { ...proof, solution: { ...proof.solution, counter: proof.solution.counter + 1 } }
    expect(codeOf(await openVisit(url(), name, { proof: wrong }))).toEqual([403, 'proof_of_work_required'])
    const forged = { ...proof, challenge: { ...challenge, parameters: { ...challenge.parameters, cost: 1 } } }
    expect(codeOf(await openVisit(url(), name, { proof: forged }))).toEqual([403, 'proof_of_work_required'])
    // Of several at once, one counts.
    const answers = await Promise.all(Array.from({ length: 5 }, () => openVisit(url(), name, { proof })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403])
    expect(codeOf(await openVisit(url(), name, { proof }))).toEqual([403, 'proof_of_work_required'])

    const other = await stage.portico.createSpace(organisation, { model: 'm' })
    const foreign = await solve(
      (await challengeOf(await openSite(stage.portico, other, { proofOfWork: 'always' }))) as never,
    )
    expect(codeOf(await openVisit(url(), name, { proof: foreign }))).toEqual([403, 'proof_of_work_required'])
  })

  test('is required from an address that begins unusually many visits, and becomes harder', async () => {
    const other = await stage.portico.createSpace(organisation, { model: 'm' })
    const name = await openSite(stage.portico, other)
    const config = async () =>
      (await createApiClient(url(), '')('GET', `/s/${name}/config`, undefined, { authorization: '' })).body
    expect((await config()).proofOfWork).toBe(false)
    const first = (await challengeOf(name)).parameters.cost
    for (let visit = 0; visit < 10; visit++) expectStatus(await openVisit(url(), name), 200)
    expect((await config()).proofOfWork).toBe(true)
    expect(codeOf(await openVisit(url(), name))).toEqual([403, 'proof_of_work_required'])
    for (let visit = 0; visit < 10; visit++)
      expectStatus(await openVisit(url(), name, { proof: await solve((await challengeOf(name)) as never) }), 200)
    expect((await challengeOf(name)).parameters.cost).toBeGreaterThan(first)
  })
})

describe('a site that does not answer', () => {
  test('is the same 404 for an unknown name, one that is off, and an unpublished or removed Space', async () => {
    const get = (name: string) =>
      createApiClient(url(), '')('GET', `/s/${name}/config`, undefined, { authorization: '' })
    const other = await stage.portico.createSpace(organisation, { model: 'm' })
    const name = await openSite(stage.portico, other)
    const visitor = await enterSite(url(), name)
    const { site: made } = expectStatus(await operator('GET', `/api/spaces/${other.id}/site`), 200)
    expect((await get(made.publicId)).body.name).toBe(name)
    const unknown = (await get('no-such-site')).body
    expectStatus(await operator('POST', `/api/spaces/${other.id}/unpublish`), 200)
    expect((await get(name)).body).toEqual(unknown)
    expect(codeOf(await visitor.ask())).toEqual([404, 'not_found'])
    expectStatus(await operator('POST', `/api/spaces/${other.id}/publish`), 200)
    expectStatus(await get(name), 200)
    await openSite(stage.portico, other, { enabled: false, name })
    expect((await get(name)).body).toEqual(unknown)
    expectStatus(await operator('DELETE', `/api/spaces/${other.id}`), 204)
    expect((await get(name)).body).toEqual(unknown)
  })
})

test('the console shows what visitors have cost today', async () => {
  const other = await stage.portico.createSpace(organisation, { model: 'm', settings: { queryRewriting: 'off' } })
  const name = await openSite(stage.portico, other, { dailyCapUsd: '0.25' })
  const visitor = await enterSite(url(), name)
  const answer = await visitor.ask()
  const { billedUsd } = expectStatus(await operator('GET', `/api/usage/${answer.headers.get('x-request-id')}`), 200)
  const today = async () => expectStatus(await operator('GET', `/api/spaces/${other.id}/site/today`), 200)
  await vi.waitFor(async () => expect((await today()).heldUsd).toBe('0'))
  expect(await today()).toMatchObject({ capUsd: '0.25', messages: 1, spentUsd: expect.any(String) })
  expect(Number((await today()).spentUsd)).toBeGreaterThanOrEqual(Number(billedUsd))
  await vi.waitFor(async () => expect((await today()).sessions).toBe(1), { timeout: 20_000 })
})
