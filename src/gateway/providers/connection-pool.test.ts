import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { providerCall } from '../../../test/harness/provider-call.ts'
import { chatAnswer } from '../../../test/upstream/replies.ts'
import { testCertificate, testCertificateKey } from '../../../test/upstream/test-certificate.ts'
import { createConnectionPool } from './connection-pool.ts'
import { createProvider, type Provider, type ProviderDependencies } from './index.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function answer(_request: unknown, response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('reached').body)
}

async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host)
  await once(server, 'listening')
  cleanups.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

function connect(baseUrl: string, dependencies: ProviderDependencies = {}): Provider {
  const provider = createProvider({ id: 'test', format: 'openai', baseUrl, apiKey: 'k' }, dependencies)
  cleanups.push(() => provider.close())
  return provider
}

/** A tunnelling proxy that records the requested targets. */
async function startProxy(): Promise<{ url: string; targets: string[] }> {
  const targets: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request, clientSocket) => {
    targets.push(request.url ?? '')
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const target = connectSocket(Number(port), host, () => {
      clientSocket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      target.pipe(clientSocket).pipe(target)
    })
    target.on('error', () => clientSocket.destroy())
    clientSocket.on('error', () => target.destroy())
    clientSocket.on('close', () => target.destroy())
  })
  const port = await listen(proxy, '127.0.0.1')
  return { url: `http://127.0.0.1:${port}`, targets }
}

test('calls use the proxy of the environment, except for the hosts in no_proxy', async () => {
  const port = await listen(createServer(answer), '127.0.0.1')
  const proxy = await startProxy()
  const baseUrl = `http://127.0.0.1:${port}/v1`
  const through = connect(baseUrl, { proxies: { httpProxy: proxy.url } })
  expect(await through.complete(providerCall())).toMatchObject({ text: 'reached' })
  expect(proxy.targets).toEqual([`127.0.0.1:${port}`])
  const past = connect(baseUrl, { proxies: { httpProxy: proxy.url, noProxy: 'example.test,127.0.0.1' } })
  expect(await past.complete(providerCall())).toMatchObject({ text: 'reached' })
  expect(proxy.targets).toHaveLength(1)
})

test('only the settings decide the proxy, never the environment directly', async () => {
  const port = await listen(createServer(answer), '127.0.0.1')
  const proxy = await startProxy()
  process.env.http_proxy = 'http://127.0.0.1:1'
  try {
    const provider = connect(`http://127.0.0.1:${port}/v1`, { proxies: { httpsProxy: proxy.url } })
    expect(await provider.complete(providerCall())).toMatchObject({ text: 'reached' })
    expect(proxy.targets).toEqual([])
  } finally {
    delete process.env.http_proxy
  }
})

test('a certificate of the operator’s authority is trusted, one of an unknown authority is not', async () => {
  const server = createSecureServer({ cert: testCertificate, key: testCertificateKey }, answer)
  const port = await listen(server as unknown as Server, '127.0.0.1')
  const baseUrl = `https://localhost:${port}/v1`
  const trusting = connect(baseUrl, { certificateAuthority: testCertificate })
  expect(await trusting.complete(providerCall())).toMatchObject({ text: 'reached' })
  const failed = connect(baseUrl).complete(providerCall())
  await expect(failed).rejects.toMatchObject({ errorClass: 'connection', afterFirstByte: false })
  const proxy = await startProxy()
  const tunnelled = connect(baseUrl, { certificateAuthority: testCertificate, proxies: { httpsProxy: proxy.url } })
  expect(await tunnelled.complete(providerCall())).toMatchObject({ text: 'reached' })
  expect(proxy.targets).toEqual([`localhost:${port}`])
})

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

test.skipIf(!hasIpv6)('calls to an IPv6 address succeed', async () => {
  const port = await listen(createServer(answer), '::1')
  expect(await connect(`http://[::1]:${port}/v1`).complete(providerCall())).toMatchObject({ text: 'reached' })
})

test('a name with addresses of both families is reached by the address that answers', async () => {
  const port = await listen(createServer(answer), '127.0.0.1')
  expect(await connect(`http://localhost:${port}/v1`).complete(providerCall())).toMatchObject({ text: 'reached' })
})

test.each(['http', 'https'])('a paused connection over %s is not read', async (scheme) => {
  let client: Socket
  const onConnected = (message: unknown) => void ({ socket: client } = message as { socket: Socket })
  subscribe('undici:client:connected', onConnected)
  cleanups.push(() => Promise.resolve(unsubscribe('undici:client:connected', onConnected)))
  const answered = Promise.withResolvers<ServerResponse>()
  const respond = (_request: unknown, response: ServerResponse) => answered.resolve(response)
  const server =
    scheme === 'http'
      ? createServer(respond)
      : createSecureServer({ cert: testCertificate, key: testCertificateKey }, respond)
  const port = await listen(server as Server, '127.0.0.1')
  const { dispatcher, close } = createConnectionPool({ limits: undefined, certificateAuthority: testCertificate })
  cleanups.push(close)
  const chunk = Buffer.alloc(1_000)
  const paused = Promise.withResolvers<number>()
  dispatcher.dispatch(
    { origin: `${scheme}://localhost:${port}`, path: '/', method: 'GET' },
    {
      onRequestStart() {},
      onResponseData(controller) {
        controller.pause()
        paused.resolve(client.bytesRead)
      },
      onResponseError() {},
    },
  )
  const response = await answered.promise
  response.write(chunk)
  const before = await paused.promise
  for (let count = 0; count < 40; count++) {
    // Written to the system, so the client could read it.
    await new Promise((resolve) => response.write(chunk, resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(client!.bytesRead - before).toBeLessThan(4 * chunk.length)
})

const routes = ['http', 'https'].flatMap((scheme) => [false, true].map((isProxied) => ({ scheme, isProxied })))

test.each(routes)(
  'a body over $scheme (proxy: $isProxied) continues when the system has taken a piece',
  async (route) => {
    let client: Socket | undefined
    const onHeaders = (message: unknown) => void ({ socket: client } = message as { socket: Socket })
    const reading = Promise.withResolvers<void>()
    const received = Promise.withResolvers<number>()
    const read = async (request: IncomingMessage, response: ServerResponse) => {
      await reading.promise
      let bytes = 0
      for await (const chunk of request) bytes += (chunk as Buffer).length
      answer(request, response)
      received.resolve(bytes)
    }
    const server =
      route.scheme === 'http'
        ? createServer(read)
        : createSecureServer({ cert: testCertificate, key: testCertificateKey }, read)
    const port = await listen(server as Server, '127.0.0.1')
    const proxy = route.isProxied ? (await startProxy()).url : undefined
    const { dispatcher, close } = createConnectionPool({
      limits: undefined,
      certificateAuthority: testCertificate,
      proxies: { httpProxy: proxy, httpsProxy: proxy },
    })
    cleanups.push(close)
    const piece = Buffer.alloc(64 * 1024)
    // More than the system takes from a host that does not read.
    const pieces = 512
    const waiting: number[] = []
    async function* body() {
      for (let sent = 0; sent < pieces; sent++) {
        yield piece
        waiting.push(client!.writableLength)
      }
    }
    subscribe('undici:client:sendHeaders', onHeaders)
    cleanups.push(() => Promise.resolve(unsubscribe('undici:client:sendHeaders', onHeaders)))
    const length = String(pieces * piece.length)
    dispatcher.dispatch(
      {
        origin: `${route.scheme}://localhost:${port}`,
        path: '/',
        method: 'POST',
        headers: { 'content-length': length },
        body: body() as never,
      },
      { onRequestStart() {}, onResponseError: (_controller, error) => received.reject(error) },
    )
    await expect.poll(() => client?.writableLength).toBeGreaterThan(0)
    expect(waiting.length).toBeLessThan(pieces)
    reading.resolve()
    expect(await received.promise).toBe(Number(length))
    await expect.poll(() => waiting.length).toBe(pieces)
    expect(Math.max(...waiting)).toBe(0)
  },
)
