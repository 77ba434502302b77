import { describe, expect, test } from 'vitest'
import { failuresToOpen, firstOpenMs } from './deployment-state.ts'
import { ProviderError } from '../providers/index.ts'
import type { RoutingFailure } from './router.ts'
import { createRouterKit } from './testing/router-fixture.ts'
import { providerError, testDeployment } from '../models/testing/catalogue-fixture.ts'

/** Circuits, rate limits and the observed traffic of deployments. */

const a = testDeployment('a')
const b = testDeployment('b')
const c = testDeployment('c')

describe('health', () => {
  test('retry-after is honoured: no call before it, and the client gets the remaining time', async () => {
    const { run, called, clock, failing } = createRouterKit()
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

  test('an account error is a warning in the log, once an hour for each deployment', async () => {
    const { run, clock, failing, warnings } = createRouterKit()
    const suspended = failing(
      () => new ProviderError('quota', 'Account acme is suspended.', { retryable: false, status: 412 }),
    )
    for (let call = 0; call < 3; call++) await run([a, b], suspended)
    expect(warnings).toMatchObject([{ deployment: 'a', errorClass: 'quota', status: 412 }, { deployment: 'b' }])
    await clock.advance(60 * 60_000)
    await run([a], suspended)
    expect(warnings).toHaveLength(3)
  })

  test('a deployment without credit is the last choice until it has answered again', async () => {
    const { run, called, failing } = createRouterKit()
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

  async function openCircuit(kit: ReturnType<typeof createRouterKit>) {
    for (let count = 0; count < failuresToOpen; count++)
      await kit.run(
        [a],
        kit.failing(() => providerError('timeout')),
      )
    kit.called.length = 0
  }

  test('a circuit opens after ten failures of the last twenty calls; then the other deployments are called', async () => {
    const kit = createRouterKit()
    await openCircuit(kit)
    expect(kit.router.health('a').circuit).toBe('open')
    expect(kit.router.available([a, b])).toEqual([b])
    await kit.run([a, b], () => Promise.resolve('hello'))
    const alone = await kit.run([a], () => Promise.resolve('hello'))
    expect(kit.called).toEqual(['b'])
    expect((alone as { error: RoutingFailure }).error.error.errorClass).toBe('overloaded')
  })

  test('a half-open circuit admits exactly one probe and closes when it succeeds', async () => {
    const kit = createRouterKit()
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
    const kit = createRouterKit()
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
    const kit = createRouterKit()
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
    const kit = createRouterKit()
    for (let count = 0; count < 50; count++)
      await kit.run(
        [a],
        kit.failing(() => providerError('invalid_request')),
      )
    expect(kit.router.health('a').circuit).toBe('closed')
  })

  test('failures in the middle of streams count towards the circuit', () => {
    const { router } = createRouterKit()
    for (let count = 0; count < failuresToOpen; count++)
      router.reportBrokenStream('a', providerError('connection', { afterFirstByte: true }))
    expect(router.health('a').circuit).toBe('open')
    expect(router.traffic('a')).toMatchObject({ requests: 0, errors: failuresToOpen })
  })

  test('reports since when it is open, when it tries again, and the last error', async () => {
    const kit = createRouterKit()
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
    const kit = createRouterKit()
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
    const kit = createRouterKit()
    await openCircuit(kit)
    kit.router.reset(['a'])
    expect((await kit.run([a], () => Promise.resolve('hello'))).ok).toBe(true)
  })
})

describe('observed traffic', () => {
  test('counts attempts by their outcome, and not calls that were not sent or that their client left', async () => {
    const kit = createRouterKit()
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
    const kit = createRouterKit()
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
