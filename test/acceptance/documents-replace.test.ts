import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** `onDuplicate`: the effect of an upload when the Space has a document with its name. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
})
beforeEach(async () => {
  space = await portico.createSpace(organisation)
})
afterAll(() => portico?.stop())

const send = (content: string | Uint8Array, onDuplicate?: string, name = 'handbook.txt', fields = {}) =>
  organisation.client(
    'POST',
    `/v1/documents?spaceId=${space.id}${onDuplicate ? `&onDuplicate=${onDuplicate}` : ''}`,
    uploadForm(content, name, fields),
  )
const get = async (id: string) => expectStatus(await organisation.client('GET', `/v1/documents/${id}`), 200)
const list = async () => expectStatus(await organisation.client('GET', `/v1/documents?spaceId=${space.id}`), 200)
const audit = async () => expectStatus(await portico.operator('GET', '/api/audit'), 200)

async function ready(content: string, onDuplicate?: string, fields = {}): Promise<string> {
  const { id } = expectStatus(await send(content, onDuplicate, 'handbook.txt', fields), 201)
  expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
  return id
}

/** Ids of the documents that an answer about the word cites. */
async function ask(word: string): Promise<string[]> {
  const question = { messages: [{ role: 'user', content: word }] }
  const answer = await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, question)
  return expectStatus(answer, 200).references.map((reference: { documentId: string }) => reference.documentId)
}

/** A worker needs some seconds for it. */
const long = (word: string) => `The ${word} of the harbour. `.repeat(30_000)

describe('an upload with the name of a document of the Space', () => {
  it('adds a second document by default and with keep', async () => {
    const ids = [await ready('About zebras.'), await ready('About okapis.'), await ready('About gnus.', 'keep')]
    expect(new Set(ids).size).toBe(3)
    expect((await list()).total).toBe(3)
  })

  it('with skip answers 200 with the existing document, and 201 where there is none', async () => {
    const id = await ready('About zebras.', 'skip')
    const answer = await send('About okapis.', 'skip')
    expect(expectStatus(answer, 200)).toEqual({ id, spaceId: space.id, name: 'handbook.txt', status: 'ready' })
    expect((await list()).total).toBe(1)
    expect(await ask('okapis')).toEqual(await ask('nothing of the kind'))
    expect(await audit()).toMatchObject({ findings: [] })
  })

  it('with another value is a 400 that names the parameter', async () => {
    const answer = await send('About zebras.', 'overwrite')
    expect(expectStatus(answer, 400).error).toMatchObject({ param: 'onDuplicate' })
  })

  it('with replace keeps id, creation and metadata, and serves the previous content until the new content is ready', async () => {
    const id = await ready('About zebras.', 'replace', { metadata: '{"url": "https://example.org/a"}' })
    const before = await get(id)
    expect(expectStatus(await send(long('okapi'), 'replace'), 201)).toEqual({
      id,
      spaceId: space.id,
      name: 'handbook.txt',
      status: 'processing',
    })
    let asked = 0
    while ((await get(id)).status === 'processing') {
      const found = await ask('zebras')
      if ((await get(id)).status !== 'processing') break
      expect(found).toEqual([id])
      asked++
      await wait(20)
    }
    expect(asked).toBeGreaterThan(0)
    expect(await get(id)).toMatchObject({ status: 'ready', createdAt: before.createdAt, metadata: before.metadata })
    expect((await get(id)).sizeBytes).toBe(long('okapi').length)
    expect(await ask('okapi')).toEqual([id])
    const page = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks?limit=500`), 200)
    expect(page.items.filter(({ text }: { text: string }) => text.includes('zebra'))).toEqual([])
    expect((await list()).items.map((item: { id: string }) => item.id)).toEqual([id])
    expect(await audit()).toMatchObject({ findings: [] })
  })

  it('with replace leaves one document with the name, also where there were several', async () => {
    await ready('About zebras.')
    const newest = await ready('About okapis.')
    expect(await ready('About gnus.', 'replace')).toBe(newest)
    expect((await list()).items.map((item: { id: string }) => item.id)).toEqual([newest])
  })

  it('keeps the previous content and a warning until a replacement can be read', async () => {
    const id = await ready('About zebras.')
    expectStatus(await send('   \n ', 'replace'), 201)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({
      status: 'ready',
      warnings: [{ code: 'replacement_failed', message: expect.stringContaining('no_text') }],
    })
    expect(await ask('zebras')).toEqual([id])
    expect(await audit()).toMatchObject({ findings: [] })
    expect(await ready('About okapis.', 'replace')).toBe(id)
    expect(await get(id)).not.toHaveProperty('warnings')
  })

  it('replaces a failed document at once, and fails again when the new content cannot be read', async () => {
    const { id } = expectStatus(await send(' '), 201)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'failed' })
    expectStatus(await send('\n', 'replace'), 201)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({
      status: 'failed',
      error: { code: 'no_text' },
    })
    expect(await ready('About zebras.', 'replace')).toBe(id)
  })

  it('is renamed, changed and deleted as one document while its new content is processed', async () => {
    const id = await ready('About zebras.')
    expectStatus(await send(long('okapi'), 'replace'), 201)
    const change = { name: 'animals.txt', metadata: { shelf: 7 } }
    expectStatus(await organisation.client('PATCH', `/v1/documents/${id}`, change), 200)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ ...change, status: 'ready' })
    expectStatus(await send(long('gnu'), 'replace', 'animals.txt'), 201)
    expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
    expect((await organisation.client('GET', `/v1/documents/${id}`)).status).toBe(404)
    expect(await ask('okapi gnu')).toEqual([])
    expect((await list()).total).toBe(0)
    expect(await audit()).toMatchObject({ findings: [] })
  })

  it('with many concurrent replacements ends as one document with the content of one of them', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => send(`About animal${n}.`, 'replace')))
    const ids = new Set(answers.map((answer) => expectStatus(answer, 201).id))
    expect(ids.size).toBe(1)
    const [id] = ids
    await waitForDocument(organisation.client, id)
    const more = await Promise.all(Array.from({ length: 6 }, (_, n) => send(`About creature${n}.`, 'replace')))
    expect(new Set(more.map((answer) => expectStatus(answer, 201).id))).toEqual(ids)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    const page = expectStatus(await portico.operator('GET', `/api/documents/${id}/chunks`), 200)
    expect(page.items.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringMatching(/^About creature\d\.$/),
    ])
    expect((await list()).total).toBe(1)
    expect(await audit()).toMatchObject({ findings: [] })
  })

  it('returns the first response again for the same Idempotency-Key', async () => {
    const id = await ready('About zebras.')
    const again = async () => {
      const answer = await organisation.client(
        'POST',
        `/v1/documents?spaceId=${space.id}&onDuplicate=replace`,
        uploadForm('About okapis.', 'handbook.txt'),
        { 'idempotency-key': `replace-${id}` },
      )
      return expectStatus(answer, 201).id
    }
    expect([await again(), await again()]).toEqual([id, id])
    await waitForDocument(organisation.client, id)
    expect(await audit()).toMatchObject({ findings: [] })
  })
})

describe('an upload to /v2/documents with `replaces`', () => {
  const replace = (content: string, id: string, query = '') =>
    organisation.client(
      'POST',
      `/v2/documents?spaceId=${space.id}&replaces=${id}${query}`,
      uploadForm(content, 'handbook.txt'),
    )
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hashOf = async (id: string) =>
    expectStatus(await organisation.client('GET', `/v2/documents/${id}`), 200).contentSha256

  it('replaces this document and leaves others of its name', async () => {
    const older = await ready('About zebras.')
    const id = await ready('About okapis.')
    const newer = await ready('About gnus.')
    expect(await hashOf(id)).toBe(sha256('About okapis.'))
    expect(expectStatus(await replace('About lions.', id), 201)).toMatchObject({ id, status: 'processing' })
    expect(await hashOf(id)).toBe(sha256('About lions.'))
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    expect((await list()).items.map((item: { id: string }) => item.id).sort()).toEqual([older, id, newer].sort())
    expect(await hashOf(id)).toBe(sha256('About lions.'))
    expect(await audit()).toMatchObject({ findings: [] })
  })

  it('is a 404 for a document of another Space or organisation, and stores nothing', async () => {
    const id = await ready('About zebras.')
    const own = space
    space = await portico.createSpace(organisation)
    expect(expectStatus(await replace('x', id), 404).error).toMatchObject({ param: 'replaces' })
    expect((await list()).total).toBe(0)
    const stranger = await portico.createOrganisation()
    const theirs = await portico.createSpace(stranger)
    const upload = uploadForm('x', 'handbook.txt')
    const answer = await stranger.client('POST', `/v2/documents?spaceId=${theirs.id}&replaces=${id}`, upload)
    expect(expectStatus(answer, 404).error).toMatchObject({ code: 'document_not_found', param: 'replaces' })
    space = own
    expect(await hashOf(id)).toBe(sha256('About zebras.'))
  })

  it('is a 400 with onDuplicate, and for text that is no id', async () => {
    const id = await ready('About zebras.')
    expect(expectStatus(await replace('x', id, '&onDuplicate=replace'), 400).error).toMatchObject({ param: 'replaces' })
    expect(expectStatus(await replace('x', 'handbook'), 400).error).toMatchObject({ param: 'replaces' })
  })

  it('is no parameter of version 1', async () => {
    const id = await ready('About zebras.')
    const answer = await organisation.client(
      'POST',
      `/v1/documents?spaceId=${space.id}&replaces=${id}`,
      uploadForm('About okapis.', 'handbook.txt'),
    )
    expect(expectStatus(answer, 201).id).not.toBe(id)
    expect(await get(id)).not.toHaveProperty('contentSha256')
  })
})
