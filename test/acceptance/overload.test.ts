import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { type ApiAnswer, expectStatus, type TestOrganisation } from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'

/** Above its bounds the service rejects new work quickly, finishes what it has admitted, and stays reachable for its operator. */

const settings = (server: object) => (baseUrl: string) => ({
  server,
  providers: [{ id: 'shared', baseUrl, apiKey: 'key-shared', hosting: 'us', limits: { maximumConnections: 100 } }],
  models: [{ id: 'waits', deployments: [{ provider: 'shared', prices: stagePrices }] }],
})

/** Starts calls whose answers the upstream holds until `release`. */
function startCalls(stage: GatewayStage, from: TestOrganisation[], each: number) {
  const gate = Promise.withResolvers<void>()
  const reply = chatAnswer('Here you are.')
  stage.play('waits', { ...reply, holdAt: { bytes: 10, until: gate.promise } })
  const refused: ApiAnswer[] = []
  const calls = from.flatMap((organisation) =>
    Array.from({ length: each }, async () => {
      const answer = await stage.complete('waits', {}, organisation)
      if (answer.status !== 200) refused.push(answer)
      return answer
    }),
  )
  return { calls, refused, release: () => gate.resolve() }
}

async function readMetric(stage: GatewayStage, line: string): Promise<number> {
  const text = await (await fetch(stage.portico.metricsUrl)).text()
  const found = text.split('\n').find((one) => one.startsWith(`${line} `))
  return Number(found?.split(' ').at(-1) ?? 0)
}

async function expectOperable({ portico }: GatewayStage) {
  expect((await fetch(`${portico.url}/livez`)).status).toBe(200)
  expect((await fetch(`${portico.url}/readyz`)).status).toBe(200)
  expectStatus(await portico.operator('GET', '/api/organisations'), 200)
}

describe('more requests than the process may run', () => {
  let stage: GatewayStage
  beforeAll(async () => {
    stage = await startGatewayStage({ settings: settings({ maximumRunningRequests: 8 }) })
  })
  afterAll(() => stage?.stop())

  it('are rejected at once; those that were admitted finish, and the operator is served', async () => {
    const from = [
      stage.organisation,
      await stage.portico.createOrganisation(),
      await stage.portico.createOrganisation(),
    ]
    const { calls, refused, release } = startCalls(stage, from, 10)
    const running = () => readMetric(stage, 'portico_running_requests')
    await expect.poll(async () => refused.length + (await running()), { timeout: 30_000 }).toBe(30)
    for (const answer of refused) {
      expect(expectStatus(answer, 429).error.code).toBe('rate_limit_exceeded')
      expect(answer.headers.get('retry-after')).toBe('2')
    }
    await expectOperable(stage)
    // However many these three send, there is room for another organisation.
    const next = await stage.portico.createOrganisation()
    expectStatus(await next.client('GET', '/v1/gateway/models'), 200)
    const free = 8 - (await running())
    const others = await Promise.all(Array.from({ length: free }, () => stage.portico.createOrganisation()))
    const rest = startCalls(stage, others, 1)
    await expect.poll(running).toBe(8)
    // Not only completions: every request with the key of an organisation.
    const full = await next.client('GET', '/v1/gateway/models')
    expect(expectStatus(full, 503).error.code).toBe('overloaded')
    expect(full.headers.get('retry-after')).toBe('2')
    expect(await readMetric(stage, 'portico_overload_refusals_total{reason="running"}')).toBeGreaterThan(0)
    expect(await readMetric(stage, 'portico_overload_refusals_total{reason="share"}')).toBeGreaterThan(0)

    release()
    rest.release()
    const statuses = (await Promise.all([...calls, ...rest.calls])).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(8)
    await expect.poll(() => readMetric(stage, 'portico_running_requests')).toBe(0)
    for (const organisation of from) {
      expectStatus(await stage.complete('waits', {}, organisation), 200)
      await stage.expectClean(organisation)
    }
  })

  it('of one organisation are at most half of it', async () => {
    const { calls, refused, release } = startCalls(stage, [stage.organisation], 6)
    await expect.poll(() => refused.length).toBe(2)
    for (const answer of refused) expectStatus(answer, 429)
    const other = await stage.portico.createOrganisation()
    expectStatus(await other.client('GET', '/v1/gateway/models'), 200)
    release()
    await Promise.all(calls)
  })
})

describe('a process whose memory is short', () => {
  let stage: GatewayStage
  beforeAll(async () => {
    // The heap of this process, which also runs the test, is always larger.
    stage = await startGatewayStage({ settings: settings({ maximumMemoryPercent: 1 }) })
  })
  afterAll(() => stage?.stop())

  it('runs a few requests, rejects further ones, and serves its operator', async () => {
    const from = [stage.organisation, await stage.portico.createOrganisation()]
    // Memory is measured twice a second, for the first time half a second after the start.
    const system = async () => expectStatus(await stage.portico.operator('GET', '/api/console/system'), 200)
    const measured = { message: 'overload began: new work is rejected' }
    await expect.poll(async () => (await system()).events).toContainEqual(expect.objectContaining(measured))
    const { calls, refused, release } = startCalls(stage, from, 10)
    await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(4)
    for (const answer of refused) expect(expectStatus(answer, 503).error.code).toBe('overloaded')
    await expectOperable(stage)
    expect(await readMetric(stage, 'portico_overload_refusals_total{reason="memory"}')).toBeGreaterThan(0)
    release()
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(16)
  })
})
