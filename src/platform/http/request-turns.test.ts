import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOrganisationId } from '../kernel/index.ts'
import { makeOrganisation } from '../../tenants/organisations/index.ts'
import { answerCall, type Call } from './visit.ts'
import type { App } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'

/** Requests of one organisation that arrive at once, and those of another one after them. */

const organisations = new Map(
  ['flood', 'other'].map((name) => [name, makeOrganisation(createOrganisationId(), { name }, 0)]),
)
const nameOf = (id: string) => [...organisations].find(([, organisation]) => organisation.id === id)?.[0]
/** In the order in which they were handled. */
let handled: (string | undefined)[] = []
let running = 0
let app: App

function busy() {
  const untilMs = performance.now() + 2
  while (performance.now() < untilMs);
}

beforeAll(async () => {
  const handle = async (call: Call) => {
    handled.push(nameOf(call.organisation.id))
    busy()
    call.sendJson('{}')
  }
  const body = {
    module: import.meta.url,
    exportName: 'none',
    shape: {},
    maximumValues: 100,
    read: (value: unknown) => value,
  }
  const usual = serverOptions()
  app = createServer({
    ...usual,
    authenticators: {
      ...usual.authenticators,
      organisations: { authenticate: (key) => organisations.get(key), get: () => undefined },
    },
    limiter: {
      enter() {
        running++
        return { leave: () => running--, rates: [] }
      },
    },
    routes: [
      (routes) =>
        routes.post(
          '/calls',
          { config: { auth: 'organisation', limited: 'call', body, direct: handle } },
          answerCall(handle),
        ),
      (routes) =>
        routes.get('/list', { config: { auth: 'organisation' } }, async ({ organisation }) => {
          handled.push(nameOf(organisation.id))
          busy()
          return {}
        }),
      (routes) =>
        routes.get('/livez', { config: { auth: 'none' } }, async () => {
          handled.push('livez')
          return {}
        }),
    ],
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app?.close())

const request = (line: string, key: string, body = '') =>
  `${line} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nconnection: close\r\n` +
  (body === '' ? '\r\n' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)

async function open(): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test.each([
  ['calls of the usual form', 'POST /calls', '{"a":1}'],
  ['calls of another form', 'POST /calls?', '{"a":1}'],
  ['lists', 'GET /list', ''],
])('of 200 %s at once few are handled before that of another organisation and a probe', async (_what, line, body) => {
  handled = []
  const sockets = await Promise.all(Array.from({ length: 202 }, open))
  const ends = sockets.map((socket) => once(socket.resume(), 'close'))
  for (const socket of sockets.slice(0, 200)) socket.write(request(line, 'flood', body))
  sockets[200]!.write(request(line, 'other', body))
  sockets[201]!.write(request('GET /livez', 'none'))
  await Promise.all(ends)
  expect(handled).toHaveLength(202)
  expect(handled.indexOf('other')).toBeLessThan(60)
  expect(handled.indexOf('livez')).toBeLessThan(60)
})

test('clients that leave before the turns of their requests are not counted as running', async () => {
  handled = []
  const sockets = await Promise.all(Array.from({ length: 50 }, open))
  for (const socket of sockets) {
    socket.write(request('POST /calls', 'flood', '{"a":1}'))
    socket.destroy()
  }
  const last = await open()
  last.write(request('POST /calls', 'other', '{"a":1}'))
  await once(last.resume(), 'close')
  expect(handled).toContain('other')
  await expect.poll(() => running).toBe(0)
})
