import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import {
  createRecognitionService,
  RecognitionServiceError,
  type RecognitionServiceKind,
} from './recognition-service.ts'

interface Received {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

let close: () => void = () => {}
afterEach(() => close())

/** A service that gives this answer to everything; null: it never answers. */
async function startService(kind: RecognitionServiceKind, answer: { status: number; body: string } | null) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    void buffer(request).then((body) => {
      received.push({ method, url, headers, body })
      if (answer) response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => {
    server.closeAllConnections()
    server.close()
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const service = createRecognitionService({ kind, url, fetch, timeoutMs: answer ? 60_000 : 50 })
  const ask = (languages: string[] = [], signal = new AbortController().signal) =>
    service.recognise({ bytes: new Uint8Array([0x89, 0x50, 0x4e, 0x47]), mimeType: 'image/png' }, languages, signal)
  return { received, ask }
}

test('sends a picture and its languages to Tika', async () => {
  const { received, ask } = await startService('tika', { status: 200, body: 'Größe\nof roses\n' })
  expect(await ask(['deu', 'eng'])).toBe('Größe\nof roses\n')
  expect(received).toMatchObject([
    {
      method: 'PUT',
      url: '/tika',
      headers: { accept: 'text/plain', 'content-type': 'image/png', 'x-tika-ocrlanguage': 'deu+eng' },
      body: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
    },
  ])
  await ask()
  expect(received[1]!.headers).not.toHaveProperty('x-tika-ocrlanguage')
})

test('sends a picture as a form to Docling and takes its text', async () => {
  const answer = { status: 'success', document: { text_content: 'Two hundred roses.' } }
  const { received, ask } = await startService('docling', { status: 200, body: JSON.stringify(answer) })
  expect(await ask(['deu'])).toBe('Two hundred roses.')
  const [{ method, url, headers, body }] = received as [Received]
  expect({ method, url }).toEqual({ method: 'POST', url: '/v1/convert/file' })
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type']! },
  }).formData()
  const file = form.get('files') as File
  expect([file.name, file.type, await file.bytes()]).toEqual([
    'page.png',
    'image/png',
    new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
  ])
  expect([form.get('from_formats'), form.get('to_formats')]).toEqual(['image', 'text'])
})

test.each([
  ['tika', 204, '', ''],
  ['tika', 422, 'no', null],
  ['tika', 415, 'no', null],
  ['tika', 200, 'a'.repeat(1024 * 1024 + 1), null],
  ['docling', 422, 'no', null],
  ['docling', 200, '{"status":"failure","document":{"text_content":null}}', null],
] as const)('counts an answer of %s with %i as one about the picture', async (kind, status, body, text) => {
  const { ask } = await startService(kind, { status, body })
  expect(await ask()).toBe(text)
})

test.each([
  ['tika', 500, ''],
  ['tika', 503, ''],
  ['tika', 302, ''],
  ['docling', 401, ''],
  ['docling', 200, '<html>'],
  ['docling', 200, '{"status":"success","document":{"md_content":"x"}}'],
] as const)('throws for an answer of %s with %i, so that it is asked again', async (kind, status, body) => {
  const { ask, received } = await startService(kind, { status, body })
  await expect(ask()).rejects.toThrow(RecognitionServiceError)
  expect(received).toHaveLength(1)
})

test('throws where the service does not answer, is gone, or is no longer needed', async () => {
  const { ask } = await startService('tika', null)
  await expect(ask()).rejects.toThrow('the text recognition service (tika) did not answer')
  const reason = new Error('the document was deleted')
  await expect(ask([], AbortSignal.abort(reason))).rejects.toBe(reason)
  close()
  await expect(ask()).rejects.toThrow(RecognitionServiceError)
})
