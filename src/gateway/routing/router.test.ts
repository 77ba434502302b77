import { describe, expect, test } from 'vitest'
import type { EndSignal } from '../../platform/kernel/index.ts'
import type { ProviderErrorClass } from '../providers/index.ts'
import type { Deployment } from '../models/index.ts'
import { RoutingFailure } from './router.ts'
import { createRouterKit } from './testing/router-fixture.ts'
import { connectRefused, providerError, testDeployment } from '../models/testing/catalogue-fixture.ts'

const a = testDeployment('a')
const b = testDeployment('b')
const c = testDeployment('c')

describe('retries', () => {
  test.each<ProviderErrorClass>(['invalid_request', 'context_length', 'content_filter', 'cancelled'])(
    'a call rejected with %s is not sent to another deployment',
    async (errorClass) => {
      const { run, called, failing } = createRouterKit()
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
      const { run, called, failing } = createRouterKit()
      await run(
        [a, b, c],
        failing(() => providerError(errorClass)),
        { maximumAttempts: 6 },
      )
      expect(called.toSorted()).toEqual(['a', 'b', 'c'])
    },
  )

  test('a single overloaded deployment is tried three times, with growing pauses', async () => {
    const { run, called, failing } = createRouterKit({ random: () => 0.999 })
    const result = await run(
      [a],
      failing(() => providerError('overloaded', { status: 503 })),
    )
    expect(called).toEqual(['a', 'a', 'a'])
    expect(result.tookMs).toBeGreaterThan(700)
    expect(result.tookMs).toBeLessThanOrEqual(750)
  })

  test('a fault between two attempts rejects the call', async () => {
    let isTried = false
    const { run } = createRouterKit({
      random() {
        if (isTried) throw new Error('a fault of the router')
        return 0
      },
    })
    const trying = run([a], () => {
      isTried = true
      return Promise.reject(providerError('overloaded', { status: 503 }))
    })
    expect(await trying).toMatchObject({ ok: false, error: { message: 'a fault of the router' } })
  })

  test('another deployment is tried at once, without a pause', async () => {
    const { run, called } = createRouterKit()
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
    const { run, called, failing } = createRouterKit()
    const result = await run([a, b], failing(error))
    expect(called).toEqual(['a'])
    expect(result.ok === false && result.error).toBeInstanceOf(RoutingFailure)
  })

  test('a refused connection is retried at another deployment: nothing was sent', async () => {
    const { run, called, failing } = createRouterKit()
    await run([a, b], failing(connectRefused), { maximumAttempts: 2 })
    expect(called).toEqual(['a', 'b'])
  })

  test('the failure contains every attempt and the last error', async () => {
    const { run, failing } = createRouterKit()
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
    const { run, called, failing } = createRouterKit()
    const result = await run(
      [a, b],
      failing(() => new RangeError('ours')),
    )
    expect(called).toEqual(['a'])
    expect(result).toMatchObject({ ok: false, error: { name: 'RangeError' } })
  })
})

describe('time and cancellation', () => {
  const forever = (_deployment: Deployment, signal: EndSignal) =>
    new Promise<string>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(providerError('cancelled')), { once: true }),
    )

  test('an attempt above its time limit is aborted and reported as one timeout', async () => {
    const { run, called } = createRouterKit()
    const result = await run([a, b], forever, { perAttemptTimeoutMs: 1000 })
    expect(called).toEqual(['a'])
    expect(result.tookMs).toBe(1000)
    expect((result as { error: RoutingFailure }).error.error.errorClass).toBe('timeout')
  })

  test('the total time limit covers all attempts', async () => {
    const { run, clock } = createRouterKit({ random: () => 0.5 })
    const slow = async () => {
      await clock.sleep(400)
      throw providerError('overloaded', { status: 503 })
    }
    const result = await run([a, b, c], slow, { maximumAttempts: 6, totalTimeoutMs: 1000 })
    expect(result.ok).toBe(false)
    expect(result.tookMs).toBeLessThanOrEqual(1000)
  })

  test('a client that disconnects ends the attempt at once, without a retry', async () => {
    const { run, called, clock } = createRouterKit()
    const client = new AbortController()
    void clock.sleep(50).then(() => client.abort(new Error('gone')))
    const result = await run([a, b], forever, { signal: client.signal })
    expect(called).toEqual(['a'])
    expect(result).toMatchObject({ ok: false, error: { message: 'gone' }, tookMs: 50 })
  })

  test('a client that disconnects during a pause ends the pause', async () => {
    const { run, called, clock, failing } = createRouterKit({ random: () => 0.999 })
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
    const { run, clock } = createRouterKit()
    const client = new AbortController()
    let kept: EndSignal | undefined
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
  const { run } = createRouterKit()
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

describe('choice of a deployment', () => {
  test('first attempts are distributed by weight', async () => {
    let state = 1
    // A linear congruential generator (Numerical Recipes): the same sequence in every run.
    const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32
    const { run, called } = createRouterKit({ random })
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
    const { run, called } = createRouterKit()
    const result = await run([a, testDeployment('e', { hosting: 'eu', side: 'eu' })], () => Promise.resolve('hello'))
    expect(called).toEqual([])
    expect(result).toMatchObject({ ok: false, error: { code: 'internal_error' } })
  })
})
