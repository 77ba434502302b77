import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { makeOrganisation } from '../../tenants/organisations/index.ts'
import {
  AppError,
  createOrganisationId,
  type LogFields,
  type RequestSpan,
  silentLog,
  type Telemetry,
} from '../kernel/index.ts'
import { admissionSteps, roleServing } from './admit.ts'
import type { App } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'
import { answerCall, type Call } from './visit.ts'

/**
 * The steps of admit.ts in their order. For each of them a request is sent twice, directly and through Fastify (a query is not usual), and both
 * responses must be equal: the step runs both ways.
 */

type StepName = (typeof admissionSteps)[number]['name']

const organisation = makeOrganisation(createOrganisationId(), { name: 'Admitted' }, 0)
const stalledClientMs = 200
const maximumJsonBytes = 1_000

/** What the server finds; each test changes some of it. */
const usual = {
  role: 'gateway' as 'gateway' | 'api',
  isStopping: false,
  isRefusing: false,
  load: undefined as AppError | undefined,
  limit: undefined as AppError | undefined,
  access: undefined as AppError | undefined,
  handle: async (call: Call) => call.sendJson(JSON.stringify({ body: call.body })),
}
let now = { ...usual }
/** Answers of Fastify. */
let ordinary = 0
let running = 0
const lines: LogFields[] = []
const spans: unknown[] = []

const telemetry = {
  request: ({ method, traceparent }) => ({
    traceId: 'trace',
    run: (work) => work(),
    end: (end) => void spans.push({ method, traceparent, ...end }),
  }),
} as Pick<Telemetry, 'request'> as Telemetry satisfies { request(...given: never[]): RequestSpan }

const enter = (refusal: () => AppError | undefined) => () => {
  const error = refusal()
  if (error) throw error
  running++
  return () => void running--
}

function openServer(role: 'gateway' | 'api'): App {
  const options = serverOptions()
  const body = {
    module: import.meta.url,
    exportName: 'none',
    shape: {},
    maximumValues: 100,
    read: (value: unknown) => value,
  }
  const handle = (call: Call) => now.handle(call)
  const app = createServer({
    ...options,
    role,
    stalledClientMs,
    maximumJsonBytes,
    telemetry,
    log: { ...silentLog, info: (fields) => void lines.push(fields as LogFields) },
    authenticators: {
      ...options.authenticators,
      organisations: { authenticate: (key) => (key === 'known' ? organisation : undefined), get: () => organisation },
    },
    admission: { enter: enter(() => now.load), running: () => running },
    limiter: {
      enter: () => ({
        leave: enter(() => now.limit)(),
        rates: [{ unit: 'requests', limit: 9, remaining: 8, resetSeconds: 7 }],
      }),
    },
    stop: {
      get isStopping() {
        return now.isStopping
      },
      get isRefusing() {
        return now.isRefusing
      },
    },
    routes: [
      (routes) =>
        routes.post(
          '/v1/gateway/calls',
          {
            config: {
              auth: 'organisation',
              limited: 'call',
              body,
              access() {
                if (now.access) throw now.access
              },
              direct: handle,
            },
          },
          answerCall(handle),
        ),
    ],
  })
  app.addHook('onSend', async ({ url }) => void (url !== '/last' && ordinary++))
  return app
}

const servers = new Map<string, App>()
beforeAll(async () => {
  for (const role of ['gateway', 'api'] as const) {
    const app = openServer(role)
    await app.listen({ port: 0, host: '127.0.0.1' })
    servers.set(role, app)
  }
})
afterAll(async () => {
  for (const app of servers.values()) await app.close()
})
afterEach(() => {
  now = { ...usual }
})

function open() {
  return connect((servers.get(now.role)!.server.address() as AddressInfo).port, '127.0.0.1')
}

interface Sent {
  path?: string
  key?: string
  /** Further lines. */
  headers?: string[]
  body?: string
}

const toRequest = (
  query: string,
  { path = '/v1/gateway/calls', key = 'known', headers = [], body = '{"a":1}' }: Sent = {},
) =>
  [
    `POST ${path}${query} HTTP/1.1`,
    'host: a',
    `x-api-key: ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...headers,
    '',
    body,
  ].join('\r\n')

/** All that the server sends until it closes the connection, without what differs between any two responses. */
async function exchange(query: string, sent: Sent): Promise<string> {
  ordinary = 0
  const socket = open()
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  // The last request on the connection closes it.
  socket.write(toRequest(query, sent) + 'GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await once(socket, 'close')
  expect(ordinary).toBe(query === '' && sent.path === undefined ? 0 : 1)
  const [head, ...rest] = received.split('\r\n\r\n')
  return [head!.split('\r\n').toSorted().join('\n'), ...rest]
    .join('\n\n')
    .replaceAll(/date: [^\n]*\n/gi, '')
    .replaceAll(/req_\w+/g, 'req_…')
}

/** The response both ways. */
async function sendBothWays(sent: Sent = {}): Promise<string> {
  const direct = await exchange('', sent)
  const other = await exchange('?', sent)
  expect(direct).toBe(other)
  await expect.poll(() => running).toBe(0)
  return direct
}

const refusal = (code: 'overloaded' | 'rate_limit_exceeded' | 'gateway_not_enabled') => new AppError(code, `${code}.`)

/** For each step a request on which it has an effect that can be seen. A new step does not compile without a row. */
const effects: Record<StepName, () => Promise<void>> = {
  async record() {
    lines.length = spans.length = 0
    expect(await sendBothWays({ headers: ['traceparent: 00-1'] })).toMatch(/x-request-id: req_/)
    const answered = lines.filter(({ route }) => route === '/v1/gateway/calls')
    expect(answered).toHaveLength(2)
    for (const line of answered) {
      expect(line).toMatchObject({ method: 'POST', status: 200, organisationId: organisation.id, traceId: 'trace' })
    }
    const traced = spans.filter((span) => (span as { traceparent?: string }).traceparent === '00-1')
    expect(traced).toHaveLength(2)
    expect(traced[0]).toEqual(traced[1])
  },
  async headers() {
    expect(await sendBothWays()).toMatch(/x-content-type-options: nosniff[^]*x-frame-options: DENY/)
  },
  async abort() {
    for (const query of ['', '?']) {
      const gone = Promise.withResolvers<unknown>()
      const socket = open()
      now.handle = async ({ signal }) => {
        signal.addEventListener('abort', () => gone.resolve(signal.reason))
        socket.destroy()
        throw await gone.promise
      }
      socket.write(toRequest(query))
      expect(await gone.promise).toMatchObject({ code: 'client_closed' })
    }
    await expect.poll(() => running).toBe(0)
  },
  async 'role of the process'() {
    now.role = 'api'
    expect(await sendBothWays()).toContain('HTTP/1.1 421')
  },
  async readiness() {
    now.isStopping = now.isRefusing = true
    expect(await sendBothWays()).toMatch(/HTTP\/1\.1 503[^]*retry-after: 2/)
  },
  async identity() {
    expect(await sendBothWays({ key: 'unknown' })).toContain('HTTP/1.1 401')
  },
  async 'load of the process'() {
    now.load = refusal('overloaded')
    expect(await sendBothWays()).toContain('HTTP/1.1 503')
  },
  async 'limits of the organisation'() {
    expect(await sendBothWays()).toContain('x-ratelimit-remaining-requests: 8')
    now.limit = refusal('rate_limit_exceeded')
    expect(await sendBothWays()).toContain('HTTP/1.1 429')
  },
  // Of an address that exists with other methods; the direct way answers only registered routes.
  async route() {
    expect(await sendBothWays({ path: '/v1/gateway/nothing' })).toContain('HTTP/1.1 404')
  },
  async readable() {
    expect(await sendBothWays({ headers: ['host: b'] })).toMatch(/HTTP\/1\.1 400[^]*one host header/)
  },
  // Programs with a key have no page: it is for routes without a credential, which have no direct way.
  async 'own page'() {
    expect(await sendBothWays({ headers: ['origin: https://elsewhere.example'] })).toContain('HTTP/1.1 200')
  },
  async access() {
    now.access = refusal('gateway_not_enabled')
    expect(await sendBothWays()).toContain('HTTP/1.1 403')
    expect(await sendBothWays({ headers: ['host: b'] })).toContain('HTTP/1.1 403')
    expect(await exchange('?', { headers: ['content-encoding: gzip'] })).toContain('HTTP/1.1 403')
    now.load = refusal('overloaded')
    now.limit = refusal('rate_limit_exceeded')
    expect(await sendBothWays()).toContain('HTTP/1.1 403')
  },
  async continue() {
    expect(await sendBothWays({ headers: ['expect: 100-continue'] })).toMatch(
      /^HTTP\/1\.1 100 Continue\n\nHTTP\/1\.1 200/,
    )
    now.limit = refusal('rate_limit_exceeded')
    expect(await sendBothWays({ headers: ['expect: 100-continue'] })).not.toContain('100 Continue')
  },
  async 'room for the body'() {
    const body = JSON.stringify('x'.repeat(maximumJsonBytes))
    expect(await sendBothWays({ body })).toMatch(/HTTP\/1\.1 413[^]*at most 1000 bytes/)
  },
  // People have no direct way.
  async 'role in the organisation'() {
    expect(await sendBothWays()).toContain('HTTP/1.1 200')
  },
  async 'last response'() {
    now.handle = async (call) => {
      now.isStopping = true
      call.sendJson('{}')
    }
    now.isStopping = false
    const direct = await exchange('', {})
    now.isStopping = false
    expect(direct).toBe(await exchange('?', {}))
    expect(direct).toContain('connection: close')
  },
  async 'stalled client'() {
    now.handle = async (call) => call.sendJson(JSON.stringify('x'.repeat(20_000_000)))
    for (const query of ['', '?']) {
      const socket = open().pause()
      socket.write(toRequest(query))
      await expect.poll(() => running).toBeGreaterThan(0)
      await expect.poll(() => running).toBe(0)
      socket.destroy()
    }
  },
}

test('a request passes these steps, in this order', () => {
  expect(admissionSteps.map(({ phase, name }) => `${phase}: ${name}`)).toEqual([
    'arrival: record',
    'arrival: headers',
    'arrival: abort',
    'arrival: role of the process',
    'arrival: readiness',
    'arrival: identity',
    'arrival: access',
    'arrival: load of the process',
    'arrival: limits of the organisation',
    'arrival: route',
    'arrival: readable',
    'arrival: own page',
    'arrival: continue',
    'body: room for the body',
    'handler: role in the organisation',
    'answer: last response',
    'answer: stalled client',
  ])
})

test.each(admissionSteps.map(({ name }) => name))('the step "%s" runs directly and in Fastify', async (name) => {
  await effects[name]()
})

describe('the role that serves a path', () => {
  it.each([
    ['/v1/gateway', 'gateway'],
    ['/v1/gateway/chat/completions', 'gateway'],
    ['/v2/gateway/anthropic/v1/messages', 'gateway'],
    ['/v1/gatewayed', 'api'],
    ['/v1/endpoints/:endpointId/chat', 'api'],
    ['/api/organisations/:id/chat/completions', 'api'],
    ['/', 'api'],
    ['/docs/static/index.html', 'api'],
    ['/livez', null],
    ['/readyz', null],
    ['/openapi.json', null],
  ])('%s: %s', (path, role) => {
    expect(roleServing(path)).toBe(role)
  })
})
