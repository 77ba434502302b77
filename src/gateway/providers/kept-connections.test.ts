import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { providerCall } from '../../../test/harness/provider-call.ts'
import { chatAnswer } from '../../../test/upstream/replies.ts'
import { testCertificate, testCertificateKey } from '../../../test/upstream/test-certificate.ts'
import { createProvider, type Provider } from './index.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

type Close = (socket: Socket) => void

interface Host {
  provider: Provider
  /** Connections that were opened. */
  opened(): number
  /** Bodies that have arrived, in order. */
  bodies: string[]
}

interface HostOptions {
  /** Default: from the second request of a connection on. */
  closes?: (place: { request: number; ofConnection: number }) => boolean
  isSecure?: boolean
  /** False: it closes a connection before it has read the body. */
  readsBody?: boolean
}

/** A host that answers, or closes the connection instead. */
async function startHost(
  close: Close,
  { closes = ({ ofConnection }) => ofConnection > 1, isSecure = false, readsBody = true }: HostOptions = {},
): Promise<Host> {
  const served = new WeakMap<Socket, number>()
  let requests = 0
  const bodies: string[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const ofConnection = (served.get(socket) ?? 0) + 1
    served.set(socket, ofConnection)
    const isClosing = closes({ request: ++requests, ofConnection })
    if (isClosing && !readsBody) return close(socket)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    bodies.push(Buffer.concat(chunks).toString())
    if (isClosing) return close(socket)
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('reached').body)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response).catch(() => {})
  const server = isSecure
    ? createSecureServer({ key: testCertificateKey, cert: testCertificate }, listener)
    : createServer(listener)
  let opened = 0
  server.on('connection', () => opened++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const provider = createProvider(
    {
      id: 'test',
      format: 'openai',
      flavour: 'generic',
      baseUrl: `${isSecure ? 'https' : 'http'}://localhost:${port}/v1`,
      apiKey: 'k',
      // So that the next call takes the connection of the last one.
      limits: { maximumConnections: 1 },
    },
    isSecure ? { certificateAuthority: testCertificate } : {},
  )
  cleanups.push(
    () => server.close(),
    () => server.closeAllConnections(),
    () => provider.close(),
  )
  return { provider, opened: () => opened, bodies }
}

const closings: [string, Close][] = [
  ['ends', (socket) => socket.end()],
  ['destroys', (socket) => socket.destroy()],
  ['resets', (socket) => socket.resetAndDestroy()],
]
const long = { messages: [{ role: 'user' as const, content: 'A long prompt. '.repeat(400_000) }] }

describe.each(closings)('a call whose kept connection the host %s', (_how, close) => {
  test('is sent once more on a new connection', async () => {
    const { provider, opened, bodies } = await startHost(close)
    for (const name of ['one', 'two', 'three']) {
      const call = providerCall({ messages: [{ role: 'user', content: name }] })
      expect(await provider.complete(call)).toMatchObject({ text: 'reached' })
    }
    // Each call after the first one met the end of the kept connection; the one that is made instead is not kept.
    expect(bodies.map((body) => JSON.parse(body).messages[0].content)).toEqual(['one', 'two', 'two', 'three'])
    expect(opened()).toBe(3)
    expect(provider.connections!()).toMatchObject({ inUse: 0 })
  })

  test('is sent whole, however much of it was sent before', async () => {
    const { provider, bodies } = await startHost(close, { readsBody: false })
    await provider.complete(providerCall())
    await provider.complete(providerCall(long))
    expect(JSON.parse(bodies.at(-1)!).messages[0].content).toBe(long.messages[0]!.content)
  })
})

test('over TLS, too, a call is sent once more on a new connection', async () => {
  const { provider, opened } = await startHost((socket) => socket.destroy(), { isSecure: true })
  await provider.complete(providerCall())
  expect(await provider.complete(providerCall())).toMatchObject({ text: 'reached' })
  expect(opened()).toBe(2)
})

describe('a call fails without a repetition where the host closes', () => {
  const lost = { errorClass: 'connection' }

  test.each([false, true])('a new connection (over TLS: %s)', async (isSecure) => {
    const { provider, bodies } = await startHost((socket) => socket.destroy(), { closes: () => true, isSecure })
    await expect(provider.complete(providerCall())).rejects.toMatchObject(lost)
    expect(bodies).toHaveLength(1)
  })

  test('the connection of the repetition, too', async () => {
    // What is sent before the end begins no answer, but makes the new connection look like a kept one.
    const { provider, bodies } = await startHost((socket) => socket.end('\r\n'), {
      closes: ({ request }) => request > 1,
    })
    await provider.complete(providerCall())
    await expect(provider.complete(providerCall())).rejects.toMatchObject(lost)
    expect(bodies).toHaveLength(3)
  })

  test('after a part of an answer', async () => {
    const { provider, bodies } = await startHost((socket) => socket.end('HTTP/1.1 2'))
    await provider.complete(providerCall())
    await expect(provider.complete(providerCall())).rejects.toMatchObject(lost)
    expect(bodies).toHaveLength(2)
  })

  test('later than a crossing takes: it may have worked on the call', async () => {
    const { provider, bodies } = await startHost((socket) => {
      const { now } = performance
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 1_000)
      socket.destroy()
    })
    await provider.complete(providerCall())
    await expect(provider.complete(providerCall())).rejects.toMatchObject(lost)
    expect(bodies).toHaveLength(2)
  })
})

test('a call that ends while its connection is closed is not sent again', async () => {
  const ended = new AbortController()
  const { provider, bodies } = await startHost((socket) => {
    ended.abort(new Error('the client left'))
    socket.destroy()
  })
  await provider.complete(providerCall())
  await expect(provider.complete({ ...providerCall(), signal: ended.signal })).rejects.toMatchObject({
    errorClass: 'cancelled',
  })
  expect(bodies).toHaveLength(2)
})
