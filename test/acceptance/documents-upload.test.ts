import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import path from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFolderBlobStore } from '../../src/documents/documents/index.ts'
import { isAppError } from '../../src/platform/kernel/index.ts'
import { freshDatabasePlace, serviceVariables } from '../harness/database.ts'
import {
  createApiClient,
  organisationMakers,
  spawnPortico,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

/** Uploads as streams: limits, clients that disconnect, memory, a full disk. */

const mebibyte = 1024 * 1024
const limitBytes = 2 * mebibyte
const boundary = 'portico-test-boundary'
const head = Buffer.from(
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="big.txt"\r\ncontent-type: text/plain\r\n\r\n`,
)
const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
const piece = Buffer.alloc(64 * 1024, 'portico test text ')

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  const settings = { ingestion: { workers: 0 }, documents: { maximumUploadBytes: limitBytes } }
  portico = await startPortico({ settings })
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
})
afterAll(() => portico?.stop())

/** A multipart upload of `bytes`; the test can end its body, abort it or leave it open. */
function startUpload(url: string, key: string, bytes: number, { declared = true }: { declared?: boolean } = {}) {
  const request = http.request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'x-api-key': key,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(declared ? { 'content-length': head.length + bytes + tail.length } : { 'transfer-encoding': 'chunked' }),
    },
  })
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response: IncomingMessage) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.once('end', () => resolve({ status: response.statusCode!, body }))
      response.once('error', reject)
    })
  })
  answered.catch(() => {})
  const write = async (chunk: Buffer) => {
    if (request.write(chunk) || request.destroyed) return
    await new Promise<void>((resolve) => {
      const done = () => {
        request.off('drain', done).off('close', done)
        resolve()
      }
      request.on('drain', done).on('close', done)
    })
  }
  return {
    request,
    answered,
    async send(part: number) {
      await write(head)
      for (let sent = 0; sent < part && !request.destroyed; sent += piece.length) {
        await write(piece.subarray(0, Math.min(piece.length, part - sent)))
      }
    },
    async finish() {
      await write(tail)
      request.end()
    },
  }
}

const target = (base = portico.url, id = space.id) => `${base}/v1/documents?spaceId=${id}`

/** Files in the blob folder, including those being received. */
async function blobFiles(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

async function until(what: string, condition: () => boolean | Promise<boolean>) {
  const deadline = Date.now() + 10_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never came: ${what}`)
    await wait(10)
  }
}

describe('the upload limit', () => {
  it('accepts a file of exactly the limit, and rejects one more byte with a 413 that names the limit', async () => {
    const fits = startUpload(target(), organisation.apiKey, limitBytes)
    await fits.send(limitBytes)
    await fits.finish()
    expect((await fits.answered).status).toBe(201)
    const before = await blobFiles(portico.place.dataFolder)
    for (const declared of [true, false]) {
      const over = startUpload(target(), organisation.apiKey, limitBytes + 1, { declared })
      await over.send(limitBytes + 1)
      await over.finish()
      const answer = await over.answered
      expect(answer.status).toBe(413)
      expect(JSON.parse(answer.body).error).toMatchObject({ code: 'request_too_large', param: 'file' })
      expect(answer.body).toContain(String(limitBytes))
    }
    expect(await blobFiles(portico.place.dataFolder)).toEqual(before)
  })

  it.each([
    ['with a content-length', true],
    ['without one', false],
  ])('reaches a client that continues to send, %s', async (_name, declared) => {
    const bytes = 40 * mebibyte
    const over = startUpload(target(), organisation.apiKey, bytes, { declared })
    // Sends the whole body and then reads the response, as simple clients do.
    await over.send(bytes)
    await over.finish()
    expect((await over.answered).status).toBe(413)
  })

  it('is reported to fetch, although the body is longer than any buffer', async () => {
    const form = new FormData()
    form.append('file', new Blob([Buffer.alloc(30 * mebibyte, 'x')]), 'big.txt')
    const answer = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form)
    expect(answer.status).toBe(413)
  })

  it('is reported at once when the declared length is far above it', async () => {
    const over = startUpload(target(), organisation.apiKey, 1024 * mebibyte)
    await over.send(piece.length)
    expect((await over.answered).status).toBe(413)
    over.request.destroy()
  })

  it('does not hide other errors from a client that is still sending', async () => {
    const bytes = 1.5 * mebibyte
    for (const [url, key, status] of [
      [target(), 'ptc_wrong', 401],
      [target(portico.url, '01930000-0000-7000-8000-000000000000'), organisation.apiKey, 404],
      [`${portico.url}/v1/documents?spaceId=none`, organisation.apiKey, 400],
    ] as const) {
      const refused = startUpload(url, key, bytes)
      await refused.send(bytes)
      await refused.finish()
      expect((await refused.answered).status).toBe(status)
    }
  })
})

describe('an interrupted upload', () => {
  it('leaves no file and no document, wherever it was interrupted', async () => {
    const quiet = await portico.createSpace(organisation)
    const before = await blobFiles(portico.place.dataFolder)
    for (const part of [0, 100, mebibyte]) {
      const upload = startUpload(target(portico.url, quiet.id), organisation.apiKey, 1.5 * mebibyte)
      await upload.send(part)
      if (part > 1000) {
        // Data must be on the disk before the interruption; otherwise this test proves nothing.
        await until('a file being received', async () => (await incoming()) > 0)
      }
      upload.request.destroy()
      await until('the removal of what was received', async () => (await incoming()) === 0)
    }
    expect(await blobFiles(portico.place.dataFolder)).toEqual(before)
    const page = await organisation.client('GET', `/v1/documents?spaceId=${quiet.id}`)
    expect(page.body.total).toBe(0)
  })

  it('that ends in the middle of the form is a 400', async () => {
    for (const body of ['', `--${boundary}\r\n`, head.toString(), `${head.toString()}text`]) {
      const response = await fetch(target(), {
        method: 'POST',
        headers: {
          'x-api-key': organisation.apiKey,
          'content-type': `multipart/form-data; boundary=${boundary}`,
        },
        body,
      })
      expect([body.length, response.status]).toEqual([body.length, 400])
    }
    const noBoundary = await fetch(target(), {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'multipart/form-data' },
      body: 'x',
    })
    expect(noBoundary.status).toBe(400)
    expect(await incoming()).toBe(0)
  })

  it('leaves nothing behind, and neither does a refused one', async () => {
    const before = await blobFiles(portico.place.dataFolder)
    await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm('x', 'x.exe'))
    await organisation.client(
      'POST',
      `/v1/documents?spaceId=${space.id}`,
      uploadForm('x', 'x.txt', { metadata: 'nonsense' }),
    )
    expect(await blobFiles(portico.place.dataFolder)).toEqual(before)
  })

  async function incoming(): Promise<number> {
    return (await readdir(path.join(portico.place.dataFolder, 'blobs/.incoming'))).length
  }
})

describe('a full disk', () => {
  it.skipIf(!existsSync('/dev/full'))('is a 503 that states when to try again, and nothing is left', async () => {
    const place = await freshDatabasePlace()
    const { createWriteStream } = await import('node:fs')
    const store = await createFolderBlobStore(path.join(place.dataFolder, 'full'), {
      createFile: () => createWriteStream('/dev/full', { flags: 'w' }),
    })
    const put = store.put(
      'a/b/c',
      (async function* () {
        yield piece
      })(),
      new AbortController().signal,
    )
    const error = await put.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(isAppError(error, 'overloaded') && error.retryAfterSeconds).toBe(60)
    expect(await store.exists('a/b/c')).toBe(false)
    await place.remove()
  })
})

describe('a folder of files that is away', () => {
  it('is a 503 that states when to try again, until it is back', async () => {
    const place = await freshDatabasePlace()
    const folder = path.join(place.dataFolder, 'away')
    const store = await createFolderBlobStore(folder)
    const put = () => store.put('a/b/c', Readable.from([piece]), new AbortController().signal)
    renameSync(folder, `${folder}-elsewhere`)
    const error = await put().catch((reason: unknown) => reason)
    expect(isAppError(error, 'overloaded') && error.retryAfterSeconds).toBe(60)
    expect(existsSync(folder)).toBe(false)
    renameSync(`${folder}-elsewhere`, folder)
    await put()
    expect(await store.exists('a/b/c')).toBe(true)
    await place.remove()
  })
})

describe.skipIf(process.platform !== 'linux')('100 MiB', () => {
  it('are received in flat memory', async () => {
    const place = await freshDatabasePlace()
    writeFileSync(path.join(place.dataFolder, 'portico.yaml'), JSON.stringify({ ingestion: { workers: 0 } }))
    const process = await spawnPortico(serviceVariables(place, 'operator-token-of-this-test'))
    try {
      const makers = organisationMakers(process.url, createApiClient(process.url, 'operator-token-of-this-test'))
      const tenant = await makers.createOrganisation()
      const { id } = await makers.createSpace(tenant)
      const send = async (bytes: number) => {
        const upload = startUpload(target(process.url, id), tenant.apiKey, bytes)
        await upload.send(bytes)
        await upload.finish()
        return upload.answered
      }
      await send(30 * mebibyte)
      const pid = process.child.pid!
      const grown: number[] = []
      for (let upload = 0; upload < 3; upload++) {
        writeFileSync(`/proc/${pid}/clear_refs`, '5') // Resets the peak.
        const beforeKib = memoryKib(pid, 'VmRSS')
        expect((await send(100 * mebibyte)).status).toBe(201)
        grown.push((memoryKib(pid, 'VmHWM') - beforeKib) / 1024)
      }
      // oxlint-disable-next-line no-console
      console.info(`100 MiB received: peak memory grew by ${grown.map((mebibytes) => mebibytes.toFixed(1))} MiB`)
      // What an upload needs is in each of the three. Garbage that a busy processor collects late is not.
      expect(Math.min(...grown)).toBeLessThan(64)
    } finally {
      await process.kill('SIGTERM')
      await place.remove()
    }
  }, 60_000)

  function memoryKib(pid: number, field: string): number {
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  }
})
