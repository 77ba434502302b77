import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { chatAnswer, chatStream } from '../upstream/replies.ts'
import { testCertificate, testCertificateKey } from '../upstream/test-certificate.ts'

/** What providers receive of long bodies, whose memory is freed when their calls have ended, next to failing calls: exactly what was sent. */

/** What the first of two providers does with each request. The second one, which has TLS, reads and answers. */
type Fault = (request: IncomingMessage, response: ServerResponse) => void
const refusals: Record<string, Fault> = {
  'refuses without reading the body': (_request, response) => response.writeHead(503).end('{}'),
  'refuses after the body': (request, response) =>
    request.resume().once('end', () => response.writeHead(500).end('{}')),
}
/** After these no other provider is tried. */
const breaks: Record<string, Fault> = {
  'resets in the middle of the body': (request) => void request.once('data', () => request.socket.resetAndDestroy()),
  'answers without reading the body': (_request, response) => answer(response),
}
const faults = { ...refusals, ...breaks }
const names = Object.keys(faults)
const modelOf = (fault: string) => `model-${names.indexOf(fault)}`
const imageBytes = 1_000_000
const callsAtOnce = 6

let portico: TestPortico
let organisation: TestOrganisation
const folder = mkdtempSync(path.join(tmpdir(), 'portico-long-bodies-'))
/** Hashes of the images that the second provider has received. */
let received: string[] = []

const faulty = createServer((request, response) => {
  request.on('error', () => {})
  const fault = names[Number(/\d+/.exec(request.url!)![0])]!
  faults[fault]!(request, response)
})
const reading = createSecureServer({ cert: testCertificate, key: testCertificateKey }, async (request, response) => {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return
  }
  const { messages, stream } = JSON.parse(Buffer.concat(chunks).toString())
  received.push(hash(messages[0].content[0].image_url.url))
  answer(response, stream)
})

function answer(response: ServerResponse, isStream = false) {
  const { headers, body } = isStream ? chatStream(['Here', ' it', ' is.']) : chatAnswer('Here it is.')
  response.writeHead(200, headers).end(body)
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const image = () => {
  const header = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0', 'latin1')
  return `data:image/png;base64,${Buffer.concat([header, randomBytes(imageBytes)]).toString('base64')}`
}
const bodyOf = (model: string, url: string, stream = false) => ({
  model,
  stream,
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})
const address = '/v2/gateway/chat/completions'

beforeAll(async () => {
  const caFile = path.join(folder, 'ca.pem')
  writeFileSync(caFile, testCertificate)
  for (const server of [faulty, reading]) await once(server.listen(0, '127.0.0.1'), 'listening')
  const portOf = (server: typeof faulty | typeof reading) => (server.address() as AddressInfo).port
  const prices = { input: '1', output: '2' }
  const common = { apiKey: 'key', hosting: 'us' }
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      network: { caFile },
      providers: [
        ...names.map((_, index) => ({
          ...common,
          id: `f${index}`,
          baseUrl: `http://127.0.0.1:${portOf(faulty)}/${index}`,
        })),
        { ...common, id: 'reading', baseUrl: `https://localhost:${portOf(reading)}/v1` },
      ],
      models: [
        ...names.map((fault, index) => ({
          id: modelOf(fault),
          deployments: [
            { provider: `f${index}`, weight: 1_000_000, prices },
            { provider: 'reading', weight: 0.000_001, prices },
          ],
        })),
        { id: 'no-fault', deployments: [{ provider: 'reading', prices }] },
      ].map((model) => ({ contextTokens: 100_000, maxOutputTokens: 1_000, ...model })),
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  for (const server of [faulty, reading]) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  received = []
  vi.restoreAllMocks()
})

/** Calls with different images at the same time. Resolves to the statuses and the hashes of what was sent. */
async function callAtOnce(model: string, stream = false) {
  const images = Array.from({ length: callsAtOnce }, image)
  const answers = await Promise.all(
    images.map((url) => organisation.client('POST', address, bodyOf(model, url, stream))),
  )
  return { statuses: answers.map(({ status }) => status), sent: images.map(hash).toSorted() }
}

it.each([false, true])('arrive as they were sent, and their memory is freed (stream: %s)', async (stream) => {
  const transfer = vi.spyOn(ArrayBuffer.prototype, 'transfer')
  const { statuses, sent } = await callAtOnce('no-fault', stream)
  expect(statuses).toEqual(Array(callsAtOnce).fill(200))
  expect(received.toSorted()).toEqual(sent)
  expect(transfer.mock.calls.length).toBeGreaterThan(callsAtOnce)
})

it.each(Object.keys(refusals))('arrive as they were sent where another provider first %s', async (fault) => {
  const { statuses, sent } = await callAtOnce(modelOf(fault))
  expect(statuses).toEqual(Array(callsAtOnce).fill(200))
  expect(received.toSorted()).toEqual(sent)
})

it.each(Object.keys(breaks))('arrive as they were sent next to calls whose provider %s', async (fault) => {
  const [unread, read] = await Promise.all([callAtOnce(modelOf(fault)), callAtOnce('no-fault')])
  expect(read.statuses).toEqual(Array(callsAtOnce).fill(200))
  const sent = new Set([...unread.sent, ...read.sent])
  for (const hashed of read.sent) expect(received).toContain(hashed)
  for (const hashed of received) expect(sent).toContain(hashed)
})

it('arrive as they were sent next to clients that leave in the middle of theirs', async () => {
  const leave = async () => {
    const body = JSON.stringify(bodyOf('no-fault', image()))
    const headers = { authorization: `Bearer ${organisation.apiKey}`, 'content-type': 'application/json' }
    const leaving = httpRequest(portico.url + address, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    })
    leaving.on('error', () => {})
    await new Promise((resolve) => leaving.write(body.slice(0, body.length / 2), resolve))
    leaving.destroy()
  }
  const [calls] = await Promise.all([callAtOnce('no-fault'), ...Array.from({ length: callsAtOnce }, leave)])
  expect(calls.statuses).toEqual(Array(callsAtOnce).fill(200))
  expect(received.toSorted()).toEqual(calls.sent)
})
