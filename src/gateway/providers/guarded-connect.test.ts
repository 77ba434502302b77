import { createServer, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { fetch } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeError, publicNetworks } from '../../platform/kernel/index.ts'
import { type ConnectionPool, createConnectionPool, type PoolOptions } from './connection-pool.ts'

/** A real server on the loopback interface, which stands for a service of the internal network. */
let server: Server
let port: number
let paths: string[] = []
let pool: ConnectionPool | undefined

beforeAll(async () => {
  server = createServer((request, response) => {
    paths.push(request.url!)
    const location = `http://127.0.0.1:${port}/internal`
    response.writeHead(request.url === '/moved' ? 307 : 200, { location, connection: 'close' }).end('internal')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  await pool?.close()
  paths = []
})
afterAll(() => server.close())

/** Resolves every name to the next of these lists of addresses. */
function resolveTo(...answers: string[][]): LookupFunction {
  return (_name, options, callback) => {
    const addresses = (answers.length > 1 ? answers.shift()! : answers[0]!).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    if (options.all) callback(null, addresses)
    else callback(null, addresses[0]!.address, addresses[0]!.family)
  }
}

async function call(host: string, options: Partial<PoolOptions> = {}, path = '/'): Promise<string> {
  pool = createConnectionPool({ limits: { connectTimeoutMs: 2_000 }, ...options })
  try {
    const response = await fetch(`http://${host}:${port}${path}`, { dispatcher: pool.dispatcher })
    return await response.text()
  } catch (error) {
    return describeError((error as Error).cause)
  }
}

describe('a connection to the public internet only', () => {
  const rule = publicNetworks()

  test.each([['10.0.0.5'], ['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['169.254.169.254'], ['fe80::1%eth0']])(
    'is refused to a name that resolves to %s',
    async (address) => {
      const failure = await call('hooks.example', { rule, lookup: resolveTo([address]) })
      expect(failure).toMatch(new RegExp(`hooks.example resolves to ${address}, a (?:private|link-local)`))
      expect(paths).toEqual([])
    },
  )

  test('is refused to a name with a public and a private address', async () => {
    const lookup = resolveTo(['93.184.216.34', '127.0.0.1'])
    expect(await call('hooks.example', { rule, lookup })).toContain('127.0.0.1, a private or reserved address')
    expect(paths).toEqual([])
  })

  test('is refused to a name that resolves to a private address at the second time', async () => {
    // The first answer is what a check before the connection would see.
    const lookup = resolveTo(['93.184.216.34'], ['127.0.0.1'])
    lookup('hooks.example', { all: true }, () => undefined)
    expect(await call('hooks.example', { rule, lookup })).toContain('127.0.0.1, a private or reserved address')
    expect(paths).toEqual([])
  })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:7f00:1]'])('is refused to %s', async (host) => {
    expect(await call(host, { rule })).toContain('is a private or reserved address')
    expect(paths).toEqual([])
  })

  test('is refused after a redirect to a private address', async () => {
    const lookup = resolveTo(['127.0.0.1'])
    // Only the literal address of the redirect is refused here: the name itself is on the list.
    const listed = publicNetworks(['127.0.0.1'])
    const strict = { ...rule, refusal: (address: string) => listed.refusal(address) }
    expect(await call('hooks.example', { rule: strict, lookup }, '/moved')).toContain('127.0.0.1 is a private')
    expect(paths).toEqual(['/moved'])
  })

  test('reaches listed networks', async () => {
    const listed = publicNetworks(['127.0.0.0/8'])
    expect(await call('hooks.example', { rule: listed, lookup: resolveTo(['127.0.0.1']) })).toBe('internal')
  })
})

describe('a connection to a configured address', () => {
  test('reaches this machine and private networks', async () => {
    expect(await call('127.0.0.1')).toBe('internal')
    await pool?.close()
    expect(await call('ollama.internal', { lookup: resolveTo(['127.0.0.1']) })).toBe('internal')
  })

  test('reaches no metadata service, neither by address nor by name', async () => {
    expect(await call('169.254.169.254')).toContain('169.254.169.254 is a link-local or metadata address')
    await pool?.close()
    expect(await call('metadata.google.internal')).toContain('is a link-local or metadata address')
    await pool?.close()
    const lookup = resolveTo(['fd00:ec2::254'])
    expect(await call('models.example', { lookup })).toContain('models.example resolves to fd00:ec2::254')
  })

  test('through a proxy refuses what the proxy must not reach, where it is a literal address without the proxy', async () => {
    const proxies = { httpProxy: `http://127.0.0.1:${port}`, noProxy: '169.254.169.254' }
    expect(await call('169.254.169.254', { proxies })).toContain('is a link-local or metadata address')
  })
})
