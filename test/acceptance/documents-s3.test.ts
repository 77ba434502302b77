import http from 'node:http'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openS3BlobStore, type BlobStore } from '../../src/documents/documents/index.ts'
import { isAppError } from '../../src/platform/kernel/index.ts'
import { type FakeS3, startFakeS3 } from '../harness/fake-s3.ts'
import { expectStatus, startPortico, uploadForm, waitForDocument } from '../harness/portico.ts'

/** Uploaded files in an S3 bucket instead of a folder. */

const bucket = 'portico-test'
const mebibyte = 1024 * 1024
let s3: FakeS3
let store: BlobStore
const never = new AbortController().signal

beforeAll(async () => {
  s3 = await startFakeS3(bucket)
  store = await openS3BlobStore({
    bucket,
    region: 'eu-central-1',
    endpoint: s3.url,
    prefix: 'files/',
    forcePathStyle: true,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
})
afterAll(async () => {
  await store?.close()
  await s3?.close()
})

async function* pieces(count: number, failAfter = Infinity) {
  for (let n = 0; n < count; n++) {
    if (n === failAfter) throw new Error('the source broke off')
    yield Buffer.alloc(mebibyte, n)
  }
}

describe('the S3 blob store', () => {
  it('stores, reads, lists page by page, and deletes, below its prefix', async () => {
    for (const key of ['a/1', 'a/2', 'b/3']) await store.put(key, pieces(1), never)
    expect([...s3.objects.keys()].sort()).toEqual(['files/a/1', 'files/a/2', 'files/b/3'])
    const listed = []
    for await (const blob of store.list()) listed.push(blob)
    expect(listed.map((blob) => blob.key)).toEqual(['a/1', 'a/2', 'b/3'])
    const below = []
    for await (const { key } of store.list('a')) below.push(key)
    expect(below).toEqual(['a/1', 'a/2'])
    expect(Math.abs(listed[0]!.modifiedAt.getTime() - Date.now())).toBeLessThan(60_000)
    const chunks = []
    for await (const chunk of await store.open('a/1', never)) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks)).toEqual(Buffer.alloc(mebibyte, 0))
    await store.delete('a/1')
    await store.delete('a/1')
    expect([await store.exists('a/1'), await store.exists('a/2')]).toEqual([false, true])
    await expect(store.open('a/1', never)).rejects.toThrow()
    for (const key of ['a/2', 'b/3']) await store.delete(key)
  })

  it('sends large files in parts and never has a whole file in memory', async () => {
    await store.put('large', pieces(23), never)
    expect(s3.objects.get('files/large')).toHaveLength(23 * mebibyte)
    expect(s3.objects.get('files/large')!.at(-1)).toBe(22)
    expect(s3.largestBody()).toBeLessThanOrEqual(5 * mebibyte)
    await store.delete('large')
  })

  it('leaves no object and no open upload when the source fails or is aborted', async () => {
    await expect(store.put('broken', pieces(20, 12), never)).rejects.toThrow()
    const abort = new AbortController()
    async function* stalling() {
      yield* pieces(12)
      abort.abort(new Error('gone'))
      yield* pieces(12)
    }
    await expect(store.put('aborted', stalling(), abort.signal)).rejects.toThrow('gone')
    const deadline = Date.now() + 5000
    while (s3.openUploads() > 0 && Date.now() < deadline) await wait(10)
    expect([s3.openUploads(), s3.objects.size]).toEqual([0, 0])
  })

  it('retries a failing store, and returns 503 with retry-after when it keeps failing', async () => {
    s3.fail('put', 1)
    await store.put('again', pieces(1), never)
    expect(await store.exists('again')).toBe(true)
    await store.delete('again')
    s3.fail('put', 100)
    const error = await store.put('refused', pieces(1), never).catch((reason: unknown) => reason)
    s3.fail('put', 0)
    expect(isAppError(error, 'overloaded') && error.retryAfterSeconds).toBeGreaterThan(0)
    expect(s3.objects.size).toBe(0)
  }, 30_000)

  it('gives extraction a local copy and removes it afterwards', async () => {
    await store.put('copy', pieces(2), never)
    const before = await copies()
    await store.withFile('copy', never, async (file) => {
      expect(file.startsWith(tmpdir())).toBe(true)
      expect((await copies()).length).toBe(before.length + 1)
    })
    expect(await copies()).toEqual(before)
    await store.delete('copy')
  })

  const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('portico-blob-'))
})

describe('a service with its files in S3', () => {
  it('stores, processes and deletes an upload, and leaves nothing of an interrupted one', async () => {
    await using portico = await startPortico({
      settings: {
        ingestion: { workers: 1 },
        documents: { blobs: { kind: 's3', bucket, endpoint: s3.url, prefix: 'live/', forcePathStyle: true } },
      },
      environment: { PORTICO_S3_ACCESS_KEY_ID: 'test', PORTICO_S3_SECRET_ACCESS_KEY: 'test' },
    })
    const organisation = await portico.createOrganisation()
    const space = await portico.createSpace(organisation)
    const target = `/v1/documents?spaceId=${space.id}`
    const { id } = expectStatus(await organisation.client('POST', target, uploadForm('kept in a bucket', 'a.txt')), 201)
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    expect([...s3.objects.keys()]).toEqual([`live/${organisation.id}/${space.id}/${id}`])
    expect(await portico.operator('GET', '/api/audit')).toMatchObject({ body: { ok: true } })

    const request = http.request(portico.url + target, {
      method: 'POST',
      headers: {
        'x-api-key': organisation.apiKey,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 50 * mebibyte,
      },
    })
    request.on('error', () => {})
    request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="b.txt"\r\n\r\n')
    request.write(Buffer.alloc(12 * mebibyte, 'x'))
    await eventually(() => s3.openUploads() === 1)
    request.destroy()
    await eventually(() => s3.openUploads() === 0)

    expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
    await eventually(() => s3.objects.size === 0)
  })

  async function eventually(condition: () => boolean) {
    const deadline = Date.now() + 15_000
    while (!condition()) {
      if (Date.now() > deadline) throw new Error('it never came')
      await wait(10)
    }
  }
})
