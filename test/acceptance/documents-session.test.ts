import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SseParser } from '../../src/platform/kernel/index.ts'
import { insertDocumentRows } from '../harness/document-rows.ts'
import { hastyClock } from '../harness/hasty-clock.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** Documents on the session routes below /api: the same rules as /v1/documents, for people. */

let portico: TestPortico
let organisation: TestOrganisation
let member: Browser
let stranger: Browser
let spaceId: string

beforeAll(async () => {
  portico = await startPortico({ clock: hastyClock, settings: { ingestion: { workers: 1 } } })
  organisation = await portico.createOrganisation()
  const other = await portico.createOrganisation({ name: 'Other organisation' })
  member = await createPerson(portico, { email: 'm@example.org', organisationId: organisation.id })
  stranger = await createPerson(portico, { email: 's@example.org', organisationId: other.id, role: 'administrator' })
  spaceId = (await portico.createSpace(organisation)).id
})
afterAll(() => portico?.stop())

const path = (suffix = '') => `/api/spaces/${spaceId}/documents${suffix}`
const upload = (form: FormData, suffix = '', by = member) => by.call('POST', path(suffix), form)
const list = async (query = '', of = spaceId) =>
  expectStatus(await member.call('GET', `/api/spaces/${of}/documents?${query}`), 200)
/** A job writes it after the change. */
const newestEntry = async () =>
  expectStatus(await portico.operator('GET', `/api/admin-log?organisationId=${organisation.id}&limit=1`), 200).items[0]

describe('a member', () => {
  test('uploads a file with its folder, and reads everything about it', async () => {
    const metadata = '{"path":"contracts/2026","n":12345678901234567890}'
    const { id } = expectStatus(await upload(uploadForm('Some text.', 'file.txt', { metadata })), 201)
    await waitForDocument(organisation.client, id)
    expect(expectStatus(await member.call('GET', `/api/documents/${id}`), 200)).toMatchObject({
      id,
      spaceId,
      name: 'file.txt',
      status: 'ready',
      stage: 'done',
      chunkCount: 1,
      pageCount: null,
      format: 'txt',
      path: 'contracts/2026',
      sizeBytes: 10,
      error: null,
      warnings: [],
      metadata: { path: 'contracts/2026' },
    })
    expect((await list()).items[0]).toMatchObject({ id, path: 'contracts/2026' })
    await expect.poll(newestEntry).toMatchObject({ action: 'document.created', actor: 'm@example.org', subjectId: id })
  })

  test('follows the rules of /v1/documents for types, duplicates and idempotency keys', async () => {
    const first = expectStatus(await upload(uploadForm('one', 'twice.md')), 201)
    expect(expectStatus(await upload(uploadForm('two', 'twice.md'), '?onDuplicate=skip'), 200).id).toBe(first.id)
    const program = await upload(uploadForm(new Uint8Array([77, 90, 144, 0]), 'program.exe'))
    expect([program.status, program.body.error.code]).toEqual([415, 'unsupported_file_type'])
    const keyed = () =>
      member.call('POST', path(), uploadForm('same', 'key.txt'), { 'idempotency-key': 'a key of a page' })
    const [one, two] = [expectStatus(await keyed(), 201), expectStatus(await keyed(), 201)]
    expect(two.id).toBe(one.id)
    expect((await upload(uploadForm('x', 'x.txt'), '?onDuplicate=perhaps')).body.error.param).toBe('onDuplicate')
  })

  test('renames, changes metadata and deletes, and each change is in the admin log with before and after', async () => {
    const { id } = expectStatus(await upload(uploadForm('Some text.', 'before.txt')), 201)
    const change = { name: 'after.txt', metadata: { path: 'new', big: 1 } }
    expect(expectStatus(await member.call('PATCH', `/api/documents/${id}`, change), 200)).toMatchObject({
      ...change,
      path: 'new',
    })
    await expect.poll(newestEntry).toMatchObject({
      action: 'document.updated',
      before: { name: 'before.txt', metadata: null },
      after: change,
    })
    const tooLarge = await member.call('PATCH', `/api/documents/${id}`, { metadata: { text: 'x'.repeat(17_000) } })
    expect([tooLarge.status, tooLarge.body.error.param]).toEqual([400, 'metadata'])
    expect((await member.call('DELETE', `/api/documents/${id}`)).status).toBe(204)
    expect((await member.call('GET', `/api/documents/${id}`)).status).toBe(404)
    await expect
      .poll(newestEntry)
      .toMatchObject({ action: 'document.removed', before: { name: 'after.txt' }, after: null })
  })

  test('of another organisation gets the same 404 as for nothing', async () => {
    const { id } = expectStatus(await upload(uploadForm('Secret.', 'secret.txt')), 201)
    const answers = [
      await upload(uploadForm('x', 'x.txt'), '', stranger),
      await stranger.call('GET', path()),
      await stranger.call('POST', path('/delete'), { filter: {} }),
      await stranger.call('POST', path('/retry'), { ids: [id] }),
      await stranger.call('GET', `/api/documents/${id}`),
      await stranger.call('PATCH', `/api/documents/${id}`, { name: 'mine.txt' }),
      await stranger.call('DELETE', `/api/documents/${id}`),
      await stranger.call('POST', `/api/documents/${id}/retry`),
    ]
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    expect((await member.call('GET', `/api/documents/${id}`)).body.name).toBe('secret.txt')
  })
})

describe('the uploads of an organisation', () => {
  test('count in its limit, with a session too', async () => {
    const { id: organisationId } = await portico.createOrganisation({ name: 'Small' })
    const limits = { concurrentUploads: 1 }
    expectStatus(await portico.operator('PATCH', `/api/organisations/${organisationId}`, { limits }), 200)
    const space = await portico.createSpace({ id: organisationId, apiKey: '', client: portico.operator })
    const person = await createPerson(portico, { email: 'small@example.org', organisationId })
    const large = () =>
      person.call('POST', `/api/spaces/${space.id}/documents`, uploadForm('y'.repeat(8_000_000), 'large.txt'))
    const statuses = (await Promise.all([large(), large(), large(), large()])).map(({ status }) => status)
    expect(statuses).toContain(201)
    expect(statuses).toContain(429)
  })
})

describe('a list', () => {
  let listed: string
  const count = 700

  beforeAll(async () => {
    listed = (await portico.createSpace(organisation, { name: 'Listed' })).id
    await insertDocumentRows(portico.service.corpus, { organisationId: organisation.id, spaceId: listed, count })
  })

  const nameOf = (item: { name: string }) => item.name
  test.each(['newest', 'oldest', 'name', 'nameDescending', 'largest', 'smallest'])(
    'in the order %s has every document once, by cursor and by offset',
    async (sort) => {
      const [byCursor, byOffset]: [string[], string[]] = [[], []]
      let next: string | null = null
      for (let offset = 0; offset < count; offset += 100) {
        const page = await list(`sort=${sort}&limit=100${next ? `&after=${next}` : ''}`, listed)
        expect(page.total).toBe(count)
        byCursor.push(...page.items.map(nameOf))
        next = page.next
        byOffset.push(...(await list(`sort=${sort}&limit=100&offset=${offset}`, listed)).items.map(nameOf))
      }
      expect(byCursor).toEqual(byOffset)
      expect(new Set(byCursor).size).toBe(count)
      expect((await list(`sort=${sort}&after=${next}`, listed)).items).toEqual([])
      const key = { newest: 1, name: 0, smallest: 2 }[sort]
      if (key === 0) expect(byCursor).toEqual(byCursor.toSorted())
    },
  )

  test('is filtered by part of the name, status, failure and format, and counts what matches', async () => {
    const totalOf = async (query: string) => {
      const page = await list(`limit=100&${query}`, listed)
      expect(page.items.length).toBe(Math.min(100, page.total))
      return page.total
    }
    expect(await totalOf('search=NUMBER%2012.')).toBe(1)
    expect(await totalOf('search=%25')).toBe(0)
    expect(await totalOf('search=report')).toBe(count)
    expect(await totalOf('status=failed')).toBe(7)
    expect(await totalOf('status=processing')).toBe(14)
    expect(await totalOf('failure=corrupt_file')).toBe(3)
    expect(await totalOf('format=csv')).toBe(140)
    expect(await totalOf('format=pdf&status=failed&search=number')).toBe(7)
    const { counts, failures, formats } = await list('', listed)
    expect(counts).toEqual({ processing: 14, ready: 679, failed: 7 })
    expect(failures).toEqual({ corrupt_file: 3, no_text: 2, embedding_failed: 2 })
    expect(Object.values(formats)).toEqual([140, 140, 140, 140, 140])
  })

  test('finds and orders accented names in either form', async () => {
    const { id } = await portico.createSpace(organisation, { name: 'Names' })
    for (const name of ['Zebra.txt', 'A\u0308rzte.txt', 'Azur.txt', 'Birne.txt'])
      expectStatus(await member.call('POST', `/api/spaces/${id}/documents`, uploadForm('text', name)), 201)
    expect((await list('sort=name', id)).items.map(nameOf)).toEqual(['Azur.txt', 'Ärzte.txt', 'Birne.txt', 'Zebra.txt'])
    expect((await list(`search=${encodeURIComponent('ÄRZ')}`, id)).total).toBe(1)
  })

  test('rejects a cursor that was changed or belongs to another order', async () => {
    const { next } = await list('limit=1', listed)
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const id = crypto.randomUUID()
    const cursors = [
      `sort=name&after=${next}`,
      'after=nothing',
      `after=${forged(['newest', '2026-02-30T00:00:00.000000Z', id])}`,
      `after=${forged(['newest', '2026-02-20T00:00:00.000000Z', 'x'])}`,
      `sort=largest&after=${forged(['largest', "1' or 1=1", id])}`,
      `sort=name&after=${forged(['name', '\u0000', id])}`,
    ]
    for (const cursor of cursors) {
      const answer = await member.call('GET', `/api/spaces/${listed}/documents?${cursor}`)
      expect([cursor, answer.status, answer.body.error.param]).toEqual([cursor, 400, 'after'])
    }
    expect((await member.call('GET', `/api/spaces/${listed}/documents?search=%00`)).status).toBe(400)
  })
})

describe('the event stream', () => {
  test('of a removed member ends within seconds', async () => {
    const former = await createPerson(portico, { email: 'former@example.org', organisationId: organisation.id })
    const { person } = expectStatus(await former.call('GET', '/api/me'), 200)
    const response = await fetch(`${portico.url}${path('/events')}`, { headers: { cookie: former.cookie() } })
    const reader = response.body!.getReader()
    const parser = new SseParser({ maximumEventBytes: 1_000_000 })
    const events: string[] = []
    while (events.length === 0) {
      const { value, done } = await reader.read()
      if (done) break
      for (const { event } of parser.push(value)) events.push(event)
    }
    expect(events).toEqual(['snapshot'])
    const removed = `/api/organisations/${organisation.id}/members/${person.id}`
    expectStatus(await portico.operator('DELETE', removed), 204)
    // Rejects if the stream stays open.
    for (let read = await reader.read(); !read.done; read = await reader.read());
    const again = await fetch(`${portico.url}${path('/events')}`, { headers: { cookie: former.cookie() } })
    expect(again.status).toBe(404)
  })
})
