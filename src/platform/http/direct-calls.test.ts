import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerCall, type Call } from './visit.ts'
import type { App } from './route.ts'
import { createServer } from './server.ts'
import { serverOptions } from './testing/server-options.ts'
import { createOrganisationId } from '../kernel/index.ts'
import { makeOrganisation } from '../../tenants/organisations/index.ts'

/** Which requests are answered without Fastify. test/acceptance/direct-calls.test.ts compares the responses of both ways. */

let app: App
let url: string
const organisation = makeOrganisation(createOrganisationId(), { name: 'Direct' }, 0)
let running = 0
/** Of the long bodies so far. */
const chunks: Buffer[] = []

beforeAll(async () => {
  const handle = (way: string) => async (call: Call) => {
    await nextTurn()
    if (call.requestHeader('x-frees') !== undefined) call.freeBody()
    call.sendJson(JSON.stringify({ way, body: call.body, owner: call.organisation.id }))
  }
  const body = {
    module: import.meta.url,
    exportName: 'none',
    shape: {},
    maximumValues: 100,
    read: (value: unknown) => value,
    startLong() {
      let arrived = 0
      const push = (chunk: Buffer) => {
        arrived += chunk.length
        chunks.push(chunk)
      }
      return { push, finish: () => ({ arrived }) }
    },
  }
  const usual = serverOptions()
  app = createServer({
    ...usual,
    authenticators: {
      ...usual.authenticators,
      organisations: { authenticate: (key) => (key === 'known' ? organisation : undefined), get: () => organisation },
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
          {
            config: {
              auth: 'organisation',
              limited: 'call',
              body,
              direct: handle('direct'),
            },
          },
          answerCall(handle('ordinary')),
        ),
    ],
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app?.close())

async function wayOf(
  options: { headers?: Record<string, string>; body?: string | ReadableStream; query?: string } = {},
) {
  const { headers = {}, body = '{"a":1}', query = '' } = options
  const response = await fetch(`${url}/calls${query}`, {
    method: 'POST',
    headers: { authorization: 'Bearer known', 'content-type': 'application/json', ...headers },
    body,
    ...(typeof body !== 'string' && { duplex: 'half' }),
  } as RequestInit)
  const answer = (await response.json()) as { way?: string; body?: unknown; owner?: string }
  return { way: answer.way ?? response.status, body: answer.body, owner: answer.owner }
}

describe('a request', () => {
  it('of the usual form is answered directly, with its body', async () => {
    expect(await wayOf()).toMatchObject({ way: 'direct', body: { a: 1 } })
    expect((await wayOf({ headers: { 'content-type': 'application/json; charset=utf-8' } })).way).toBe('direct')
    expect((await wayOf({ body: `"${'x'.repeat(65_534)}"` })).way).toBe('direct')
    expect(await wayOf({ body: `"${'x'.repeat(900_000)}"` })).toMatchObject({
      way: 'direct',
      body: { arrived: 900_002 },
    })
  })

  it('of another form is answered by Fastify', async () => {
    expect((await wayOf({ query: '?' })).way).toBe('ordinary')
    expect((await wayOf({ headers: { 'content-type': 'Application/json' } })).way).toBe('ordinary')
    expect((await wayOf({ headers: { 'content-encoding': 'identity' } })).way).toBe('ordinary')
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"a":1}'))
        controller.close()
      },
    })
    expect((await wayOf({ body: chunks })).way).toBe('ordinary')
    expect((await wayOf({ headers: { authorization: 'Bearer unknown' } })).way).toBe(401)
  })

  it('is handled for its organisation, whichever way and in whichever turn its body is read', async () => {
    const bodies = ['{"a":1}', `"${'x'.repeat(65_534)}"`, `"${'x'.repeat(900_000)}"`]
    for (const query of ['', '?']) {
      for (const body of bodies) {
        const { way, owner } = await wayOf({ query, body })
        expect({ way, owner }).toEqual({ way: query === '' ? 'direct' : 'ordinary', owner: organisation.id })
      }
    }
  })

  it.each(['', '?'])(
    'gets the answer to its own body, among many that wait for their turns (query: %j)',
    async (query) => {
      const numbers = Array.from({ length: 64 }, (_, number) => number)
      const sent = numbers.map((number) => (number % 8 === 0 ? `{"a":${number}` : `{"a":${number}}`))
      const answers = await Promise.all(sent.map((body) => wayOf({ query, body })))
      expect(answers.map(({ way, body }) => body ?? way)).toEqual(
        numbers.map((number) => (number % 8 === 0 ? 400 : { a: number })),
      )
      await expect.poll(() => running).toBe(0)
    },
  )

  it.each(['', '?'])('has the chunks of its long body until its handler frees them (query: %j)', async (query) => {
    const body = `"${'x'.repeat(900_000)}"`
    const areFree = () => chunks.splice(0).map(({ buffer }) => (buffer as ArrayBuffer).detached)
    areFree()
    await wayOf({ query, body })
    expect(areFree()).not.toContain(true)
    await wayOf({ query, body, headers: { 'x-frees': 'true' } })
    const freed = areFree()
    expect(freed.length).toBeGreaterThan(1)
    expect(freed).not.toContain(false)
  })

  it('leaves its limits when it has ended', async () => {
    await wayOf()
    await expect.poll(() => running).toBe(0)
  })
})
