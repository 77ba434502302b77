import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testServerUrl } from '../harness/database.ts'
import { question } from '../harness/gateway-stage.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
} from '../harness/portico.ts'

/** While one organisation floods the service, each request of another one is answered, and does not wait behind the flood. */

interface Tenant {
  organisation: TestOrganisation
  space: TestSpace
  agent: Agent
}

interface Result {
  status: number
  text: string
  durationMs: number
}

type Act = (tenant: Tenant) => Promise<Result>

/** Requests of the other organisation during a flood, one after the other. */
const requests = 8
/** Of the flood, before those begin. */
const floodedAfter = 20
const refusedAgainMs = 50

let portico: SeparatePortico
let flooding: Tenant
let other: Tenant

beforeAll(async () => {
  // The limit of an installation: a late event loop must not close the service to the other organisation.
  portico = await startSeparatePortico({ settings: { server: { maximumEventLoopDelayMs: 500 } } })
  ;[flooding, other] = [await createTenant(), await createTenant()]
})
afterAll(() => portico?.stop())

async function createTenant(): Promise<Tenant> {
  const organisation = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
  const space = await portico.createSpace(organisation)
  for (let number = 1; number <= 5; number += 1) {
    await uploadReady(
      organisation,
      space.id,
      `Ticket ${number} of the museum costs ${10 * number} euros.`,
      `ticket-${number}.md`,
    )
  }
  return { organisation, space, agent: new Agent({ keepAlive: true, maxSockets: 1_000 }) }
}

/** Status 0: the connection was closed. */
function send({ organisation, agent }: Tenant, method: string, path: string, body?: object): Promise<Result> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    const end = (status: number, text: string) => resolve({ status, text, durationMs: performance.now() - startedMs })
    const request = httpRequest(portico.url + path, {
      method,
      agent,
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
    })
    request.on('error', (error) => end(0, error.message))
    request.on('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('error', (error) => end(0, error.message))
      response.on('end', () => end(response.statusCode!, text))
    })
    request.end(body && JSON.stringify(body))
  })
}

const completion = (stream: boolean) => ({ model: 'portico/offline', messages: question, stream })
const complete: Act = (tenant) => send(tenant, 'POST', '/v1/gateway/chat/completions', completion(false))
const stream: Act = (tenant) => send(tenant, 'POST', '/v1/gateway/chat/completions', completion(true))
const list: Act = (tenant) => send(tenant, 'GET', `/v1/documents?spaceId=${tenant.space.id}`)
const chat: Act = (tenant) =>
  send(tenant, 'POST', `/v1/endpoints/${tenant.space.endpointId}/chat`, {
    messages: [{ role: 'user', content: 'How much does ticket 3 cost?' }],
  })
const upload: Act = async ({ organisation, space }) => {
  const startedMs = performance.now()
  const form = uploadForm(`The garden has roses. ${Math.random()}`, `garden-${Math.random()}.md`)
  const { status, body } = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form)
  return { status, text: JSON.stringify(body), durationMs: performance.now() - startedMs }
}

/** Repeats requests with so many clients at a time until `stop`, which does not wait for their answers. */
function flood(act: Act, clients: number) {
  const results: Result[] = []
  const tenant = { ...flooding, agent: new Agent({ keepAlive: true, maxSockets: clients }) }
  const over = new AbortController()
  const client = async () => {
    while (!over.signal.aborted) {
      const result = await act(tenant)
      if (over.signal.aborted) return
      results.push(result)
      if (result.status >= 300) await new Promise((resolve) => setTimeout(resolve, refusedAgainMs))
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  return {
    results,
    async stop() {
      over.abort()
      tenant.agent.destroy()
      await running
    },
  }
}

/** Clients that send streams and read nothing. */
function floodUnread(clients: number): Socket[] {
  const { hostname, port } = new URL(portico.url)
  const body = JSON.stringify(completion(true))
  const request =
    `POST /v1/gateway/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${flooding.organisation.apiKey}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  return Array.from({ length: clients }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    socket.write(request)
    return socket
  })
}

const medianMs = (results: readonly Result[]) =>
  results.map(({ durationMs }) => durationMs).toSorted((left, right) => left - right)[results.length >> 1]!

const succeeded = ({ status }: Result) => status >= 200 && status < 300
const isLimited = ({ status }: Result) => status === 429 || status === 503

async function actDuring(running: ReturnType<typeof flood>, acts: readonly Act[]): Promise<Result[]> {
  await expect.poll(() => running.results.length, { timeout: 30_000 }).toBeGreaterThan(floodedAfter)
  const results: Result[] = []
  for (let round = 0; round < requests; round += 1) for (const act of acts) results.push(await act(other))
  return results
}

describe('another organisation is served during a flood', () => {
  it.each([
    ['of completions', complete, 300],
    ['of streams', stream, 300],
    ['of uploads', upload, 32],
  ])('%s', async (_what, act, clients) => {
    const running = flood(act, clients)
    const unread = act === stream ? floodUnread(50) : []
    const results = await actDuring(running, [act, list])
    await running.stop()
    for (const socket of unread) socket.destroy()
    expect(results.filter((result) => !succeeded(result))).toEqual([])
    // Its own limits end a flood, with an error that its clients may repeat after.
    const failed = running.results.filter((result) => !succeeded(result) && !isLimited(result))
    expect(failed).toEqual([])
  })

  it.each([
    ['of lists of documents', list, 200],
    ['of chats', chat, 48],
  ])('%s, and does not wait behind it', async (_what, act, clients) => {
    const running = flood(act, clients)
    const results = await actDuring(running, [act])
    await running.stop()
    expect(results.filter((result) => !succeeded(result))).toEqual([])
    // On a server the event loop may be the slowest part, which all requests share.
    if (testServerUrl() !== undefined) return
    // In one queue for all, both would wait equally long.
    expect(medianMs(results)).toBeLessThan(medianMs(running.results.filter(succeeded)) / 2)
  })
})
