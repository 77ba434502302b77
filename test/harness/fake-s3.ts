import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** The part of S3's protocol that a blob store and LanceDB use, in memory, path style, with one bucket. */
export interface FakeS3 {
  url: string
  /** How LanceDB reaches it. */
  storageOptions: Record<string, string>
  objects: Map<string, Buffer>
  /** Multipart uploads that were begun and neither completed nor aborted. */
  openUploads(): number
  /** Returns 503 for the next requests of this kind, as an overloaded store does. */
  fail(kind: 'part' | 'put', times: number): void
  /** While it is away, connections are closed without an answer. */
  setAway(isAway: boolean): void
  /** While it hangs, requests get no answer. */
  setHanging(isHanging: boolean): void
  /** Largest number of bytes in one request. */
  largestBody(): number
  /** Reads of objects, and their bytes. */
  reads(): { count: number; bytes: number }
  close(): Promise<void>
}

/**
 * `pageSize` is the number of keys in one answer to a listing; small, so that listings have several pages. Each answer comes after `delayMs`.
 */
export async function startFakeS3(bucket: string, { pageSize = 2, delayMs = 0 } = {}): Promise<FakeS3> {
  const objects = new Map<string, Buffer>()
  const modified = new Map<string, string>()
  const etags = new WeakMap<Buffer, string>()
  const reads = { count: 0, bytes: 0 }
  const uploads = new Map<string, Map<number, Buffer>>()
  const failures = { part: 0, put: 0 }
  let largest = 0
  let nextUpload = 1
  let isAway = false
  let isHanging = false

  function store(key: string, body: Buffer) {
    objects.set(key, body)
    modified.set(key, new Date().toISOString())
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '', 'http://s3')
    const query = url.searchParams
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2))
    const body = await readBody(request)
    if (delayMs > 0) await delay(delayMs)
    if (isAway) return response.destroy()
    if (isHanging) return undefined
    largest = Math.max(largest, body.length)
    const uploadId = query.get('uploadId')
    const xml = (text: string) =>
      response.setHeader('content-type', 'application/xml').end(`<?xml version="1.0"?>${text}`)
    const fails = (kind: 'part' | 'put') => {
      if (failures[kind] === 0) return false
      failures[kind]--
      response.statusCode = 503
      xml('<Error><Code>SlowDown</Code><Message>too much</Message></Error>')
      return true
    }
    const notFound = (code: string) => {
      response.statusCode = 404
      xml(`<Error><Code>${code}</Code></Error>`)
    }
    switch (request.method) {
      case 'POST': {
        if (query.has('delete')) {
          const keys = [...String(body).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name!)
          for (const name of keys) objects.delete(name)
          return xml(
            `<DeleteResult>${keys.map((name) => `<Deleted><Key>${name}</Key></Deleted>`).join('')}</DeleteResult>`,
          )
        }
        if (query.has('uploads')) {
          const id = String(nextUpload++)
          uploads.set(id, new Map())
          return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
        }
        const parts = uploads.get(uploadId ?? '')
        if (!parts) return notFound('NoSuchUpload')
        uploads.delete(uploadId ?? '')
        const numbers = [...parts.keys()].sort((left, right) => left - right)
        store(key, Buffer.concat(numbers.map((number) => parts.get(number)!)))
        return xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>')
      }
      case 'PUT': {
        if (fails(uploadId === null ? 'put' : 'part')) return undefined
        if (request.headers['if-none-match'] === '*' && objects.has(key)) {
          response.statusCode = 412
          return xml('<Error><Code>PreconditionFailed</Code></Error>')
        }
        response.setHeader('etag', `"${createHash('md5').update(body).digest('hex')}"`)
        if (uploadId === null) store(key, body)
        else {
          const parts = uploads.get(uploadId)
          if (!parts) return notFound('NoSuchUpload')
          parts.set(Number(query.get('partNumber')), body)
        }
        return response.end()
      }
      case 'DELETE': {
        if (uploadId === null) objects.delete(key)
        else uploads.delete(uploadId)
        response.statusCode = 204
        return response.end()
      }
      case 'HEAD': {
        const found = objects.get(key)
        if (!found) response.statusCode = 404
        else describe(response, key).setHeader('content-length', found.length)
        return response.end()
      }
      default: {
        if (query.get('list-type') === '2') return xml(renderList(query))
        const found = objects.get(key)
        if (!found) return notFound('NoSuchKey')
        describe(response, key)
        reads.count++
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
        const part = first === undefined ? found : found.subarray(Number(first), Number(last) + 1)
        reads.bytes += part.length
        if (first === undefined) return response.end(found)
        response.statusCode = 206
        response.setHeader('content-range', `bytes ${first}-${Number(first) + part.length - 1}/${found.length}`)
        return response.end(part)
      }
    }
  }

  function describe(response: ServerResponse, key: string): ServerResponse {
    const at = new Date(modified.get(key)!).toUTCString()
    return response.setHeader('last-modified', at).setHeader('etag', etagOf(key))
  }

  function etagOf(key: string): string {
    const object = objects.get(key)!
    const known = etags.get(object) ?? `"${createHash('md5').update(object).digest('hex')}"`
    etags.set(object, known)
    return known
  }

  /** Two objects per page, so that paging is tested. With a delimiter, what is below it counts as one. */
  function renderList(query: URLSearchParams): string {
    const start = Number(query.get('continuation-token') ?? 0)
    const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')]
    const shown = (key: string) => {
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
      return end < 0 ? key : key.slice(0, end + 1)
    }
    const after = query.get('start-after') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const names = [...new Set(keys.map(shown))]
    const page = names.slice(start, start + pageSize)
    const isTruncated = start + pageSize < names.length
    const entry = (key: string) =>
      objects.has(key)
        ? `<Contents><Key>${key}</Key><LastModified>${modified.get(key)}</LastModified><ETag>${etagOf(key)}</ETag><Size>${objects.get(key)!.length}</Size></Contents>`
        : `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`
    const next = isTruncated ? `<NextContinuationToken>${start + pageSize}</NextContinuationToken>` : ''
    return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${page.map(entry).join('')}${next}</ListBucketResult>`
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    storageOptions: {
      region: 'eu',
      endpoint: url,
      allow_http: 'true',
      virtual_hosted_style_request: 'false',
      access_key_id: 'a',
      secret_access_key: 'b',
    },
    objects,
    openUploads: () => uploads.size,
    fail(kind, times) {
      failures[kind] = times
    },
    setAway(next) {
      isAway = next
    },
    setHanging(next) {
      isHanging = next
    },
    largestBody: () => largest,
    reads: () => ({ ...reads }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
