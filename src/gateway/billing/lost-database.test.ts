import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeAll, afterAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import type { TestDatabase } from '../../../test/harness/statements.ts'
import type { QueryOptions } from '../../platform/database/index.ts'
import { type Clock, parsePicoUsd, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, organisationWith } from './testing/ledger-fixture.ts'

/** An instance whose database is unavailable, hangs or loses its answers. */
let databases: TestDatabases
let shared: TestDatabase
const ledgers: LedgerService[] = []

/** The guarantee of docs/understand/ledger.md. */
const refusedWithinMs = 5_000

beforeAll(async () => {
  databases = await openTestDatabases()
  shared = { ...databases.control, engine: 'postgres' }
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
})
afterAll(() => databases.drop())

type Fault = 'none' | 'refuses' | 'has no connection' | 'loses answers' | 'hangs'

/** A database with a switch. `loses answers`: what was asked for takes effect, and the connection breaks before the answer. */
function breakable() {
  const state: { fault: Fault; onFault?: () => void } = { fault: 'none' }
  const hanging: (() => void)[] = []
  const lost = () => Object.assign(new Error('connection lost'), { code: '08006' })
  async function ask<T>(options: QueryOptions | undefined, work: () => Promise<T>): Promise<T> {
    const { fault } = state
    if (fault === 'refuses') throw lost()
    if (fault === 'has no connection') throw Object.assign(lost(), { isUnsent: true })
    if (fault === 'hangs') {
      await new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal!.reason as Error))
        hanging.push(() => reject(lost()))
      })
    }
    const result = await work()
    if (fault === 'loses answers') {
      state.onFault?.()
      throw lost()
    }
    return result
  }
  const database: TestDatabase = {
    ...shared,
    for: () => database,
    query: <Row>(sql: string, parameters?: Parameters<TestDatabase['query']>[1], options?: QueryOptions) =>
      ask(options, () => shared.query<Row>(sql, parameters, options)),
    execute: (sql, parameters, options) => ask(options, () => shared.execute(sql, parameters, options)),
    transaction: (work, options) => ask(options, () => shared.transaction(work, options)),
  }
  /** As on a real connection, what hangs fails in the end. */
  function repair() {
    state.fault = 'none'
    for (const fail of hanging.splice(0)) fail()
  }
  return { database, state, repair }
}

async function openLedger(database: TestDatabase, clock: Clock = systemClock): Promise<LedgerService> {
  const ledger = await createLedger({ database, clock, log: silentLog })
  ledgers.push(ledger)
  return ledger
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

async function leftBehind(ledger: LedgerService) {
  return {
    findings: (await ledger.audit()).findings,
    holds: await shared.query('select request_id from ledger_holds'),
    leases: await shared.query('select * from ledger_leases where instance_id = $1', [ledger.instanceId()]),
  }
}

/** Fails the audit and leaves a lease behind where memory and the database differ. */
async function expectNothingLeftAfterClose(ledger: LedgerService) {
  await ledger.close()
  const other = await openLedger(shared)
  expect({ ...(await leftBehind(ledger)), ...(await other.audit()) }).toMatchObject({
    findings: [],
    holds: [],
    leases: [],
  })
}

describe('an answer that gets lost after its commit', () => {
  test('of settlements: each is billed once, and all of the budget can still be spent', async () => {
    const { database, state } = breakable()
    const ledger = await openLedger(database)
    const organisation = organisationWith('0.01')
    const holds = await Promise.all([1, 2, 3].map(() => ledger.hold(callOf(organisation, { outputCapTokens: 200 }))))
    await Promise.all(holds.map((hold) => hold.durable))
    state.onFault = () => (state.fault = 'none')
    state.fault = 'loses answers'
    const receipts = await Promise.all(holds.map((hold) => hold.settle(answered(100, 200))))
    expect(receipts.map(({ ending, billedPicoUsd }) => ({ ending, billedPicoUsd }))).toEqual(
      receipts.map(() => ({ ending: 'completed', billedPicoUsd: parsePicoUsd('0.0021') })),
    )
    await expect.poll(() => ledger.isAccepting()).toBe(true)
    // 3 of 0.0021 are billed; 0.0037 are left, which is the prompt and 360 tokens.
    const last = await ledger.hold(callOf(organisation, { outputCapTokens: 1_000 }))
    expect(last.outputCapTokens).toBe(360)
    await last.settle(answered(100, 360))
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.01'))
    await expectNothingLeftAfterClose(ledger)
  })

  test('of a lease: the leased amount is reconciled, and nothing stays leased', async () => {
    const { database, state } = breakable()
    const ledger = await openLedger(database)
    const organisation = organisationWith('0.01')
    // Opens the period, so that the next lost answer is that of the lease.
    await ledger.loadBudget(organisation)
    state.onFault = () => (state.fault = 'none')
    state.fault = 'loses answers'
    // Any statement may be the one that gets lost: repeated until the grant was.
    for (;;) {
      const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 200 })).catch(() => undefined)
      const [lease] = await shared.query('select 1 from ledger_leases where instance_id = $1', [ledger.instanceId()])
      if (!hold && lease) break
      await hold?.settle({ kind: 'unanswered', reason: 'again' })
      state.fault = 'loses answers'
      if (hold) throw new Error('the grant was not lost')
    }
    await expect.poll(() => ledger.isAccepting()).toBe(true)
    await ledger.maintain()
    const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 900 }))
    expect(hold.outputCapTokens).toBe(900)
    await hold.settle(answered(100, 900))
    await expectNothingLeftAfterClose(ledger)
  })
})

describe('a database that does not answer', () => {
  for (const fault of ['refuses', 'hangs'] as const) {
    test(`and ${fault}: calls are refused with 503 within 5 s, and accepted again as soon as it is back`, async () => {
      const { database, state, repair } = breakable()
      // Moves only when the test sets it.
      let elapsedMs = 0
      const ledger = await openLedger(database, { ...systemClock, monotonicMs: () => elapsedMs })
      const known = organisationWith('1')
      await (await ledger.hold(callOf(known))).settle(answered(100, 10))
      state.fault = fault
      const durable = ledger.hold(callOf(known)).then((hold) => hold.durable)
      const unknown = ledger.hold(callOf(organisationWith('1')))
      const codes = Promise.all([codeOf(durable), codeOf(unknown)])
      await nextTurn()
      elapsedMs = refusedWithinMs
      expect(await codes).toEqual(['overloaded', 'overloaded'])
      expect(ledger.isAccepting()).toBe(false)
      repair()
      await expect.poll(() => ledger.isAccepting()).toBe(true)
      const hold = await ledger.hold(callOf(known))
      await hold.durable
      await hold.settle(answered(100, 10))
      expect((await ledger.audit()).findings).toEqual([])
    })
  }

  test('and has no connection: a call whose provider has answered is refused in time too, and not billed', async () => {
    const { database, state } = breakable()
    let elapsedMs = 0
    const ledger = await openLedger(database, { ...systemClock, monotonicMs: () => elapsedMs })
    const organisation = organisationWith('1')
    await (await ledger.hold(callOf(organisation))).settle(answered(100, 10))
    state.fault = 'has no connection'
    const hold = await ledger.hold(callOf(organisation))
    const settlement = hold.settle(answered(100, 500))
    await expect.poll(() => ledger.isAccepting()).toBe(false)
    elapsedMs = refusedWithinMs
    await expect(hold.durable).rejects.toMatchObject({ code: 'overloaded' })
    state.fault = 'none'
    expect(await settlement).toMatchObject({ ending: 'unanswered', billedPicoUsd: 0n })
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.0002'))
    await expectNothingLeftAfterClose(ledger)
  })

  test('and has no connection after a lost answer: the call waits, because its bill may be stored', async () => {
    const { database, state } = breakable()
    let elapsedMs = 0
    const ledger = await openLedger(database, { ...systemClock, monotonicMs: () => elapsedMs })
    const organisation = organisationWith('1')
    await (await ledger.hold(callOf(organisation))).settle(answered(100, 10))
    state.onFault = () => (state.fault = 'has no connection')
    state.fault = 'loses answers'
    const hold = await ledger.hold(callOf(organisation))
    const settlement = hold.settle(answered(100, 500))
    await expect.poll(() => state.fault).toBe('has no connection')
    await expect.poll(() => ledger.isAccepting()).toBe(false)
    elapsedMs = refusedWithinMs
    state.fault = 'none'
    await hold.durable
    expect(await settlement).toMatchObject({ ending: 'completed', billedPicoUsd: parsePicoUsd('0.0051') })
    await expectNothingLeftAfterClose(ledger)
  })

  test('for so long that another instance takes over: the instance comes back by itself under a new identity', async () => {
    const { database, state } = breakable()
    const ledger = await openLedger(database)
    const organisation = organisationWith('1')
    const running = await ledger.hold(callOf(organisation, { stream: true }))
    await running.durable
    const before = ledger.instanceId()
    state.fault = 'refuses'
    const settlement = running.settle(answered(100, 500))
    await expect.poll(() => ledger.isAccepting(), { timeout: 5_000 }).toBe(false)
    await shared.execute(
      "update ledger_instances set heartbeat_at = now() - interval '1 hour' where instance_id = $1",
      [before],
    )
    await (await openLedger(shared)).maintain()
    state.fault = 'none'
    expect((await settlement).ending).toBe('crashed')
    await expect.poll(() => ledger.isAccepting(), { timeout: 5_000 }).toBe(true)
    expect(ledger.instanceId()).not.toBe(before)
    const hold = await ledger.hold(callOf(organisation))
    await hold.durable
    await hold.settle(answered(100, 10))
    expect((await ledger.audit()).findings).toEqual([])
  }, 20_000)

  test('a stream whose hold another instance has settled gets no more output', async () => {
    const ledger = await openLedger(shared)
    const hold = await ledger.hold(callOf(organisationWith('1'), { stream: true }))
    await hold.durable
    expect(hold.grant(1)).toBe(true)
    await shared.execute(
      "update ledger_instances set heartbeat_at = now() - interval '1 hour' where instance_id = $1",
      [ledger.instanceId()],
    )
    await (await openLedger(shared)).maintain()
    await ledger.maintain()
    await expect(hold.grant(2)).rejects.toMatchObject({ code: 'overloaded' })
    expect((await hold.settle(answered(100, 2))).ending).toBe('crashed')
  })
})
