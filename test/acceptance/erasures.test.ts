import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Erasure, ErasureCertificate } from '../../src/contract/erasures.ts'
import type { Clock } from '../../src/platform/kernel/index.ts'
import { findTablesWith, freshDatabasePlace } from '../harness/database.ts'
import { hastyClock } from '../harness/hasty-clock.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  type ApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** Erasure of visitors and documents, with certificates. */

/** An erasure waits a little longer than counts wait until they are written. */
const clock: Clock = { ...hastyClock, sleep: (ms, signal) => hastyClock.sleep(ms / 10, signal) }

let portico: TestPortico
let organisation: TestOrganisation
let spaces: TestSpace[]
let administrator: Browser
let other: Browser
let otherId: string

beforeAll(async () => {
  portico = await startPortico({ clock })
  organisation = await portico.createOrganisation()
  const settings = { keepConversations: true, keepUnansweredQuestions: true }
  spaces = [
    await portico.createSpace(organisation, { name: 'One', settings }),
    await portico.createSpace(organisation, { name: 'Two', settings }),
  ]
  otherId = (await portico.createOrganisation()).id
  const role = 'administrator'
  administrator = await createPerson(portico, { email: 'a@example.org', role, organisationId: organisation.id })
  other = await createPerson(portico, { email: 'b@example.org', role, organisationId: otherId })
})
afterAll(() => portico?.stop())

const base = () => `/api/organisations/${organisation.id}/erasures`
const ask = async (client: ApiClient, space: TestSpace, content: string, user: string) =>
  expectStatus(
    await client(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      { messages: [{ role: 'user', content }] },
      { 'service-user': user },
    ),
    200,
  )
const request = async (subject: object): Promise<Erasure> =>
  expectStatus(await administrator.call('POST', base(), subject), 202)
const load = async (id: string): Promise<Erasure> =>
  expectStatus(await administrator.call('GET', `${base()}/${id}`), 200)

async function certificateOf({ id }: Erasure): Promise<ErasureCertificate> {
  await expect.poll(async () => (await load(id)).state, { timeout: 60_000 }).toBe('completed')
  return (await load(id)).certificate!
}
const tablesWith = (text: string) => findTablesWith(portico.service, text)
const verify = async (certificate: unknown) =>
  expectStatus(await portico.operator('POST', '/api/erasures/verify', { certificate }), 200)
const zeros = (counts: object) => expect(new Set(Object.values(counts))).toEqual(new Set([0]))

describe('an erasure of a user', () => {
  let certificate: ErasureCertificate

  it('removes the turns in every Space, kept questions and the value, and completes with a certificate', async () => {
    await ask(organisation.client, spaces[0]!, 'What is an Archaeopteryx?', 'visitor-gone')
    await ask(organisation.client, spaces[1]!, 'Where is the Quetzalcoatlus?', 'visitor-gone')
    await ask(organisation.client, spaces[1]!, 'What does a ticket cost?', 'visitor-stays')
    const body = { model: 'portico/offline', messages: [{ role: 'user', content: 'Hi' }], user: 'visitor-gone' }
    expectStatus(await organisation.client('POST', '/v1/gateway/chat/completions', body), 200)
    await expect.poll(() => tablesWith('visitor-gone'), { timeout: 30_000 }).toContain('usage_tags')
    await expect.poll(() => tablesWith('Archaeopteryx'), { timeout: 30_000 }).toContain('insight_questions')
    const erasure = await request({ user: 'visitor-gone' })
    expect(erasure).toMatchObject({ state: 'running', kind: 'user', requestedBy: 'a@example.org', certificate: null })
    certificate = await certificateOf(erasure)
    expect(certificate.removed).toMatchObject({
      conversationTurns: { count: 2, from: expect.any(String), to: expect.any(String) },
      conversations: { count: 2 },
      unansweredQuestions: { count: 2 },
      usageTags: { count: 1 },
    })
    zeros(certificate.left)
    for (const text of ['visitor-gone', 'Archaeopteryx', 'Quetzalcoatlus']) expect(await tablesWith(text)).toEqual([])
    expect(await tablesWith('visitor-stays')).toEqual(expect.arrayContaining(['conversations', 'conversation_turns']))
  }, 120_000)

  it('gives a certificate that only this installation can make', async () => {
    const verified = await verify(certificate)
    expect(verified.genuine).toBe(true)
    expect(verified.logEntries).toEqual(certificate.logEntryIds.map((id) => ({ id, exists: true })))
    expect(verified.logEntries).toHaveLength(2)
    const reordered = Object.fromEntries(Object.entries(certificate).toReversed())
    expect((await verify(reordered)).genuine).toBe(true)
    const { left, ...rest } = certificate
    const forged = [
      { ...certificate, completedAt: '2026-01-01T00:00:00.000Z' },
      { ...certificate, left: { ...left, conversationTurns: 1 } },
      { ...certificate, extra: true },
      { ...certificate, signature: `A${certificate.signature.slice(1)}x` },
      rest,
      {},
    ]
    for (const one of forged) expect(await verify(one)).toEqual({ genuine: false, logEntries: [] })
    const log = await portico.operator('GET', `/api/admin-log?subjectType=erasure&organisationId=${organisation.id}`)
    const entries = expectStatus(log, 200).items as { id: string; action: string; actor: string }[]
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['erasure.completed', 'service'],
      ['erasure.requested', 'a@example.org'],
    ])
    await portico.service.control.execute(`DELETE FROM admin_log WHERE id = $1`, [certificate.logEntryIds[0]!])
    expect((await verify(certificate)).logEntries[0]).toEqual({ id: certificate.logEntryIds[0], exists: false })
  })

  it('has zeros and the same digest the second time', async () => {
    const second = await certificateOf(await request({ user: 'visitor-gone' }))
    expect(second.id).not.toBe(certificate.id)
    expect(second.subjectDigest).toBe(certificate.subjectDigest)
    zeros(Object.fromEntries(Object.entries(second.removed).map(([name, { count }]) => [name, count])))
    zeros(second.left)
    expect(expectStatus(await administrator.call('GET', `${base()}?limit=1`), 200)).toMatchObject({
      items: [{ id: second.id }],
      nextCursor: expect.any(String),
    })
  }, 60_000)

  it('is closed to administrators of other organisations', async () => {
    expect((await other.call('POST', base(), { user: 'visitor-stays' })).status).toBe(404)
    expect((await other.call('GET', base())).status).toBe(404)
    expect((await other.call('GET', `${base()}/${certificate.id}`)).status).toBe(404)
    const own = `/api/organisations/${otherId}/erasures`
    expect((await other.call('GET', `${own}/${certificate.id}`)).status).toBe(404)
    expect(expectStatus(await other.call('POST', `${own}/verify`, { certificate }), 200).genuine).toBe(false)
    const verified = await administrator.call('POST', `${base()}/verify`, { certificate })
    expect(expectStatus(verified, 200).genuine).toBe(true)
    expect((await administrator.call('POST', '/api/erasures/verify', { certificate })).status).toBe(403)
    for (const body of [{}, { user: 'a', documentId: crypto.randomUUID() }, { user: 'ä' }])
      expect((await administrator.call('POST', base(), body)).status).toBe(400)
  })
})

describe('an erasure of a document', () => {
  it('removes file, text, index, citations, and the answers that cite it', async () => {
    const { client } = organisation
    const [space] = spaces
    const upload = async (text: string, name: string): Promise<string> => {
      const path = `/v1/documents?spaceId=${space!.id}`
      const { id } = expectStatus(await client('POST', path, uploadForm(text, name), { 'idempotency-key': name }), 201)
      await waitForDocument(client, id)
      return id
    }
    const gone = await upload('# Zwiebelkuchen\n\nThe Zwiebelkuchen costs 99 euros on Sundays.', 'cake.md')
    const stays = await upload('# Opening\n\nThe museum opens at nine.', 'opening.md')
    const { references } = await ask(client, space!, 'What does the Zwiebelkuchen cost on Sundays?', 'visitor-1')
    expect(references.map(({ documentId }: { documentId: string }) => documentId)).toContain(gone)
    await ask(client, space!, 'When does the museum open?', 'visitor-2')
    await expect.poll(() => tablesWith('99 euros'), { timeout: 30_000 }).toEqual(['conversation_turns', 'chunks'])
    await expect.poll(() => tablesWith(gone), { timeout: 30_000 }).toContain('insight_citations')
    const files = async () => {
      const keys: string[] = []
      for await (const { key } of portico.service.blobs.list()) keys.push(key)
      return keys
    }
    expect((await files()).join()).toContain(gone)

    // The organisation of the erasure is the one of the path.
    const foreign = await other.call('POST', `/api/organisations/${otherId}/erasures`, { documentId: gone })
    const foreignId = expectStatus(foreign, 202).id
    const certificate = await certificateOf(await request({ documentId: gone.toUpperCase() }))
    expect(certificate.removed).toMatchObject({
      documents: { count: 1, from: expect.any(String) },
      files: { count: 1 },
      chunks: { count: 1 },
      searchTerms: { count: 1 },
      vectors: { count: 1 },
      conversationTurns: { count: 1 },
      citationCounts: { count: 1 },
    })
    zeros(certificate.left)
    expect(await tablesWith('99 euros')).toEqual([])
    expect(await tablesWith('Zwiebelkuchen')).toEqual([])
    // The key of its upload had the name; entries of the admin log may name it.
    expect(await tablesWith('cake.md')).toEqual([])
    expect((await files()).join()).not.toContain(gone)
    expect((await client('GET', `/v1/documents/${gone}`)).status).toBe(404)
    expect((await client('GET', `/v1/documents/${stays}`)).status).toBe(200)
    expect(await tablesWith('visitor-2')).toContain('conversation_turns')

    const path = `/api/organisations/${otherId}/erasures/${foreignId}`
    await expect
      .poll(async () => (await other.call('GET', path)).body.certificate?.removed.documents, { timeout: 60_000 })
      .toMatchObject({ count: 0 })
  }, 180_000)
})

it('an erasure that a service has accepted is left to its next start', async () => {
  const place = await freshDatabasePlace()
  const first = await startPortico({ place, clock })
  const own = await first.createOrganisation()
  const space = await first.createSpace(own, { settings: { keepConversations: true } })
  await ask(own.client, space, 'What is a Diplodocus?', 'visitor-x')
  await expect.poll(() => findTablesWith(first.service, 'visitor-x')).toContain('conversations')
  const path = `/api/organisations/${own.id}/erasures`
  const { id } = expectStatus(await first.operator('POST', path, { user: 'visitor-x' }), 202)
  await first.stop()
  const second = await startPortico({ place, clock })
  const found = async () => expectStatus(await second.operator('GET', `${path}/${id}`), 200) as Erasure
  await expect.poll(async () => (await found()).state, { timeout: 60_000 }).toBe('completed')
  expect((await found()).certificate?.removed.conversationTurns?.count).toBe(1)
  await second.stop()
  await place.remove()
})
