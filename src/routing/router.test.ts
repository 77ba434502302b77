import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../test/harness/fake-clock.ts'
import { silentLog } from '../kernel/index.ts'
import type { ProviderErrorClass } from '../providers/index.ts'
import type { Deployment } from '../models/index.ts'
import { failuresToOpen, firstOpenMs } from './circuit-breaker.ts'
import { RoutingFailure, createRouter } from './router.ts'
import { connectRefused, providerError, testDeployment } from '../models/testing/catalogue-fixture.ts'

function setUp({ random = () => 0 }: { random?: () => number } = {}) {
  const clock = createFakeClock()
  const router = createRouter({ clock, random, log: silentLog })
  const called: string[] = []
  /** Runs one call to its end and advances the clock over pauses; `attempt` defines the outcome of each deployment. */
  async function run(
    candidates: Deployment[],
    attempt: (deployment: Deployment, signal: AbortSignal) => Promise<string>,
    options: {
      maximumAttempts?: number
      perAttemptTimeoutMs?: number
      totalTimeoutMs?: number
      streamed?: boolean
      signal?: AbortSignal
    } = {},
  ) {
    const { signal = new AbortController().signal, ...limits } = options
    const startedMs = clock.monotonicMs()
    const state = { ended: false }
    const promise = router
      .run({ candidates, signal, ...limits }, (deployment, attemptSignal) => {
        called.push(deployment.id)
        return attempt(deployment, attemptSignal)
      })
      .finally(() => (state.ended = true))
    promise.catch(() => {})
    for (let rounds = 0; rounds < 50 && !state.ended; rounds++) {
      await clock.advance(0)
      if (!state.ended) await clock.advance(clock.nextMs() ?? 0)
    }
    const outcome = await promise.then(
      (value) => ({ ok: true as const, ...value }),
      (error: unknown) => ({ ok: false as const, error }),
    )
    return { ...outcome, tookMs: clock.monotonicMs() - startedMs }
  }
  const failing = (makeError: () => Error) => async () => {
    throw makeError()
  }
  return { clock, router, called, run, failing }
}

const a = testDeployment('a')
const b = testDeployment('b')
const c = testDeployment('c')

describe('retries', () => {
  test.each<ProviderErrorClass>(['invalid_request', 'context_length', 'content_filter', 'cancelled'])(
    'a call rejected with %s is not sent to another deployment',
    async (errorClass) => {
      const { run, called, failing } = setUp()
      const result = await run(
        [a, b],
        failing(() => providerError(errorClass)),
      )
      expect(called).toEqual(['a'])
      expect(result.ok).toBe(false)
    },
  )

  test.each<ProviderErrorClass>(['quota', 'authentication', 'model_not_found', 'rate_limit'])(
    'a call rejected with %s is sent to each other deployment once and never to the same again',
    async (errorClass) => {
      const { run, called, failing } = setUp()
      await run(
        [a, b, c],
        failing(() => providerError(errorClass)),
        { maximumAttempts: 6 },
      )
      expect(called.toSorted()).toEqual(['a', 'b', 'c'])
    },
  )

  test('a single overloaded deployment is tried three times, with growing pauses', async () => {
    const { run, called, failing } = setUp({ random: () => 0.999 })
    const result = await run(
      [a],
      failing(() => providerError('overloaded', { status: 503 })),
    )
    expect(called).toEqual(['a', 'a', 'a'])
    expect(result.tookMs).toBeGreaterThan(700)
    expect(result.tookMs).toBeLessThanOrEqual(750)
  })

  test('another deployment is tried at once, without a pause', async () => {
    const { run, called } = setUp()
    const result = await run([a, b], (deployment) =>
      deployment.id === 'a' ? Promise.reject(providerError('server_error', { status: 500 })) : Promise.resolve('hello'),
    )
    expect(called).toEqual(['a', 'b'])
    expect(result).toMatchObject({ ok: true, value: 'hello', deployment: { id: 'b' }, tookMs: 0 })
    expect(result.ok && result.attempts.map((attempt) => attempt.outcome)).toEqual(['server_error', 'answered'])
  })

  test.each([
    [
      'a connection that broke after the request was sent',
      () => providerError('connection', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) }),
    ],
    ['a time limit that passed after the request was sent', () => providerError('timeout')],
    ['a gateway timeout (504)', () => providerError('timeout', { status: 504 })],
    ['a server error with status 524', () => providerError('server_error', { status: 524 })],
    ['an answer that could not be read', () => providerError('connection', { status: 200 })],
    ['an overload reported in the middle of the answer', () => providerError('overloaded', { afterFirstByte: true })],
    ['a rate limit reported in the middle of the answer', () => providerError('rate_limit', { afterFirstByte: true })],
  ])('%s may have been billed and is not sent again', async (_name, error) => {
    const { run, called, failing } = setUp()
    const result = await run([a, b], failing(error))
    expect(called).toEqual(['a'])
    expect(result.ok === false && result.error).toBeInstanceOf(RoutingFailure)
  })

  test('a refused connection is retried at another deployment: nothing was sent', async () => {
    const { run, called, failing } = setUp()
    await run([a, b], failing(connectRefused), { maximumAttempts: 2 })
    expect(called).toEqual(['a', 'b'])
  })

  test('the failure contains every attempt and the last error', async () => {
    const { run, failing } = setUp()
    const result = await run(
      [a, b],
      failing(() => providerError('quota', { status: 429 })),
    )
    const failure = (result as { error: RoutingFailure }).error
    expect(failure.attempts).toMatchObject([
      { deploymentId: 'a', outcome: 'quota', status: 429 },
      { deploymentId: 'b', outcome: 'quota', status: 429 },
    ])
    expect(failure.error.errorClass).toBe('quota')
  })

  test('an error that is not a ProviderError passes unchanged', async () => {
    const { run, called, failing } = setUp()
    const result = await run(
      [a, b],
      failing(() => new RangeError('ours')),
    )
    expect(called).toEqual(['a'])
    expect(result).toMatchObject({ ok: false, error: { name: 'RangeError' } })
  })
})

describe('time and cancellation', () => {
  const forever = (_deployment: Deployment, signal: AbortSignal) =>
    new Promise<string>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(providerError('cancelled')), { once: true }),
    )

  test('an attempt above its time limit is aborted and reported as one timeout', async () => {
    const { run, called } = setUp()
    const result = await run([a, b], forever, { perAttemptTimeoutMs: 1000 })
    expect(called).toEqual(['a'])
    expect(result.tookMs).toBe(1000)
    expect((result as { error: RoutingFailure }).error.error.errorClass).toBe('timeout')
  })

  test('the total time limit covers all attempts', async () => {
    const { run, clock } = setUp({ random: () => 0.5 })
    const slow = async () => {
      await clock.sleep(400)
      throw providerError('overloaded', { status: 503 })
    }
    const result = await run([a, b, c], slow, { maximumAttempts: 6, totalTimeoutMs: 1000 })
    expect(result.ok).toBe(false)
    expect(result.tookMs).toBeLessThanOrEqual(1000)
  })

  test('a client that disconnects ends the attempt at once, without a retry', async () => {
    const { run, called, clock } = setUp()
    const client = new AbortController()
    void clock.sleep(50).then(() => client.abort(new Error('gone')))
    const result = await run([a, b], forever, { signal: client.signal })
    expect(called).toEqual(['a'])
    expect(result).toMatchObject({ ok: false, error: { message: 'gone' }, tookMs: 50 })
  })

  test('a client that disconnects during a pause ends the pause', async () => {
    const { run, called, clock, failing } = setUp({ random: () => 0.999 })
    const client = new AbortController()
    void clock.sleep(10).then(() => client.abort(new Error('gone')))
    const result = await run(
      [a],
      failing(() => providerError('overloaded', { status: 503 })),
      { signal: client.signal },
    )
    expect(called).toEqual(['a'])
    expect(result).toMatchObject({ ok: false, error: { message: 'gone' }, tookMs: 10 })
  })

  test('once an answer has begun, the client can end it but the time limit of the attempt cannot', async () => {
    const { run, clock } = setUp()
    const client = new AbortController()
    let kept: AbortSignal | undefined
    await run([a], (_deployment, signal) => ((kept = signal), Promise.resolve('stream')), {
      perAttemptTimeoutMs: 1000,
      signal: client.signal,
    })
    await clock.advance(10_000)
    expect(kept?.aborted).toBe(false)
    client.abort(new Error('gone'))
    expect(kept?.aborted).toBe(true)
    expect(clock.sleeping()).toBe(0)
  })
})

test('a complete answer leaves no listener on the signal of its caller', async () => {
  const { run } = setUp()
  const { signal } = new AbortController()
  const listeners: number[] = []
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = ((...parameters: Parameters<typeof add>) => (
    listeners.push(1),
    add(...parameters)
  )) as typeof add
  signal.removeEventListener = ((...parameters: Parameters<typeof remove>) => (
    listeners.push(-1),
    remove(...parameters)
  )) as typeof remove
  for (let count = 0; count < 3; count++) await run([a], () => Promise.resolve('hello'), { signal, streamed: false })
  expect(listeners.length).toBeGreaterThan(0)
  expect(listeners.reduce((sum, one) => sum + one, 0)).toBe(0)
})

describe('health', () => {
  test('retry-after is honoured: no call before it, and the client gets the remaining time', async () => {
    const { run, called, clock, failing } = setUp()
    const limited = failing(() => providerError('rate_limit', { status: 429, retryAfterSeconds: 30 }))
    await run([a], limited)
    await clock.advance(10_000)
    const early = await run([a], limited)
    expect(called).toEqual(['a'])
    expect((early as { error: RoutingFailure }).error.error).toMatchObject({
      errorClass: 'rate_limit',
      retryAfterSeconds: 20,
    })
    await clock.advance(20_000)
    const late = await run([a], () => Promise.resolve('hello'))
    expect(late.ok).toBe(true)
  })

  test('a deployment without credit is the last choice until it has answered again', async () => {
    const { run, called, failing } = setUp()
    await run(
      [a],
      failing(() => providerError('quota')),
    )
    called.length = 0
    await run([a, b], () => Promise.resolve('hello'))
    expect(called).toEqual(['b'])
    await run([a], () => Promise.resolve('hello'))
    called.length = 0
    await run([a, b], () => Promise.resolve('hello'))
    expect(called).toEqual(['a'])
  })

  async function openCircuit(kit: ReturnType<typeof setUp>) {
    for (let count = 0; count < failuresToOpen; count++)
      await kit.run(
        [a],
        kit.failing(() => providerError('timeout')),
      )
    kit.called.length = 0
  }

  test('a circuit opens after ten failures of the last twenty calls; then the other deployments are called', async () => {
    const kit = setUp()
    await openCircuit(kit)
    expect(kit.router.health('a').circuit).toBe('open')
    expect(kit.router.available([a, b])).toEqual([b])
    await kit.run([a, b], () => Promise.resolve('hello'))
    const alone = await kit.run([a], () => Promise.resolve('hello'))
    expect(kit.called).toEqual(['b'])
    expect((alone as { error: RoutingFailure }).error.error.errorClass).toBe('overloaded')
  })

  test('a half-open circuit admits exactly one probe and closes when it succeeds', async () => {
    const kit = setUp()
    await openCircuit(kit)
    await kit.clock.advance(firstOpenMs)
    expect(kit.router.health('a').circuit).toBe('half_open')
    const probe = Promise.withResolvers<string>()
    const signal = new AbortController().signal
    const first = kit.router.run({ candidates: [a], signal }, () => probe.promise)
    const second = await kit.run([a], () => Promise.resolve('not the probe'))
    expect(second.ok).toBe(false)
    expect(kit.called).toEqual([])
    probe.resolve('hello')
    await first
    expect(kit.router.health('a').circuit).toBe('closed')
    expect((await kit.run([a], () => Promise.resolve('hello'))).ok).toBe(true)
  })

  test('a failed probe opens the circuit again, for twice as long', async () => {
    const kit = setUp()
    await openCircuit(kit)
    await kit.clock.advance(firstOpenMs)
    await kit.run(
      [a],
      kit.failing(() => providerError('timeout')),
    )
    await kit.clock.advance(firstOpenMs * 2 - 1)
    expect(kit.router.health('a').circuit).toBe('open')
    await kit.clock.advance(1)
    expect(kit.router.health('a').circuit).toBe('half_open')
  })

  test('a probe whose client disconnects admits another one', async () => {
    const kit = setUp()
    await openCircuit(kit)
    await kit.clock.advance(firstOpenMs)
    const client = new AbortController()
    const gone = kit.router.run(
      { candidates: [a], signal: client.signal },
      (_deployment, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(providerError('cancelled')))),
    )
    client.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    expect((await kit.run([a], () => Promise.resolve('hello'))).ok).toBe(true)
  })

  test('invalid requests never open a circuit', async () => {
    const kit = setUp()
    for (let count = 0; count < 50; count++)
      await kit.run(
        [a],
        kit.failing(() => providerError('invalid_request')),
      )
    expect(kit.router.health('a').circuit).toBe('closed')
  })

  test('failures in the middle of streams count towards the circuit', () => {
    const { router } = setUp()
    for (let count = 0; count < failuresToOpen; count++)
      router.reportBrokenStream('a', providerError('connection', { afterFirstByte: true }))
    expect(router.health('a').circuit).toBe('open')
    expect(router.traffic('a')).toMatchObject({ requests: 0, errors: failuresToOpen })
  })

  test('reports since when it is open, when it tries again, and the last error', async () => {
    const kit = setUp()
    expect(kit.router.health('a')).toMatchObject({ since: null, openUntil: null })
    await openCircuit(kit)
    const openedAt = kit.clock.now()
    const { lastError, ...health } = kit.router.health('a')
    expect(health).toMatchObject({ circuit: 'open', openUntil: openedAt + firstOpenMs, rateLimitedUntil: null })
    expect(health.since).toBeLessThanOrEqual(openedAt)
    expect(lastError!.message).not.toBe('')
    await kit.clock.advance(firstOpenMs)
    expect(kit.router.health('a')).toMatchObject({
      circuit: 'half_open',
      since: openedAt + firstOpenMs,
      openUntil: null,
    })
    await kit.run(
      [a],
      kit.failing(() => providerError('server_error', { status: 500 })),
      { maximumAttempts: 1 },
    )
    // A failed probe prolongs the same outage.
    expect(kit.router.health('a')).toMatchObject({ circuit: 'open', since: health.since })
    await kit.clock.advance(2 * firstOpenMs)
    await kit.run([a], () => Promise.resolve('hello'))
    expect(kit.router.health('a')).toMatchObject({ circuit: 'closed', since: kit.clock.now() })
  })

  test('old failures do not count', async () => {
    const kit = setUp()
    for (let count = 0; count < 3 * failuresToOpen; count++) {
      await kit.run(
        [a],
        kit.failing(() => providerError('timeout')),
      )
      await kit.clock.advance(20_000)
    }
    expect(kit.router.health('a').circuit).toBe('closed')
  })

  test('a change of settings resets the health', async () => {
    const kit = setUp()
    await openCircuit(kit)
    kit.router.reset(['a'])
    expect((await kit.run([a], () => Promise.resolve('hello'))).ok).toBe(true)
  })
})

describe('observed traffic', () => {
  test('counts attempts by their outcome, and not calls that were not sent or that their client left', async () => {
    const kit = setUp()
    await kit.run([a], () => Promise.resolve('hello'), { streamed: false })
    for (const errorClass of ['invalid_request', 'rate_limit', 'authentication', 'share_exhausted'] as const) {
      const failing = kit.failing(() => providerError(errorClass))
      await kit.run([b], failing, { maximumAttempts: 1 })
      kit.router.reset(['b'])
    }
    const client = new AbortController()
    const left = kit.run([c], () => new Promise(() => {}), { signal: client.signal })
    client.abort(new Error('gone'))
    await left
    expect(kit.router.traffic('a')).toMatchObject({ requests: 1, errors: 0, firstBytesMs: null, latencyMs: { p50: 1 } })
    expect(kit.router.traffic('b')).toMatchObject({ requests: 3, errors: 1, rateLimited: 1, rejected: 1 })
    expect(kit.router.traffic('c')).toBeNull()
  })

  test('has the time to the first bytes and to the end of streams', async () => {
    const kit = setUp()
    await kit.run([a], async () => {
      await kit.clock.sleep(200)
      return 'first bytes'
    })
    kit.router.reportAnswer('a', { outputTokens: 50, durationMs: 1_000, isStream: true })
    const { firstBytesMs, latencyMs, outputTokensPerSecond } = kit.router.traffic('a')!
    expect(firstBytesMs!.p50).toBeGreaterThan(185)
    expect(firstBytesMs!.p50).toBeLessThan(215)
    expect(latencyMs!.p50).toBeGreaterThan(930)
    expect(outputTokensPerSecond).toBe(50)
  })
})

describe('choice of a deployment', () => {
  test('first attempts are distributed by weight', async () => {
    let state = 1
    // A linear congruential generator (Numerical Recipes): the same sequence in every run.
    const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32
    const { run, called } = setUp({ random })
    const candidates = [
      testDeployment('a', { weight: 7 }),
      testDeployment('b', { weight: 2 }),
      testDeployment('c', { weight: 1 }),
    ]
    for (let count = 0; count < 2000; count++) await run(candidates, () => Promise.resolve('hello'))
    const share = (id: string) => called.filter((one) => one === id).length / called.length
    expect(share('a')).toBeCloseTo(0.7, 1)
    expect(share('b')).toBeCloseTo(0.2, 1)
    expect(share('c')).toBeCloseTo(0.1, 1)
  })

  test('candidates of both sides are rejected before any call', async () => {
    const { run, called } = setUp()
    const result = await run([a, testDeployment('e', { hosting: 'eu' })], () => Promise.resolve('hello'))
    expect(called).toEqual([])
    expect(result).toMatchObject({ ok: false, error: { code: 'internal_error' } })
  })
})
