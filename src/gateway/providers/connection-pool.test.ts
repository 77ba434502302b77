import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect as connectSocket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { providerCall } from '../../../test/harness/provider-call.ts'
import { chatAnswer } from '../../../test/upstream/replies.ts'
import { testCertificate, testCertificateKey } from '../../../test/upstream/test-certificate.ts'
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
