import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DocumentOperationBody } from '../../src/contract/document-progress.ts'
import type { DocumentId } from '../../src/platform/kernel/index.ts'
import { freshDatabasePlace } from '../harness/database.ts'
import { insertDocumentRows } from '../harness/document-rows.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** Retries, and work on many documents in the background. */

let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startPortico({ settings: { ingestion: { workers: 1 } } })
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

const list = async (spaceId: string, query = '') =>
  expectStatus(await portico.operator('GET', `/api/spaces/${spaceId}/documents?limit=100&${query}`), 200)
const start = async (spaceId: string, kind: 'delete' | 'retry', selection: unknown): Promise<DocumentOperationBody> =>
  expectStatus(await portico.operator('POST', `/api/spaces/${spaceId}/documents/${kind}`, selection), 202)
const untilIdle = (spaceId: string) =>
  expect.poll(async () => (await list(spaceId)).operations, { timeout: 60_000 }).toEqual([])

async function openSpace(rows = 0): Promise<string> {
  const { id } = await portico.createSpace(organisation)
  if (rows > 0) {
    const space = { organisationId: organisation.id, spaceId: id, count: rows }
    await insertDocumentRows(portico.service.corpus, space)
  }
  return id
}

async function uploadReady(spaceId: string, name: string): Promise<string> {
  const uploaded = await organisation.client('POST', `/v1/documents?spaceId=${spaceId}`, uploadForm('Okapi.', name))
  const { id } = expectStatus(uploaded, 201)
  await waitForDocument(organisation.client, id)
  return id
}

/** As a provider that cannot be reached leaves a document. */
async function fail(ids: string[], code = 'embedding_failed') {
  const { corpus, index } = portico.service
  await corpus.transaction(async (transaction) => {
    for (const id of ids) await index.deleteDocument(transaction, id as DocumentId)
    await transaction.execute(
      `update documents set status = 'failed', stage = 'failed', error_code = $2, error_message = 'A message.',
         chunk_count = null, updated_at = now()
       where id = any($1::uuid[])`,
      [ids, code],
    )
  })
}

describe('a retry', () => {
  test('processes the stored file of a failed document again, and leaves others as they are', async () => {
    const spaceId = await openSpace()
    const id = await uploadReady(spaceId, 'retried.txt')
    await fail([id])
    const retry = async () => expectStatus(await portico.operator('POST', `/api/documents/${id}/retry`), 200)
    expect(await retry()).toMatchObject({ status: 'processing', error: null })
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    const ready = await retry()
    expect(ready).toMatchObject({ status: 'ready', chunkCount: 1 })
    expect((await list(spaceId)).items[0].updatedAt).toBe(ready.updatedAt)
  })

  test('of a file that is damaged fails again with the same code', async () => {
    const spaceId = await openSpace()
    const damaged = uploadForm('%PDF-1.7\nnothing else', 'damaged.pdf')
    const uploaded = await organisation.client('POST', `/v1/documents?spaceId=${spaceId}`, damaged)
    const { id } = expectStatus(uploaded, 201)
    const failed = await waitForDocument(organisation.client, id)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'corrupt_file' } })
    // At once: the job that failed may still be about to end.
    expectStatus(await portico.operator('POST', `/api/documents/${id}/retry`), 200)
    const again = await waitForDocument(organisation.client, id)
    expect(again).toMatchObject({ status: 'failed', error: failed.error })
    expect(again.updatedAt > failed.updatedAt).toBe(true)
  })

  test('of one failure code takes all of them once, and no other document', async () => {
    const spaceId = await openSpace()
    const ids = await Promise.all(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((name) => uploadReady(spaceId, name)))
    await fail(ids.slice(0, 3))
    await fail(ids.slice(3), 'insufficient_quota')
    const selection = { filter: { failure: 'embedding_failed' } }
    const [first, second] = await Promise.all([start(spaceId, 'retry', selection), start(spaceId, 'retry', selection)])
    expect(Math.max(first.total, second.total)).toBe(3)
    await untilIdle(spaceId)
    for (const id of ids.slice(0, 3)) {
      expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    }
    expect(await list(spaceId)).toMatchObject({
      counts: { processing: 0, ready: 3, failed: 1 },
      failures: { insufficient_quota: 1 },
    })
    const log = `/api/admin-log?organisationId=${organisation.id}&action=documents.retried`
    const entry = async () => expectStatus(await portico.operator('GET', log), 200).items[0]
    await expect.poll(entry).toMatchObject({ subjectId: spaceId, after: { documents: 3, ...selection } })
  })
})

describe('a deletion of many documents', () => {
  test('by ids removes these and nothing of another Space', async () => {
    const [spaceId, otherId] = [await openSpace(120), await openSpace(5)]
    const ids = (await list(spaceId)).items.map(({ id }: { id: string }) => id)
    const others = (await list(otherId)).items.map(({ id }: { id: string }) => id)
    expect(await start(spaceId, 'delete', { ids: [...ids, ...others] })).toMatchObject({ total: 100, done: 0 })
    await untilIdle(spaceId)
    expect([(await list(spaceId)).total, (await list(otherId)).total]).toEqual([20, 5])
  })

  test('by filter leaves exceptions, and documents that were added afterwards', async () => {
    const spaceId = await openSpace(400)
    const kept = (await list(spaceId, 'format=csv')).items[7].id
    const selection = { filter: { format: 'csv' }, except: [kept] }
    const operation = await start(spaceId, 'delete', selection)
    const late = uploadForm('a,b\n1,2', 'late.csv')
    expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${spaceId}`, late), 201)
    expect(operation.total).toBe(79)
    await untilIdle(spaceId)
    const left = await list(spaceId, 'format=csv')
    expect(left.items.map(({ id, name }: { id: string; name: string }) => (id === kept ? 'kept' : name))).toEqual([
      'late.csv',
      'kept',
    ])
    expect(left.counts.ready + left.counts.failed + left.counts.processing).toBe(322)
  })

  test('is started once by two clicks, and a finished one can be started again', async () => {
    const spaceId = await openSpace(300)
    const clicks = await Promise.all([1, 2, 3].map(() => start(spaceId, 'delete', { filter: {} })))
    const running = clicks.filter(({ finishedAt }) => finishedAt === null)
    expect(new Set(running.map(({ id }) => id)).size).toBe(1)
    await untilIdle(spaceId)
    expect((await list(spaceId)).total).toBe(0)
    expect(await start(spaceId, 'delete', { filter: {} })).toMatchObject({ total: 0, finishedAt: expect.any(String) })
  })

  test('removes chunks, vectors and files, as the deletion of one document does', async () => {
    const spaceId = await openSpace()
    await Promise.all(['x.txt', 'y.txt'].map((name) => uploadReady(spaceId, name)))
    await start(spaceId, 'delete', { filter: { search: '.txt' } })
    await untilIdle(spaceId)
    const { corpus } = portico.service
    const [rows] = await corpus.query<{ chunks: bigint }>('select count(*) as chunks from chunks where space_id = $1', [
      spaceId,
    ])
    expect(rows?.chunks).toBe(0n)
    const jobs = async () => await corpus.query(`select 1 from job where kind = 'delete-blob'`)
    await expect.poll(jobs, { timeout: 20_000 }).toEqual([])
  })

  test.each<[string, unknown, string | null]>([
    ['that is empty', {}, null],
    ['without an id', { ids: [] }, 'ids'],
    ['of too many ids', { ids: Array.from({ length: 1001 }, () => crypto.randomUUID()) }, 'ids'],
    ['with a wrong id', { ids: ['x'] }, 'ids.0'],
    ['with an unknown filter', { filter: { colour: 'red' } }, 'filter'],
    ['of ids and a filter', { filter: {}, ids: [crypto.randomUUID()] }, null],
  ])('with a selection %s is refused', async (_what, selection, param) => {
    const spaceId = await openSpace()
    const answer = await portico.operator('POST', `/api/spaces/${spaceId}/documents/delete`, selection)
    expect(answer.status).toBe(400)
    if (param !== null) expect(answer.body.error.param).toBe(param)
  })
})

test('an operation whose service stops continues after the next start', async () => {
  const place = await freshDatabasePlace()
  const first = await startPortico({ place })
  const owner = await first.createOrganisation()
  const { id: spaceId } = await first.createSpace(owner)
  await insertDocumentRows(first.service.corpus, { organisationId: owner.id, spaceId, count: 200 })
  expectStatus(await first.operator('POST', `/api/spaces/${spaceId}/documents/delete`, { filter: {} }), 202)
  await first.stop()
  const second = await startPortico({ place })
  const page = async () => expectStatus(await second.operator('GET', `/api/spaces/${spaceId}/documents?limit=1`), 200)
  const before = await page()
  expect(before.total).toBeGreaterThan(0)
  expect(before.operations).toMatchObject([{ total: 200 }])
  await expect.poll(async () => (await page()).operations, { timeout: 60_000 }).toEqual([])
  expect((await page()).total).toBe(0)
  await second.stop()
  await place.remove()
})
