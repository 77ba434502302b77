import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError, createOrganisationId, type Log } from '../kernel/index.ts'
import { makeOrganisation } from '../../tenants/organisations/index.ts'
import { answerCall, type Call } from './visit.ts'
import type { App, Routes } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'

/** Requests byte by byte: how a host, an expectation and a path may be written. */

const organisation = makeOrganisation(createOrganisationId(), { name: 'Raw' }, 0)
const lines: string[] = []
const note = (fields: unknown, message: string) => void lines.push(JSON.stringify(fields) + message)
const log = { debug: note, info: note, warn: note, error: note, child: () => log } as Log
const bodiesRead: unknown[] = []
let isFull = false
let app: App

const routes: Routes = (server) => {
  const config = { auth: 'none' } as const
  const params = z.object({ token: z.string() })
  server.get('/livez', { config }, () => ({}))
  server.get('/console/*', { config }, () => ({}))
  server.get('/api/invitations/:token', { config, schema: { params } }, () => {
    throw new AppError('not_found', 'There is no such invitation.')
  })
  server.post('/api/invitations/:token/accept', { config, schema: { params } }, () => ({}))
  server.post('/api/setup', { config: { auth: { role: 'operator' } } }, ({ body }) => ({ body }))
  const handle = async (call: Call) => {
    bodiesRead.push(call.body)
    call.sendJson('{}')
  }
  const body = {
    module: import.meta.url,
    exportName: 'none',
    shape: {},
    maximumValues: 100,
    read: (value: unknown) => value,
  }
  const call = { auth: 'organisation', limited: 'call', body } as const
  server.post('/v1/direct', { config: { ...call, direct: handle } }, answerCall(handle))
  server.post('/v1/ordinary', { config: call }, answerCall(handle))
}

beforeAll(async () => {
  app = createServer({
    ...serverOptions(),
    authenticators: {
      organisations: { authenticate: (key) => (key === 'known' ? organisation : undefined), get: () => organisation },
      operatorTokens: { authenticate: (token) => token === 'known' },
      people: { authenticate: async () => undefined },
    },
    limiter: {
      enter() {
        if (isFull) throw new AppError('rate_limit_exceeded', 'There are too many requests.')
        return { leave() {}, rates: [] }
      },
    },
    log,
    routes: [routes],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app?.close())
beforeEach(() => {
  isFull = false
  bodiesRead.length = lines.length = 0
})

/** Sends the lines and reads until the server closes the connection. `more` is sent when the status 100 has arrived. */
async function send(head: string[], more = ''): Promise<string> {
  const socket = net.connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
    if (more !== '' && received.endsWith('100 Continue\r\n\r\n')) socket.write(more)
  })
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  return received
}
const statusesOf = (received: string) => received.match(/^HTTP\/1\.1 \d+/gm)?.map((line) => Number(line.slice(9)))

describe('the host of a request', () => {
  const answer = async (...hosts: string[]) =>
    statusesOf(await send(['GET /livez HTTP/1.1', ...hosts.map((host) => `Host:${host}`), 'connection: close']))

  test.each(['portico.example', 'PORTICO.example:8080', '127.0.0.1:80', '[::1]:8080', 'my_service', 'a.b.', ''])(
    'may be %j',
    async (host) => {
      expect(await answer(host)).toEqual([200])
    },
  )

  test.each([
    ['a', 'a'],
    ['a', 'b'],
    ['', 'a'],
    ['a', 'b', 'c'],
  ])('must be stated once: %j and %j', async (...hosts) => {
    expect(await answer(...hosts)).toEqual([400])
  })

  test.each(['a, b', 'a b', 'user@a', 'user:password@a', 'a/b', 'a?b', 'a#b', '%', 'a%00', '[::1', '::1', '[g::]'])(
    'must be a name or an address: %j',
    async (host) => {
      expect(await answer(host)).toEqual([400])
    },
  )

  test.each(['a:', 'a:x', 'a:-1', 'a:99999', 'a:1:2', ':80'])('must have a port that exists: %j', async (host) => {
    expect(await answer(host)).toEqual([400])
  })

  test('is checked for requests of the usual form, too', async () => {
    for (const hosts of [['host: a', 'host: b'], ['host: u@a']]) {
      const given = ['x-api-key: known', 'content-type: application/json', 'content-length: 2', 'connection: close']
      expect(statusesOf(await send(['POST /v1/direct HTTP/1.1', ...hosts, ...given, '', '{}']))).toEqual([400])
    }
    expect(bodiesRead).toEqual([])
  })
})

describe('the status 100', () => {
  const expectation = (path: string, key: string, size = 2) => [
    `POST ${path} HTTP/1.1`,
    'host: a',
    `authorization: Bearer ${key}`,
    'expect: 100-continue',
    'content-type: application/json',
    `content-length: ${size}`,
  ]

  test.each(['/v1/direct', '/v1/ordinary', '/api/setup'])('is sent for %s with a valid credential', async (path) => {
    const received = await send([...expectation(path, 'known'), 'connection: close'], '{}')
    expect(statusesOf(received)).toEqual([100, 200])
  })

  test.each(['/v1/direct', '/v1/ordinary', '/api/setup'])(
    'is not sent for %s without one, and the connection is closed',
    async (path) => {
      const received = await send(expectation(path, 'unknown'))
      expect(statusesOf(received)).toEqual([401])
      expect(received).toMatch(/^connection: close\r$/im)
    },
  )

  test.each(['/nothing', '/v1/nothing', '/livez', '/v1/direct/'])(
    'is not sent for %s, which takes no body',
    async (path) => {
      expect(statusesOf(await send(expectation(path, 'known')))).toEqual([path === '/livez' ? 405 : 404])
    },
  )

  test.each(['/v1/direct', '/v1/ordinary'])(
    'is not sent for %s beyond the limits of the organisation',
    async (path) => {
      isFull = true
      expect(statusesOf(await send(expectation(path, 'known')))).toEqual([429])
    },
  )

  test('is not sent for a host that is not valid', async () => {
    const given = expectation('/v1/ordinary', 'known').map((line) => (line === 'host: a' ? 'host: a b' : line))
    expect(statusesOf(await send(given))).toEqual([400])
  })

  test('is not awaited by a body that comes at once: the client still reads its error', async () => {
    const body = '{}'.padEnd(200_000)
    const received = await send([...expectation('/v1/ordinary', 'unknown', body.length), 'connection: close', '', body])
    expect(statusesOf(received)).toEqual([401])
  })
})

describe('the log', () => {
  const token = 'oLrQ0bH8nC2xVtS5kWm7Yd'
  const spellings = [
    `/api/invitations/${token}`,
    `/api/invitations/${token}/`,
    `/api/invitations//${token}`,
    `//api/invitations/${token}`,
    `/api//invitations/${token}`,
    `/API/invitations/${token}`,
    `/Api/Invitations/${token}`,
    `/./api/invitations/${token}`,
    `/api/./invitations/${token}`,
    `/api/../api/invitations/${token}`,
    `/api/invitations/${token}/more`,
    `/api/invitations/${token}/accept/`,
    `/api/invitations/accept/${token}`,
    `/api/invitations/${token}%20`,
    `/api/invitations/%20${token}`,
    `/api/invitations/${token}%00`,
    `/api/invitations/${token}%zz`,
    `/api/invitations/${token}%ff`,
    `/api/invitations/${token};x=1`,
    `/api/invitations/${token}#x`,
    `/api/invitations/${token}?x=1`,
    `/api/invitations/?token=${token}`,
    `/api/invitations%2F${token}`,
    `/api/invitations%5C${token}`,
    `/api\\invitations\\${token}`,
    `/api/invitations:${token}`,
    `/api/invitations-${token}`,
    `/x/api/invitations/${token}`,
    `/${token}`,
    `/${token}/api`,
    `/${'api/'.repeat(48)}${token}`,
    `/console/invitations/${token}`,
    `/Console/invitations/${token}`,
    `/console${token}`,
    `http://a/api/invitations/${token}`,
    `http://${token}/api`,
    token,
  ]

  test.each(spellings)('never has the token of a link: %s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS'])
      await send([`${method} ${path} HTTP/1.1`, 'host: a', 'content-length: 0', 'connection: close'])
    for (const line of lines)
      for (let start = 0; start + 6 <= token.length; start++) expect(line).not.toContain(token.slice(start, start + 6))
  })

  test('has the words of known routes in the path of a request without a route', async () => {
    await send(['GET /openai/v1/direct/secret/accept?x HTTP/1.1', 'host: a', 'connection: close'])
    expect(lines.join()).toContain('"path":"/*/v1/direct/*/accept"')
  })
})

test.each(['/v1/direct', '/v1/ordinary'])(
  'a client that leaves while %s reads its body is no fault of the server',
  async (path) => {
    const socket = net.connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    const arrived = once(app.server, 'request')
    const head = ['host: a', 'x-api-key: known', 'content-type: application/json', 'content-length: 10']
    socket.write([`POST ${path} HTTP/1.1`, ...head, '', '{"a"'].join('\r\n'))
    const [, response] = (await arrived) as [unknown, ServerResponse]
    const closed = once(response, 'close')
    socket.destroy()
    await closed
    await send(['GET /livez HTTP/1.1', 'host: a', 'connection: close'])
    expect(lines.join()).not.toMatch(/internal_error|aborted/)
  },
)
