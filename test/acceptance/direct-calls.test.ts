import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'

/**
 * Completions are answered directly where the request has the usual form, otherwise by the same route in Fastify. A query in the address
 * is not usual, so that each request here is sent both ways. Both responses must have the same status, headers and body.
 */

let portico: TestPortico
let organisation: TestOrganisation
let limited: TestOrganisation
let basic: TestOrganisation

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  limited = await portico.createOrganisation({ limits: { requestsPerMinute: 1_000, tokensPerMinute: 1_000 } })
  basic = await portico.createOrganisation({ gatewayEnabled: false })
})
afterAll(() => portico?.stop())

const address = '/v1/gateway/chat/completions'
const messages = [{ role: 'user', content: 'Say hello to the test, please.' }]
const usual = { model: 'portico/offline', messages }

interface Sent {
  /** In turn, as they are written. */
  headers?: string[]
  body?: string | Buffer
  version?: string
  key?: () => string
  /** `content-length` of the body, unless false. */
  hasLength?: boolean
  hasHost?: boolean
}

const json = ['content-type: application/json']
const filled = (bytes: number, body: object) => {
  const text = JSON.stringify(body)
  return text + ' '.repeat(bytes - Buffer.byteLength(text))
}
const withFields = (fields: object): Sent => ({ headers: json, body: JSON.stringify({ ...usual, ...fields }) })

const long = (content: string, fields: object = {}) => withFields({ messages: [{ role: 'user', content }], ...fields })

const requests: Record<string, Sent> = {
  usual: withFields({}),
  'with a cap and a temperature': withFields({ max_completion_tokens: 3, temperature: 0.5 }),
  'with an unknown field': withFields({ surprise: true, messages: [{ ...messages[0], name: 'Ann' }] }),
  'with an unknown field that is null': withFields({ surprise: null }),
  'with a neutral field': withFields({ tools: [], store: true }),
  'with a cap above the model’s': withFields({ max_tokens: 10_000_000 }),
  'with a long text': long('Some words of a prompt. '.repeat(1_000)),
  'with a long text above the usual size': long('Some words,\n"quoted", 漢字 and 😀.\n'.repeat(5_000)),
  'with a long text and an unknown field': long('Some words of a prompt. '.repeat(1_000), { surprise: true }),
  'with a long blank text': long(' \n'.repeat(10_000)),
  'with too long a text': long('x'.repeat(200_001)),
  'with a long text with a control character': {
    headers: json,
    body: JSON.stringify({ ...usual, messages: [{ role: 'user', content: 'a|b'.repeat(10_000) }] }).replace('|', '\n'),
  },
  'with a long text that is cut': { headers: json, body: `{"model":"${'x'.repeat(20_000)}` },
  streamed: withFields({ stream: true, stream_options: { include_usage: true } }),
  'streamed, with an unknown model': withFields({ stream: true, model: 'nothing' }),
  'with a charset': { headers: ['content-type: application/json; charset=utf-8'], body: JSON.stringify(usual) },
  'with a type in capitals': { headers: ['Content-Type: APPLICATION/JSON'], body: JSON.stringify(usual) },
  'with another charset': { headers: ['content-type: application/json; charset=utf-16'], body: JSON.stringify(usual) },
  'of another type': { headers: ['content-type: text/plain'], body: JSON.stringify(usual) },
  'of an impossible type': { headers: ['content-type: ;;;'], body: JSON.stringify(usual) },
  'without a type': { body: JSON.stringify(usual) },
  'with two types': { headers: [...json, 'content-type: text/plain'], body: JSON.stringify(usual) },
  'with a body that is no JSON': { headers: json, body: '{"model": ' },
  'with half of a character': { headers: json, body: Buffer.from([0x22, 0xe2, 0x82, 0x22]) },
  'with a byte order mark': { headers: json, body: `\ufeff${JSON.stringify(usual)}` },
  'with a list': { headers: json, body: '[]' },
  'with a text': { headers: json, body: '"text"' },
  'with deep nesting': { headers: json, body: `${'['.repeat(40)}${']'.repeat(40)}` },
  'with a prototype': { headers: json, body: `{"__proto__":{"model":"x"},${JSON.stringify(usual).slice(1)}` },
  'with a field twice': { headers: json, body: `{"model":"nothing",${JSON.stringify(usual).slice(1)}` },
  'with an invalid field': withFields({ temperature: 'hot' }),
  'with an unsupported field': withFields({ tools: [{}] }),
  'with a blank message': withFields({ messages: [{ role: 'user', content: ' ' }] }),
  'with messages in a wrong order': withFields({ messages: [...messages, { role: 'system', content: 'x' }] }),
  'with an unknown model': withFields({ model: 'nothing' }),
  'without a body': { headers: json, body: '' },
  'without a body and a length': { headers: json, hasLength: false },
  'with a body of the largest usual size': { headers: json, body: filled(65_536, usual) },
  'with a body above the usual size': { headers: json, body: filled(65_537, usual) },
  'in chunks': {
    headers: [...json, 'transfer-encoding: chunked'],
    body: `${JSON.stringify(usual).length.toString(16)}\r\n${JSON.stringify(usual)}\r\n0\r\n\r\n`,
    hasLength: false,
  },
  'that expects to continue': { headers: [...json, 'expect: 100-continue'], body: JSON.stringify(usual) },
  'that expects something else': { headers: [...json, 'expect: tea'], body: JSON.stringify(usual) },
  'with two lengths': { headers: [...json, 'content-length: 5'], body: JSON.stringify(usual) },
  'with a length that is no number': { headers: [...json, 'content-length: 5x'], body: 'x', hasLength: false },
  compressed: { headers: [...json, 'content-encoding: gzip'], body: gzipSync(JSON.stringify(usual)) },
  'with the encoding identity': { headers: [...json, 'content-encoding: identity'], body: JSON.stringify(usual) },
  'without a host': { ...withFields({}), hasHost: false },
  'with two hosts': { headers: [...json, 'host: other'], body: JSON.stringify(usual) },
  'of HTTP/1.0': { ...withFields({}), version: '1.0' },
  'with an unknown key': { ...withFields({}), key: () => 'pk-unknown' },
  'with an empty key': { ...withFields({}), key: () => '' },
  'with two keys': { headers: [...json, 'x-api-key: other'], body: JSON.stringify(usual) },
  'of an organisation without the gateway': { ...withFields({}), key: () => basic.apiKey },
  'of an organisation with limits': { ...withFields({}), key: () => limited.apiKey },
  'with a prompt above the limit of tokens': {
    ...withFields({ messages: [{ role: 'user', content: 'many words '.repeat(1_000) }] }),
    key: () => limited.apiKey,
  },
}

function toBytes(path: string, { headers = [], body = '', version = '1.1', key, hasLength, hasHost }: Sent): Buffer {
  const lines = [
    `POST ${path} HTTP/${version}`,
    ...(hasHost === false ? [] : ['host: localhost']),
    `authorization: Bearer ${key ? key() : organisation.apiKey}`,
    ...headers,
    ...(hasLength === false ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    '',
    '',
  ]
  return Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from(body)])
}

/** All that the service sends on one connection before it answers a last request, or closes the connection. */
function exchange(bytes: Buffer | Buffer[]): Promise<string> {
  const { hostname, port } = new URL(portico.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = net.connect(Number(port), hostname, () => {
      for (const piece of [bytes].flat()) socket.write(piece)
    })
    const done = () => {
      socket.destroy()
      resolve(received.replace(lastResponse, ''))
    }
    let isLastSent = false
    socket.on('data', (data: Buffer) => {
      received += data.toString()
      // Not with the others: a request behind it may change how one is answered.
      if (!isLastSent && withoutContinue(received) !== '') isLastSent = socket.write(lastRequest)
    })
    socket.on('end', done)
    // The service may have closed the connection before it reads the last request.
    socket.on('error', (error) => (isLastSent ? done() : reject(error)))
  })
}

const lastRequest = 'GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
const lastResponse = /HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*connection: close\r\n(?:[^\r]+\r\n)*\r\n\{"status":"ok"\}$/i

const withoutContinue = (received: string) => received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')

/** Without what differs between any two responses; headers in alphabetical order. */
function comparable(received: string) {
  const text = withoutContinue(received)
  const end = text.indexOf('\r\n\r\n')
  const [status, ...headers] = text.slice(0, end).split('\r\n')
  const lines = headers
    .filter((line) => !/^date:/i.test(line))
    .map((line) => line.replace(/^(x-request-id: req_|x-ratelimit-(?:remaining|reset)-\w+: ).*/, '$1…'))
  const body = text
    .slice(end)
    .replaceAll(/chatcmpl-\w+/g, 'chatcmpl-…')
    .replaceAll(/"created":\d+/g, '"created":…')
    .replaceAll(/req_\w+/g, 'req_…')
    .replace(/date: .*\r\n/gi, '')
  return { status, headers: lines.toSorted(), body: joinedChunks(body) }
}

/** Events of one turn are one chunk, so that chunks of equal streams differ. */
const joinedChunks = (body: string) => body.replaceAll(/\r\n[0-9a-f]+\r\n|\n\n\r\n/g, '\n')

describe('a request', () => {
  for (const [name, sent] of Object.entries(requests)) {
    it(`${name} is answered in the same way directly and by Fastify`, async () => {
      const [direct, ordinary] = await Promise.all(
        [address, `${address}?`].map(async (path) => comparable(await exchange(toBytes(path, sent)))),
      )
      expect(direct).toEqual(ordinary)
      expect(direct!.status).toMatch(/^HTTP\/1\.1 [1-5]\d\d /)
    })
  }
})

describe('requests on one connection', () => {
  it('are answered in their order, directly or not', async () => {
    const piece = (path: string, model: string) => toBytes(path, withFields({ model }))
    const answers = (paths: string[]) =>
      exchange(
        Buffer.concat(paths.map((path, index) => piece(path, index % 2 === 0 ? 'portico/offline' : `model-${index}`))),
      )
    for (const paths of [
      [address, address, address, address],
      [address, `${address}?`, `${address}?`, address],
    ]) {
      const text = await answers(paths)
      const found = Array.from(text.matchAll(/HTTP\/1\.1 (\d+)|(model-\d)/g), ([, status, model]) => status ?? model)
      expect(found).toEqual(['200', '404', 'model-1', '200', '404', 'model-3'])
    }
  })

  it('that are sent byte by byte are read whole', async () => {
    const bytes = toBytes(address, withFields({}))
    const { hostname, port } = new URL(portico.url)
    const text = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(Number(port), hostname, () => {
        socket.setNoDelay(true)
        let at = 0
        const timer = setInterval(() => {
          socket.write(bytes.subarray(at, (at += 20)))
          if (at >= bytes.length) clearInterval(timer)
        }, 1)
      })
      socket.once('data', (data: Buffer) => {
        socket.destroy()
        resolve(data.toString())
      })
      socket.on('error', reject)
    })
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })
})
