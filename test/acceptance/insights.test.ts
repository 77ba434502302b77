import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hastyClock } from '../harness/hasty-clock.ts'
import { startMuseum } from '../harness/museum.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { expectStatus, type TestOrganisation, type TestPortico, type TestSpace } from '../harness/portico.ts'

/** What the usage page shows of published chats: cited documents and unanswered questions. */

let portico: TestPortico
let organisation: TestOrganisation
let filled: TestSpace
let empty: TestSpace
let documentId: string
let administrator: Browser
let member: Browser

beforeAll(async () => {
  ;({
    portico,
    organisation,
    space: filled,
    documentId,
  } = await startMuseum(undefined, undefined, { clock: hastyClock }))
  empty = await portico.createSpace(organisation, { name: 'Empty' })
  const person = { organisationId: organisation.id }
  administrator = await createPerson(portico, { email: 'a@example.org', role: 'administrator', ...person })
  member = await createPerson(portico, { email: 'm@example.org', ...person })
})
afterAll(() => portico?.stop())

const ask = (space: TestSpace, content: string) =>
  organisation
    .client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages: [{ role: 'user', content }] })
    .then((answer) => expectStatus(answer, 200))
const report = async (query = '') =>
  expectStatus(await administrator.call('GET', `/api/console/organisations/${organisation.id}/usage${query}`), 200)
const keep = (browser: Browser, value: boolean) =>
  browser.call('PATCH', `/api/spaces/${empty.id}`, { settings: { keepUnansweredQuestions: value } })

describe('the usage report', () => {
  it('counts cited documents and unanswered questions of published chats, without their text', async () => {
    await ask(filled, 'How much does a ticket cost?')
    await ask(filled, 'What is the price of a ticket?')
    await ask(empty, 'Is anybody there?')
    // A preview by a person is not counted.
    const preview = { messages: [{ role: 'user', content: 'How much does a ticket cost?' }] }
    expectStatus(await member.call('POST', `/api/spaces/${filled.id}/chat`, preview), 200)
    await expect
      .poll(async () => (await report()).topDocuments, { timeout: 20_000 })
      .toEqual([{ documentId, spaceId: filled.id, spaceName: 'Museum', name: 'museum.md', citations: 2 }])
    await expect
      .poll(async () => (await report()).unanswered, { timeout: 20_000 })
      .toEqual([
        { spaceId: empty.id, spaceName: 'Empty', answers: 1, unanswered: 1 },
        { spaceId: filled.id, spaceName: 'Museum', answers: 2, unanswered: 0 },
      ])
    expect((await report()).unansweredQuestions).toEqual([])
    expect((await report(`?spaceId=${empty.id}`)).topDocuments).toEqual([])
    expect((await report('?spaceId=none')).unanswered).toEqual([])
  })

  it('shows questions of a Space only after an administrator has turned that on', async () => {
    expect((await keep(member, true)).body.error.code).toBe('forbidden_role')
    expect((await keep(member, false)).status).toBe(200)
    expect((await keep(administrator, true)).body.settings.keepUnansweredQuestions).toBe(true)
    const { items } = (await portico.operator('GET', `/api/admin-log?organisationId=${organisation.id}&limit=1`)).body
    expect(items[0]).toMatchObject({ action: 'space.updated', actor: 'a@example.org' })
    // A member may change other settings, and may not turn it off.
    expect((await member.call('PATCH', `/api/spaces/${empty.id}`, { name: 'Void' })).status).toBe(200)
    expect((await keep(member, false)).body.error.code).toBe('forbidden_role')
    await ask(empty, 'Where is the exit?')
    await ask(empty, 'where is  the exit?')
    await expect
      .poll(async () => (await report()).unansweredQuestions, { timeout: 20_000 })
      .toEqual([
        {
          spaceId: empty.id,
          spaceName: 'Void',
          question: 'where is the exit?',
          count: 2,
          lastAskedAt: expect.any(String),
        },
      ])
    expect((await keep(administrator, false)).status).toBe(200)
    expect((await report()).unansweredQuestions).toEqual([])
  })

  it('leaves out a deleted document', async () => {
    expect((await organisation.client('DELETE', `/v1/documents/${documentId}`)).status).toBe(204)
    expect((await report()).topDocuments).toEqual([])
  })
})
