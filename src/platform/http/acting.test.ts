import { ownerOf } from './identity.ts'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../kernel/index.ts'
import type { Caller, Person } from './caller.ts'
import { type App, describeRoutes, type Routes } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'

/** Requests of people, and of the operator token, that act for an organisation as its API key does. */

const acme = { id: '00000000-0000-4000-8000-00000000000a' } as Caller
/** In the memberships of the administrator, but removed from the installation. */
const removed = '00000000-0000-4000-8000-00000000000b'

const people: Record<string, Partial<Person>> = {
  administrator: {
    memberships: new Map([
      [acme.id, 'administrator'],
      [removed, 'administrator'],
    ]),
  },
  member: { memberships: new Map([[acme.id, 'member']]) },
  stranger: { memberships: new Map([[crypto.randomUUID(), 'administrator']]) },
  operator: { memberships: new Map(), isOperator: true },
}

const acting = {
  role: 'administrator',
  organisation: ({ params }: { params: unknown }) => (params as { id: string }).id,
  missing: () => new AppError('organisation_not_found', 'There is no such organisation.'),
  acting: true,
} as const
const forPeople = describeRoutes({ role: 'person' }, 'Test')

let isFull = false
const entered: { id: string; kind: string }[] = []
let running = 0
const bodiesRead: unknown[] = []
/** Holds the look-up of a person until it is called. */
let release: (() => void) | undefined
let url: string
let app: App

const routes: Routes = (server) => {
  server.post(
    '/api/organisations/:id/echo',
    describeRoutes(acting, 'Test')('echo', 'Echo', {
      config: {
        limited: 'call',
        body: {
          module: import.meta.url,
          exportName: 'unused',
          shape: {},
          maximumValues: 10,
          read: (value) => {
            bodiesRead.push(value)
            return { read: value }
          },
        },
      },
      params: z.object({ id: z.string() }),
      body: z.unknown(),
    }),
    (request) => ({ organisation: request.organisation.id, body: request.body, running }),
  )
  const { acting: _, ...role } = acting
  server.get(
    '/api/organisations/:id/owner',
    describeRoutes(role, 'Test')('owner', 'Owner', { params: z.object({ id: z.string() }) }),
    (request) => ({ owner: ownerOf(request) }),
  )
  server.get('/api/owner', forPeople('personsOwner', 'Owner', {}), (request) => ({
    owner: ownerOf(request),
  }))
}

function openServer(groups: Routes[]): App {
  return createServer({
    ...serverOptions(),
    authenticators: {
      organisations: { authenticate: () => undefined, get: (id) => (id === acme.id ? acme : undefined) },
      operatorTokens: { authenticate: (token) => token === 'operator' },
      people: {
        async authenticate(headers) {
          const name = headers.get('cookie')!.replace('person=', '')
          if (name === 'slow') await new Promise<void>((resolve) => (release = resolve))
          const known = people[name === 'slow' ? 'administrator' : name]
          return known && ({ id: `person-${name}`, isOperator: false, ...known } as Person)
        },
      },
    },
    routes: groups,
    limiter: {
      enter({ id }, kind) {
        if (isFull) throw new AppError('rate_limit_exceeded', 'Too many calls at once.')
        entered.push({ id, kind })
        running++
        return { leave: () => running--, rates: [{ unit: 'requests', limit: 9, remaining: 8, resetSeconds: 7 }] }
      },
    },
  })
}

beforeAll(async () => {
  app = openServer([routes])
  await app.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
})
afterAll(() => app.close())
beforeEach(() => {
  isFull = false
  entered.length = 0
  bodiesRead.length = 0
})

async function call(caller: string, { id = acme.id as string, origin = url } = {}) {
  const credential = caller === 'token' ? { authorization: 'Bearer operator' } : { cookie: `person=${caller}`, origin }
  const response = await fetch(`${url}/api/organisations/${id}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credential },
    body: '{"a":1}',
  })
  const body = (await response.json()) as { error?: { code: string } }
  return { status: response.status, code: body.error?.code, headers: response.headers, body }
}

describe('a request that acts for an organisation', () => {
  test.each(['administrator', 'operator', 'token'])(
    'has the organisation and counts in its limiter: %s',
    async (caller) => {
      const answer = await call(caller)
      expect(answer.body).toEqual({ organisation: acme.id, body: { read: { a: 1 } }, running: 1 })
      expect(entered).toEqual([{ id: acme.id, kind: 'call' }])
      expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('8')
      await expect.poll(() => running).toBe(0)
    },
  )

  test.each([
    ['member', acme.id, 403, 'forbidden_role'],
    ['stranger', acme.id, 404, 'organisation_not_found'],
    ['administrator', removed, 404, 'organisation_not_found'],
    ['operator', removed, 404, 'organisation_not_found'],
    ['token', crypto.randomUUID(), 404, 'organisation_not_found'],
    ['nobody', acme.id, 401, 'not_signed_in'],
  ])('of %s for %s is refused before its body is read', async (caller, id, status, code) => {
    expect(await call(caller, { id })).toMatchObject({ status, code })
    expect([entered, bodiesRead]).toEqual([[], []])
  })

  test('of another site is refused', async () => {
    expect(await call('administrator', { origin: 'https://evil.example' })).toMatchObject({
      code: 'cross_site_request',
    })
    expect([entered, bodiesRead]).toEqual([[], []])
  })

  test('above the limit of the organisation is refused before its body is read', async () => {
    isFull = true
    expect(await call('administrator')).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(bodiesRead).toEqual([])
  })

  test('is not counted if its client left while the person was looked up', async () => {
    const connected = once(app.server, 'connection') as Promise<[Socket]>
    const client = httpRequest(`${url}/api/organisations/${acme.id}/echo`, {
      method: 'POST',
      headers: { cookie: 'person=slow', origin: url, 'content-type': 'application/json' },
      agent: false,
    })
    client.on('error', () => {})
    client.end('{"a":1}')
    const [socket] = await connected
    await expect.poll(() => release).toBeDefined()
    const closed = once(socket, 'close')
    client.destroy()
    await closed
    release!()
    expect((await call('administrator')).status).toBe(200)
    expect(entered).toHaveLength(1)
    await expect.poll(() => running).toBe(0)
  })
})

test.each([
  ['administrator', `/api/organisations/${acme.id}/owner`, acme.id],
  ['operator', `/api/organisations/${acme.id}/owner`, 'person-operator'],
  ['administrator', '/api/owner', 'person-administrator'],
  ['token', `/api/organisations/${acme.id}/owner`, ''],
])('the work of %s at %s takes the turns of "%s"', async (caller, path, owner) => {
  const headers: Record<string, string> =
    caller === 'token' ? { authorization: 'Bearer operator' } : { cookie: `person=${caller}` }
  expect(await (await fetch(url + path, { headers })).json()).toEqual({ owner })
})

describe('a route with limits', () => {
  test('that never has an organisation stops the start', async () => {
    const wrong = openServer([
      (server) =>
        void server.get(
          '/api/wrong',
          forPeople('wrong', 'Wrong', {
            config: { limited: 'call' },
          }),
          () => '',
        ),
    ])
    await expect(wrong.ready()).rejects.toThrow('limited without an organisation on /api/wrong')
  })
})
