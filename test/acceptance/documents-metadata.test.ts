import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DocumentOperationBody } from '../../src/contract/document-progress.ts'
import { insertDocumentRows } from '../harness/document-rows.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** Changes of the metadata of many documents, and the stop of work on many documents. */

let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startPortico({ settings: { ingestion: { workers: 1 } } })
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

const pathOf = (spaceId: string) => `/api/spaces/${spaceId}/documents`
const change = (spaceId: string, body: unknown) => portico.operator('POST', `${pathOf(spaceId)}/metadata`, body)
const operationOf = async (spaceId: string, id: string): Promise<DocumentOperationBody> =>
  expectStatus(await portico.operator('GET', `${pathOf(spaceId)}/operations/${id}`), 200)

async function untilEnded(spaceId: string, id: string): Promise<DocumentOperationBody> {
  await expect.poll(async () => (await operationOf(spaceId, id)).state, { timeout: 60_000 }).not.toBe('running')
  return operationOf(spaceId, id)
}

async function openSpace(rows: number): Promise<string> {
  const { id } = await portico.createSpace(organisation)
  await insertDocumentRows(portico.service.corpus, { organisationId: organisation.id, spaceId: id, count: rows })
  return id
}

const metadataTexts = async (spaceId: string) =>
  portico.service.corpus.query<{ text: string | null; documents: bigint }>(
    `select metadata::text as text, count(*) as documents from documents where space_id = $1 group by 1 order by 2, 1`,
    [spaceId],
  )

async function setMetadata(spaceId: string, json: string, limit: number) {
  await portico.service.corpus.execute(
    `update documents set metadata = $2::json where id in
       (select id from documents where space_id = $1 order by created_at, id limit $3)`,
    [spaceId, json, limit],
  )
}

async function lastEntry(action: string) {
  const log = await portico.operator('GET', `/api/admin-log?organisationId=${organisation.id}&action=${action}&limit=1`)
  return expectStatus(log, 200).items[0]
}

describe('a change of the metadata of many documents', () => {
  test('sets and removes keys of the filtered documents, and keeps all digits of the others', async () => {
    const spaceId = await openSpace(130)
    await setMetadata(spaceId, '{"2":1.50,"old":true,"big":12345678901234567890}', 130)
    const started = expectStatus(
      await change(spaceId, { filter: { format: 'csv' }, set: { colour: 'red' }, remove: ['old', 'absent'] }),
      202,
    )
    expect(started).toMatchObject({ kind: 'metadata', state: 'running', total: 26, done: 0, skipped: 0 })
    expect(await untilEnded(spaceId, started.id)).toMatchObject({ state: 'finished', done: 26, skipped: 0 })
    expect(await metadataTexts(spaceId)).toEqual([
      { text: '{"2":1.50,"big":12345678901234567890,"colour":"red"}', documents: 26n },
      { text: '{"2":1.50,"old":true,"big":12345678901234567890}', documents: 104n },
    ])
    await expect
      .poll(() => lastEntry('documents.updated'))
      .toMatchObject({
        subjectId: spaceId,
        after: { documents: 26, filter: { format: 'csv' }, set: { colour: 'red' }, remove: ['old', 'absent'] },
      })
  })

  test('by ids changes these and nothing of another Space', async () => {
    const [spaceId, otherId] = [await openSpace(5), await openSpace(5)]
    const idsOf = async (id: string) =>
      expectStatus(await portico.operator('GET', pathOf(id)), 200).items.map((item: { id: string }) => item.id)
    const ids = [...(await idsOf(spaceId)).slice(0, 3), ...(await idsOf(otherId))]
    const started = expectStatus(await change(spaceId, { ids, set: { url: 'https://a.example/x' } }), 202)
    expect(started.total).toBe(3)
    await untilEnded(spaceId, started.id)
    expect(await metadataTexts(otherId)).toEqual([{ text: null, documents: 5n }])
    const changed = await portico.operator('GET', `/api/documents/${ids[0]}`)
    expect(expectStatus(changed, 200).metadata).toEqual({ url: 'https://a.example/x' })
    const rows = await portico.service.corpus.query<{ id: string }>(
      `select id from documents where space_id = $1 and source_url = 'https://a.example/x'`,
      [spaceId],
    )
    expect(rows).toHaveLength(3)
  })

  test('skips and counts documents whose metadata would become too large', async () => {
    const spaceId = await openSpace(10)
    const large = JSON.stringify({ text: 'x'.repeat(16_300) })
    await setMetadata(spaceId, large, 4)
    const started = expectStatus(await change(spaceId, { filter: {}, set: { note: 'y'.repeat(100) } }), 202)
    expect(await untilEnded(spaceId, started.id)).toMatchObject({ state: 'finished', total: 10, done: 10, skipped: 4 })
    expect(await metadataTexts(spaceId)).toEqual([
      { text: large, documents: 4n },
      { text: JSON.stringify({ note: 'y'.repeat(100) }), documents: 6n },
    ])
  })

  test('also changes the new content of a document that is being replaced', async () => {
    const { id: spaceId } = await portico.createSpace(organisation)
    const upload = (text: string, query = '') =>
      organisation.client(
        'POST',
        `/v1/documents?spaceId=${spaceId}${query}`,
        uploadForm(text, 'same.txt', { metadata: '{"source":"a"}' }),
      )
    const { id } = expectStatus(await upload('First content.'), 201)
    await waitForDocument(organisation.client, id)
    const replaced = expectStatus(await upload('Second content.', '&onDuplicate=replace'), 201)
    expect(replaced.id).toBe(id)
    const started = expectStatus(await change(spaceId, { filter: {}, set: { colour: 'red' } }), 202)
    await untilEnded(spaceId, started.id)
    const document = await waitForDocument(organisation.client, id)
    expect(document).toMatchObject({ status: 'ready', metadata: { source: 'a', colour: 'red' } })
  })

  test.each<[string, unknown, string]>([
    ['without a key', { filter: {} }, 'set'],
    ['of a key that it also removes', { filter: {}, set: { a: 1 }, remove: ['a'] }, 'remove'],
    ['of too many bytes', { filter: {}, set: { a: 'x'.repeat(16_384) } }, 'set'],
    ['that sets no object', { filter: {}, set: ['a'] }, 'set'],
    ['of too many removed keys', { filter: {}, remove: Array.from({ length: 1001 }, String) }, 'remove'],
    ['of too many ids', { ids: Array.from({ length: 1001 }, () => crypto.randomUUID()), remove: ['a'] }, 'ids'],
  ])('%s is refused', async (_what, body, param) => {
    const { id } = await portico.createSpace(organisation)
    const answer = await change(id, body)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  })
})

describe('the stop of work on many documents', () => {
  const stop = (spaceId: string, id: string) => portico.operator('POST', `${pathOf(spaceId)}/operations/${id}/stop`)

  test.each(['delete', 'metadata'])(
    'ends %s early, keeps what was done, and lets it be started again',
    async (kind) => {
      const spaceId = await openSpace(2000)
      const begin = () =>
        portico.operator('POST', `${pathOf(spaceId)}/${kind}`, {
          filter: {},
          ...(kind === 'metadata' ? { set: { colour: 'red' } } : {}),
        })
      const { id } = expectStatus(await begin(), 202)
      await expect.poll(async () => (await operationOf(spaceId, id)).done, { interval: 5 }).toBeGreaterThan(0)
      const stopped = expectStatus(await stop(spaceId, id), 200)
      expect(stopped).toMatchObject({ id, state: 'stopped', finishedAt: expect.any(String) })
      expect(stopped.done).toBeLessThan(2000)
      await expect
        .poll(() => lastEntry('documents.stopped'))
        .toMatchObject({
          subjectId: spaceId,
          after: { operationId: id, kind, done: stopped.done, documents: 2000 },
        })
      // Its job finds that it has ended.
      const jobs = () => portico.service.corpus.query(`select 1 from job where kind = 'document-operation'`)
      await expect.poll(jobs, { timeout: 20_000 }).toEqual([])
      const list = expectStatus(await portico.operator('GET', `${pathOf(spaceId)}?limit=1`), 200)
      expect(list.operations).toEqual([])
      const texts = await metadataTexts(spaceId)
      const untouched = texts.find(({ text }) => text === null)
      expect(Number(untouched?.documents)).toBe(2000 - stopped.done)
      expect(await operationOf(spaceId, id)).toEqual(stopped)

      const again = expectStatus(await begin(), 202)
      expect(again.id).not.toBe(id)
      expect(await untilEnded(spaceId, again.id)).toMatchObject({ state: 'finished', done: again.total })
    },
  )

  test('of an operation that has ended changes nothing', async () => {
    const spaceId = await openSpace(3)
    const { id } = expectStatus(await change(spaceId, { filter: {}, set: { a: 1 } }), 202)
    const ended = await untilEnded(spaceId, id)
    expect(expectStatus(await stop(spaceId, id), 200)).toEqual(ended)
    expect((await lastEntry('documents.stopped'))?.after.operationId).not.toBe(id)
  })

  test('finds no operation of another Space', async () => {
    const [spaceId, otherId] = [await openSpace(3), await openSpace(1)]
    const { id } = expectStatus(await change(spaceId, { filter: {}, set: { a: 1 } }), 202)
    for (const wrong of [id, crypto.randomUUID(), 'x']) {
      expect((await stop(otherId, wrong)).status).toBe(404)
      expect((await portico.operator('GET', `${pathOf(otherId)}/operations/${wrong}`)).status).toBe(404)
    }
  })
})
