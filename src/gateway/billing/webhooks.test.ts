import { timingSafeEqual } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { parsePicoUsd, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger } from './ledger.ts'
import { answered, callOf, organisationWith } from './testing/ledger-fixture.ts'
import { createWebhookDelivery, signWebhook } from './webhooks.ts'

const secret = 'whsec_for_this_test_only'
let databases: TestDatabases
let receiver: Server
let url: string
let statuses: number[]
const received: { signature: string; agent: string; body: string }[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      const { 'portico-signature': signature, 'user-agent': agent } = request.headers
      received.push({ signature: String(signature), agent: String(agent), body })
      response.writeHead(statuses.shift() ?? 200, { location: 'http://127.0.0.1:1/' }).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
})
beforeEach(async () => {
  statuses = []
  received.length = 0
  await databases.control.execute('delete from ledger_outbox')
})
afterAll(async () => {
  receiver.close()
  await databases.drop()
})

function delivery(target: { url: string; secret: string } | undefined = { url, secret }) {
  return createWebhookDelivery({
    database: databases.control,
    clock: systemClock,
    log: silentLog,
    fetch,
    target: () => Promise.resolve(target),
  })
}

/** Spends 85 % and then the rest of a budget, and returns the thresholds that were reported. */
async function spendAll() {
  const reported: number[] = []
  const ledger = await createLedger({
    database: databases.control,
    clock: systemClock,
    log: silentLog,
    observer: { thresholdReached: ({ percent }) => reported.push(percent) },
  })
  const organisation = organisationWith('0.01')
  const spend = async (outputTokens: number) =>
    (await ledger.hold(callOf(organisation, { outputCapTokens: outputTokens }))).settle(answered(100, outputTokens))
  await spend(780)
  await ledger.maintain()
  expect(reported).toEqual([])
  await spend(50)
  await ledger.maintain()
  // The ledger's timer may have found the threshold first and still be writing it.
  await vi.waitFor(() => expect(reported).toEqual([80]), { timeout: 10_000 })
  await ledger.maintain()
  await spend(140)
  await ledger.maintain()
  await ledger.maintain()
  await ledger.close()
  return { reported, organisation }
}

const outbox = () =>
  databases.control.query<{ attempts: number; failure: string | null; finished_at: Date | null; body: string }>(
    'select attempts, failure, finished_at, body from ledger_outbox order by created_at',
  )

describe('thresholds', () => {
  test('80 % and 100 % are reported once each, with the amount spent in the outbox event', async () => {
    const { reported, organisation } = await spendAll()
    expect(reported).toEqual([80, 100])
    const events = (await outbox()).map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    expect(events).toMatchObject([
      { type: 'budget.threshold_reached', organisationId: organisation.id, thresholdPercent: 80, spentUsd: '0.0085' },
      { thresholdPercent: 100, budgetUsd: '0.01', spentUsd: '0.01' },
    ])
  })

  test('a threshold that was reached just before a crash is reported at the next start', async () => {
    const organisation = organisationWith('0.01')
    // Its timer would find the threshold too.
    const clock = { ...systemClock, every: () => () => {} }
    const crashed = await createLedger({ database: databases.control, clock, log: silentLog })
    await (await crashed.hold(callOf(organisation, { outputCapTokens: 850 }))).settle(answered(100, 850))
    const reported: string[] = []
    const ledger = await createLedger({
      database: databases.control,
      clock: systemClock,
      log: silentLog,
      observer: { thresholdReached: (event) => reported.push(`${event.organisationId} ${event.percent}`) },
    })
    expect(reported).toContain(`${organisation.id} 80`)
    await ledger.close()
    await crashed.close()
  })
})

describe('webhooks', () => {
  test('an event is delivered once, signed over its time and body', async () => {
    await spendAll()
    const sender = delivery()
    expect(await sender.deliverDue()).toBe(2)
    expect(await sender.deliverDue()).toBe(0)
    expect(received).toHaveLength(2)
    for (const { agent } of received) expect(agent).toMatch(/^portico\/\d/)
    const now = Math.floor(Date.now() / 1000)
    for (const { signature, body } of received) {
      expect(verifyWebhook(secret, body, signature, now)).toBe(true)
      expect(verifyWebhook('another secret', body, signature, now)).toBe(false)
      expect(verifyWebhook(secret, `${body} `, signature, now)).toBe(false)
      expect(verifyWebhook(secret, body, signature, now + 3600)).toBe(false)
    }
    expect((await outbox()).every(({ finished_at }) => finished_at !== null)).toBe(true)
  })

  test('a failure and a redirect are tried again later, with the same event', async () => {
    await spendAll()
    statuses = [503, 302]
    const sender = delivery()
    await sender.deliverDue()
    expect((await outbox()).map(({ failure }) => failure).sort()).toEqual(['status 302', 'status 503'])
    expect(await sender.deliverDue()).toBe(0)
    await databases.control.execute('update ledger_outbox set next_attempt_at = clock_timestamp()')
    await sender.deliverDue()
    expect(new Set(received.map(({ body }) => body)).size).toBe(2)
    expect(received).toHaveLength(4)
    expect((await outbox()).map(({ attempts, failure }) => [attempts, failure])).toEqual([
      [2, null],
      [2, null],
    ])
  })

  test('after its last attempt an event is given up with the reason', async () => {
    await spendAll()
    await databases.control.execute('update ledger_outbox set attempts = 13')
    await delivery({ url: 'http://127.0.0.1:1/closed', secret }).deliverDue()
    expect((await outbox()).every(({ finished_at, failure }) => finished_at !== null && failure !== null)).toBe(true)
  })

  test('without a webhook the events are closed and nothing is sent', async () => {
    await spendAll()
    const sender = createWebhookDelivery({
      database: databases.control,
      clock: systemClock,
      log: silentLog,
      fetch,
      target: () => Promise.resolve(undefined),
    })
    expect(await sender.deliverDue()).toBe(2)
    expect(received).toEqual([])
  })

  test('the signature is the one that the docs describe', () => {
    expect(signWebhook('key', '{"a":1}', 1_700_000_000)).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/)
    expect(verifyWebhook('key', '{"a":1}', 'v1=00,t=1', 1)).toBe(false)
    expect(parsePicoUsd('0.01')).toBe(10_000_000_000n)
  })
})

/** The check that a receiver makes. */
function verifyWebhook(
  secret: string,
  body: string,
  signature: string,
  nowSeconds: number,
  toleranceSeconds = 300,
): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)
  if (!match || Math.abs(nowSeconds - Number(match[1])) > toleranceSeconds) return false
  const expected = signWebhook(secret, body, Number(match[1]))
  return timingSafeEqual(Buffer.from(expected), Buffer.from(signature))
}
