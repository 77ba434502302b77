import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Dicer } from '@fastify/busboy'
import { afterEach, expect, test, vi } from 'vitest'
import { receiveUpload, type UploadRequest } from './receive-upload.ts'

afterEach(() => void vi.restoreAllMocks())

const kibibyte = 1024
const field = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nvalue\r\n`
const fileHead =
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain; charset=latin1\r\n\r\n'

/** The body arrives in chunks as large as a socket reads. */
function receive(
  body: string,
  { signal = new AbortController().signal, sink = undefined as Writable | undefined } = {},
) {
  const bytes = Buffer.from(body, 'latin1')
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 64 * kibibyte) chunks.push(bytes.subarray(at, at + 64 * kibibyte))
  const request = Object.assign(Readable.from(chunks), {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  }) as unknown as UploadRequest
  const stored: Uint8Array[] = []
  const storeFile = async (source: AsyncIterable<Uint8Array>) => {
    if (sink) return pipeline(source, sink)
    for await (const chunk of source) stored.push(chunk)
  }
  const received = receiveUpload(request, { owner: '', maximumBytes: 10_000_000, storeFile, signal })
  return { received, text: () => Buffer.concat(stored).toString('latin1') }
}

test.each([
  ['20,000 fields', Array.from({ length: 20_000 }, (_, number) => field(`f${number}`)).join('')],
  ['20,000 fields with the same name', field('a').repeat(20_000)],
  ['20,000 empty parts', '--b\r\n\r\n\r\n'.repeat(20_000)],
  ['20,000 files', fileHead.replace('file', 'f').repeat(20_000)],
])('refuses an upload of %s, and parses no more of it than its first parts', async (_what, body) => {
  let parsedBytes = 0
  const write = vi.spyOn(Dicer.prototype, 'write')
  await expect(receive(body).received).rejects.toMatchObject({ code: 'invalid_request' })
  await new Promise((resolve) => setImmediate(resolve))
  for (const [chunk] of write.mock.calls) parsedBytes += (chunk as Buffer).length
  // Two parsers read the body.
  expect(parsedBytes).toBeLessThan(8 * kibibyte)
})

test('receives fields and a file whose parts end anywhere in a chunk', async () => {
  for (const length of [0, 1, 8 * kibibyte - 190, 8 * kibibyte, 64 * kibibyte, 1_000_000]) {
    const content = 'x'.repeat(length)
    const upload = receive(`${field('name')}${fileHead}${content}\r\n${field('metadata')}--b--\r\n`)
    expect(await upload.received).toMatchObject({ name: 'value', metadataText: 'value', sizeBytes: length })
    expect(await upload.received).toMatchObject({ declaredCharset: 'latin1' })
    expect(upload.text()).toBe(content)
  }
})

test('ends with the error of the store where a file cannot be written to its end', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  for (const fails of ['at once', 'later'] as const) {
    const write = (_chunk: Buffer, _encoding: unknown, done: (error: Error) => void) =>
      void (fails === 'at once' ? done(full) : setImmediate(done, full))
    const body = `${fileHead}${'x'.repeat(1_000_000)}\r\n--b--\r\n`
    await expect(receive(body, { sink: new Writable({ write }) }).received).rejects.toBe(full)
  }
})
