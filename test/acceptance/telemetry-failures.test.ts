import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Log, LogFields } from '../../src/platform/kernel/telemetry.ts'
import {
  freePort,
  type StartOptions,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  expectStatus,
} from '../harness/portico.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts'

/** A collector that fails costs its telemetry, and nothing else. */

let receiver: OtlpReceiver
let portico: TestPortico | undefined
let organisation: TestOrganisation
const warnings: LogFields[] = []
const log: Log = {
  debug() {},
  info() {},
  warn: (fields, message) => void warnings.push({ ...fields, message }),
  error: (fields, message) => void warnings.push({ ...fields, message }),
  child: () => log,
}

beforeEach(async () => {
  warnings.length = 0
  receiver = await startOtlpReceiver()
})
afterEach(async () => {
  await portico?.stop()
  portico = undefined
  await receiver.close()
})

async function start(endpoint: string, telemetry: object = {}, options: StartOptions = {}) {
  portico = await startPortico({
    log,
    exportSpansEveryMs: 100,
    settings: { telemetry: { otlp: { endpoint, timeoutMs: 300 }, traces: { sampleRatio: 1 }, ...telemetry } },
    ...options,
  })
  organisation = await portico.createOrganisation()
}

const body = { model: 'portico/offline', messages: [{ role: 'user', content: 'Say something.' }] }
const complete = () => organisation.client('POST', '/v1/gateway/chat/completions', body)

/** The counter of losses with these labels; 0 where there are none. */
async function lost(signal: string, reason: string): Promise<number> {
  const text = await (await fetch(portico!.metricsUrl)).text()
  const line = `portico_telemetry_dropped_total{signal="${signal}",reason="${reason}"} `
  return Number(
    text
      .split('\n')
      .find((one) => one.startsWith(line))
      ?.slice(line.length) ?? 0,
  )
}

/** The exports of spans, in the order of their arrival. */
const traces = () =>
  receiver.requests.filter(({ path }) => path === '/v1/traces').map(({ body: bytes }) => bytes.toString('hex'))

const lines = () => warnings.filter(({ message }) => String(message).startsWith('telemetry is lost'))

describe('a collector that', () => {
  it('is away is counted, and logged once a minute at most', async () => {
    await start(`http://127.0.0.1:${await freePort()}`, { metrics: { intervalSeconds: 1 } })
    for (let call = 0; call < 3; call++) expectStatus(await complete(), 200)
    await expect.poll(() => lost('traces', 'unreachable')).toBeGreaterThanOrEqual(6)
    await expect.poll(() => lost('metrics', 'unreachable')).toBeGreaterThanOrEqual(2)
    expectStatus(await complete(), 200)
    expect(lines()).toMatchObject([{ reason: 'unreachable' }])
  })

  it('answers 500 is counted, and not asked again for the same', async () => {
    receiver.answer(500)
    await start(receiver.url)
    expectStatus(await complete(), 200)
    await expect.poll(() => lost('traces', 'status')).toBeGreaterThanOrEqual(2)
    expect(new Set(traces()).size).toBe(traces().length)
  })

  it('answers 503 is asked again', async () => {
    receiver.answer(503)
    await start(receiver.url, { otlp: { endpoint: receiver.url, timeoutMs: 10_000 } })
    expectStatus(await complete(), 200)
    await expect.poll(() => traces().length).toBeGreaterThanOrEqual(1)
    receiver.answer(200)
    await expect.poll(() => traces().slice(1)).toContain(traces()[0])
    expect(await lost('traces', 'status')).toBe(0)
  })

  it('redirects is not followed', async () => {
    receiver.answer(307)
    await start(receiver.url)
    expectStatus(await complete(), 200)
    await expect.poll(() => lost('traces', 'status')).toBeGreaterThanOrEqual(2)
  })

  it('never answers does not delay a stop beyond the limit of its flush', async () => {
    receiver.answer('hang')
    await start(receiver.url, { otlp: { endpoint: receiver.url, timeoutMs: 60_000 } })
    expectStatus(await complete(), 200)
    await portico!.stop()
    expect(warnings.map(({ message }) => message)).toContain('telemetry was not exported in time')
  })

  it('never answers fills a bounded queue, and what does not fit is counted', async () => {
    receiver.answer('hang')
    await start(receiver.url, { otlp: { endpoint: receiver.url, timeoutMs: 60_000 } })
    // Three spans each: 512 are on their way, 2,048 wait.
    const calls = 1_000
    for (let done = 0; done < calls; done += 50) await Promise.all(Array.from({ length: 50 }, complete))
    await expect.poll(() => lost('traces', 'queue_full')).toBeGreaterThan(100)
    expectStatus(await complete(), 200)
  })
})

describe('a stop', () => {
  it('exports what waits', async () => {
    await start(receiver.url, { otlp: { endpoint: receiver.url, protocol: 'http/json' } })
    const answer = await complete()
    await portico!.stop()
    const id = answer.headers.get('x-request-id')
    expect(receiver.spans().filter(({ attributes }) => attributes['portico.request.id'] === id)).toHaveLength(2)
    expect(receiver.points().map(({ metric }) => metric)).toContain('gen_ai.server.request.duration')
  })
})

describe('the share of traces', () => {
  it('counts calls that are not sampled in the metrics, and exports no span of them', async () => {
    const otlp = { endpoint: receiver.url, protocol: 'http/json' }
    await start(receiver.url, { otlp, traces: { sampleRatio: 0 } })
    const sampled = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    expectStatus(await organisation.client('POST', '/v1/gateway/chat/completions', body, sampled), 200)
    await portico!.stop()
    expect(receiver.spans()).toEqual([])
    expect(receiver.points().find(({ metric }) => metric === 'gen_ai.server.request.duration')).toMatchObject({
      count: 1,
    })
  })
})

describe('without an endpoint, or disabled', () => {
  it('nothing is exported', async () => {
    await start(receiver.url, {}, { environment: { OTEL_SDK_DISABLED: 'true' } })
    expectStatus(await complete(), 200)
    await portico!.stop()
    expect(receiver.requests).toEqual([])
  })
})
