import { createHash } from 'node:crypto'
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildTextPdf } from '../../src/documents/ingestion/testing/build-documents.ts'
import { type FakeS3, startFakeS3 } from '../harness/fake-s3.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** What the viewer reads: the stored file with byte ranges, the extracted text by code points, and facts. */

const bucket = 'viewer'
const mebibyte = 1024 * 1024
let s3: FakeS3
beforeAll(async () => void (s3 = await startFakeS3(bucket)))
afterAll(() => s3.close())

interface Stage {
  portico: TestPortico
  organisation: TestOrganisation
  member: Browser
  stranger: Browser
  upload(content: string | Uint8Array, name: string, status?: string): Promise<string>
}

async function openStage({ blobs, ...given }: { blobs?: unknown; server?: unknown } = {}): Promise<Stage> {
  const portico = await startPortico({
    settings: { ingestion: { workers: 1 }, ...(blobs ? { documents: { blobs } } : {}), ...given },
    environment: { PORTICO_S3_ACCESS_KEY_ID: 'test', PORTICO_S3_SECRET_ACCESS_KEY: 'test' },
  })
  const organisation = await portico.createOrganisation()
  const other = await portico.createOrganisation({ name: 'Other organisation' })
  const { id: spaceId } = await portico.createSpace(organisation)
  return {
    portico,
    organisation,
    member: await createPerson(portico, { email: 'm@example.org', organisationId: organisation.id }),
    stranger: await createPerson(portico, { email: 's@example.org', organisationId: other.id, role: 'administrator' }),
    async upload(content, name, status = 'ready') {
      const target = `/v1/documents?spaceId=${spaceId}&onDuplicate=replace`
      const { id } = expectStatus(await organisation.client('POST', target, uploadForm(content, name)), 201)
      expect(await waitForDocument(organisation.client, id)).toMatchObject({ status })
      return id
    },
  }
}

const stores = { folder: () => undefined, S3: () => ({ kind: 's3', bucket, endpoint: s3.url, forcePathStyle: true }) }

describe.each(Object.entries(stores))('the file of a document in a %s', (_kind, blobs) => {
  let stage: Stage
  beforeAll(async () => void (stage = await openStage({ blobs: blobs() })))
  afterAll(() => stage.portico.stop())

  test('is sent whole and in ranges, with headers that keep it from running', async () => {
    const text = 'Zwölf Boxkämpfer 🙂 jagen Viktor.'
    const id = await stage.upload(text, 'Bericht März 🙂 (2).txt')
    const path = `/api/documents/${id}/content`
    const whole = await stage.member.call('GET', path)
    expect([whole.status, whole.body]).toEqual([200, text])
    const version = createHash('sha256').update(text).digest('hex')
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': String(Buffer.byteLength(text)),
      'content-disposition': `attachment; filename="Bericht M_rz __ (2).txt"; filename*=UTF-8''Bericht%20M%C3%A4rz%20%F0%9F%99%82%20%282%29.txt`,
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': 'bytes',
      etag: `"${version}"`,
    })
    const size = Buffer.byteLength(text)
    const part = async (range: string, headers = {}) => stage.member.call('GET', path, undefined, { range, ...headers })
    const middle = await part('bytes=3-9')
    expect([middle.status, middle.body]).toEqual([206, Buffer.from(text).subarray(3, 10).toString()])
    expect([middle.headers.get('content-range'), middle.headers.get('content-length')]).toEqual([
      `bytes 3-9/${size}`,
      '7',
    ])
    expect((await part('bytes=-8')).body).toBe(Buffer.from(text).subarray(-8).toString())
    expect((await part('bytes=3-9', { 'if-range': '"other"' })).status).toBe(200)
    expect((await part('bytes=3-9', { 'if-range': `"${version}"` })).status).toBe(206)
    const behind = await part(`bytes=${size}-`)
    expect([behind.status, behind.headers.get('content-range'), behind.body.error.code]).toEqual([
      416,
      `bytes */${size}`,
      'range_not_satisfiable',
    ])
  })

  test('is never a mixture of two files', async () => {
    const id = await stage.upload('The first content.', 'replaced.txt')
    const view = expectStatus(await stage.member.call('GET', `/api/documents/${id}/view`), 200)
    const path = `/api/documents/${id}/content?version=${view.document.version}`
    expect((await stage.member.call('GET', path)).body).toBe('The first content.')
    expect(await stage.upload('The second content.', 'replaced.txt')).toBe(id)
    const refused = await stage.member.call('GET', path, undefined, { range: 'bytes=0-3' })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect((await stage.member.call('GET', `/api/documents/${id}/content`)).body).toBe('The second content.')
  })

  test('is a 404 for other organisations, and where it was removed', async () => {
    const id = await stage.upload('Something private.', 'private.txt')
    for (const part of ['content', 'text', 'view', 'chunks']) {
      const answer = await stage.stranger.call('GET', `/api/documents/${id}/${part}`)
      expect([part, answer.status, answer.body.error.code]).toEqual([part, 404, 'document_not_found'])
      const unknown = await stage.member.call('GET', `/api/documents/no-uuid/${part}`)
      expect([part, unknown.status]).toEqual([part, 404])
    }
    for await (const { key } of stage.portico.service.blobs.list()) {
      if (key.endsWith(id)) await stage.portico.service.blobs.delete(key)
    }
    const gone = await stage.member.call('GET', `/api/documents/${id}/content`)
    expect([gone.status, gone.body.error.message]).toEqual([404, 'The file of this document was removed.'])
  })
})

test('a client that reads nothing of a file keeps it out of memory, and is disconnected', async () => {
  const stage = await openStage({ server: { stalledClientMs: 1000 } })
  try {
    const id = await stage.upload(' '.repeat(12 * mebibyte), 'large.txt', 'failed')
    const address = `${stage.portico.url}/api/documents/${id}/content`
    const before = process.memoryUsage().arrayBuffers
    const open = () =>
      new Promise<http.IncomingMessage>((resolve, reject) => {
        http.get(address, { headers: { cookie: stage.member.cookie() }, agent: false }, resolve).on('error', reject)
      })
    const answers = await Promise.all([open(), open(), open(), open()])
    // 48 MiB wait to be read.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * mebibyte)
    const metrics = async () => (await fetch(stage.portico.metricsUrl)).text()
    const inFlight = async () => /^portico_http_requests_in_flight (\d+)/m.exec(await metrics())?.[1]
    await expect.poll(inFlight, { timeout: 30_000 }).toBe('0')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * mebibyte)
    for (const answer of answers) {
      const end = Promise.withResolvers<void>()
      answer.on('error', () => {}).on('close', end.resolve)
      answer.resume()
      await end.promise
      expect(answer.complete).toBe(false)
    }
  } finally {
    await stage.portico.stop()
  }
})

describe('the text of a document', () => {
  let stage: Stage
  beforeAll(async () => void (stage = await openStage()))
  afterAll(() => stage.portico.stop())

  test('is read by code points, in windows that join to the whole text', async () => {
    const paragraphs = Array.from(
      { length: 100 },
      (_, n) => `Absatz ${n}: 🙂 漢字 und 🧵 gehören dazu, Satz ${n}. Noch einer 🚀.`,
    )
    const text = paragraphs.join('\n')
    const id = await stage.upload(paragraphs.join('\n\n'), 'emoji.txt')
    const read = async (query: string) =>
      expectStatus(await stage.member.call('GET', `/api/documents/${id}/text${query}`), 200)
    const points = [...text]
    const whole = await read('')
    expect(whole).toEqual({ total: points.length, from: 0, to: points.length, text })
    const view = expectStatus(await stage.member.call('GET', `/api/documents/${id}/view?from=100&to=200`), 200)
    expect(view.text.text).toBe(points.slice(100, 200).join(''))
    expect(view.document).toMatchObject({ id, name: 'emoji.txt', status: 'ready', metadata: null, pageCount: null })
    expect(view.chunks.items.length).toBe(Math.min(50, view.chunks.total))
    for (const chunk of view.chunks.items.slice(0, 5)) {
      const { text: part } = await read(`?from=${chunk.characterFrom}&to=${chunk.characterTo}`)
      expect(part).toBe(chunk.text)
    }
    let joined = ''
    for (let from = 0; from < points.length; from += 777) joined += (await read(`?from=${from}&to=${from + 777}`)).text
    expect(joined).toBe(text)
    expect(await read(`?from=${points.length + 5}`)).toMatchObject({ total: points.length, text: '' })
  })

  test('is read by page', async () => {
    const texts = (page: number) =>
      page === 3 ? [] : [{ text: `Page ${page} is about the harbour and its lights.`, x: 50, y: 700 }]
    const id = await stage.upload(buildTextPdf([1, 2, 3, 4].map((page) => ({ texts: texts(page) }))), 'pages.pdf')
    const read = async (page: number) =>
      expectStatus(await stage.member.call('GET', `/api/documents/${id}/text?page=${page}`), 200).text
    expect(await Promise.all([1, 2, 3, 4, 5].map(read))).toEqual([
      'Page 1 is about the harbour and its lights.',
      'Page 2 is about the harbour and its lights.',
      '',
      'Page 4 is about the harbour and its lights.',
      '',
    ])
  })

  test('has every row of a wide table once', async () => {
    const header = Array.from({ length: 24 }, (_, column) => `Measured value number ${column}`)
    const rows = Array.from({ length: 40 }, (_, row) =>
      header.map((_, column) => `${column === 0 ? 'Parcel' : 'value'} ${row}-${column} in the long description`),
    )
    const id = await stage.upload([header, ...rows].map((cells) => cells.join(',')).join('\n'), 'wide.csv')
    const { chunks } = expectStatus(await stage.member.call('GET', `/api/documents/${id}/view`), 200)
    const { text } = expectStatus(await stage.member.call('GET', `/api/documents/${id}/text`), 200)
    expect(text.split('\n')).toEqual([header, ...rows].map((cells) => cells.join(' | ')))
    // Without them the test would not prove that chunks by columns are left out.
    const length = (chunk: { text: string }) => [...chunk.text].length
    expect(chunks.items.some((chunk: never) => length(chunk) !== chunk['characterTo'] - chunk['characterFrom'])).toBe(
      true,
    )
  })

  test.each([
    ['from=5&to=5', 'to'],
    ['from=0&to=50001', 'to'],
    ['from=-1', 'from'],
    ['from=x', 'from'],
  ])('rejects the window %s', async (query, param) => {
    const id = '00000000-0000-4000-8000-000000000000'
    const { status, body } = await stage.portico.operator('GET', `/api/documents/${id}/text?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })
})
