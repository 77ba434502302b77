import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import type { TestDatabase } from '../../../test/harness/statements.ts'
import { parsePicoUsd, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerDeps, type LedgerService } from './ledger.ts'
import { answered, callOf, organisationWith } from './testing/ledger-fixture.ts'

/** Several instances on one database. On the embedded engine they share its one connection; the SQL is the same. */
let databases: TestDatabases
let shared: TestDatabase
const ledgers: LedgerService[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
  shared = { ...databases.control, engine: 'postgres' }
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
})
afterAll(() => databases.drop())

async function openInstances(count: number, changes: Partial<LedgerDeps> = {}): Promise<LedgerService[]> {
  const opened = []
  for (let index = 0; index < count; index += 1) {
    opened.push(await createLedger({ database: shared, clock: systemClock, log: silentLog, ...changes }))
  }
  ledgers.push(...opened)
  return opened
}

/** Longer than any crowded machine needs for the few statements that end the wait. */
const holdWaitMs = 60_000

/**
 * A clock on which 20 ms pass with each answer of the database, and no faster than in real time: the waits and timers of the ledger then
 * cover the same amount of work on an idle and on a crowded machine. The heartbeats that it writes keep all instances alive.
 */
function createWorkClock() {
  const clock = createFakeClock(Date.now())
  const stepMs = 20
  const stop = new AbortController()
  const running = (async () => {
    while (!stop.signal.aborted) {
      await Promise.all([systemClock.sleep(stepMs), shared.execute('update ledger_instances set heartbeat_at = now()')])
      await clock.advance(stepMs)
    }
  })()
  return {
    clock,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** Makes an instance look dead: sets its heartbeat to an hour ago. */
function silence(ledger: LedgerService): Promise<number> {
  return shared.execute(
    "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id = $1",
    [ledger.instanceId()],
  )
}

describe('several instances', () => {
  test('together never bill more than the budget, and refuse only when it is used up', async () => {
    await using work = createWorkClock()
    const instances = await openInstances(3, { clock: work.clock })
    const organisation = organisationWith('0.05')
    const results = await Promise.allSettled(
      Array.from({ length: 120 }, async (_, index) => {
        const hold = await instances[index % 3]!.hold(callOf(organisation, { outputCapTokens: 300 }))
        await hold.durable
        return hold.settle(answered(100, 1 + (index % 100)))
      }),
    )
    const billed = results.map((result) => (result.status === 'fulfilled' ? result.value.billedPicoUsd : 0n))
    const sum = billed.reduce((total, amount) => total + amount, 0n)
    const { settledPicoUsd } = await instances[0]!.loadBudget(organisation)
    expect(settledPicoUsd).toBe(sum)
    expect(sum).toBeLessThanOrEqual(parsePicoUsd('0.05'))
    // The floor of a call here is 100 prompt tokens and 128 of output: that little each instance may be left with, no more.
    expect(sum).toBeGreaterThan(parsePicoUsd('0.05') - 3n * parsePicoUsd('0.00138'))
    expect(results.some((result) => result.status === 'rejected')).toBe(true)
    expect((await instances[1]!.audit()).findings).toEqual([])
    await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
  })

  test('an instance without room gets the unused lease of another one', async () => {
    const [first, second] = await openInstances(2, { holdWaitMs })
    const organisation = organisationWith('0.01')
    const hold = await first!.hold(callOf(organisation, { outputCapTokens: 700 }))
    await hold.settle(answered(100, 10))
    const other = await second!.hold(callOf(organisation, { outputCapTokens: 900 }))
    expect(other.outputCapTokens).toBe(900)
    await other.settle(answered(100, 900))
    expect((await second!.audit()).findings).toEqual([])
  })

  test('gets it also when no notification arrives', async () => {
    // Far below the time after which an unused lease is given back without a request (10 s), so that only a request can end the wait.
    const deaf = { ...shared, listen: async () => async () => {} }
    const [first, second] = await openInstances(2, { database: deaf, holdWaitMs: 5_000 })
    const organisation = organisationWith('0.01')
    const hold = await first!.hold(callOf(organisation, { outputCapTokens: 700 }))
    await hold.settle(answered(100, 10))
    const other = await second!.hold(callOf(organisation, { outputCapTokens: 900 }))
    expect(other.outputCapTokens).toBe(900)
    await other.settle(answered(100, 900))
    expect((await second!.audit()).findings).toEqual([])
  })

  test('another instance settles the holds of a silent one, once; the silent one continues with a new lease', async () => {
    const [dead, alive] = await openInstances(2)
    const organisation = organisationWith('1')
    const call = callOf(organisation, { outputCapTokens: 500 })
    const hold = await dead!.hold(call)
    await hold.durable
    const before = dead!.instanceId()
    await silence(dead!)
    await alive!.maintain()
    const receipt = (await alive!.loadReceipt(call.requestId))!
    expect(receipt).toMatchObject({ ending: 'crashed', estimated: true, billedPicoUsd: parsePicoUsd('0.00008') })
    expect(await hold.settle(answered(100, 500))).toEqual(receipt)
    const next = await dead!.hold(callOf(organisation))
    await next.durable
    expect(dead!.instanceId()).not.toBe(before)
    await next.settle(answered(100, 10))
    expect((await alive!.audit()).findings).toEqual([])
  })

  test('a hold of a silent one is a finding, unless its recovery has to wait for uninterrupted heartbeats', async () => {
    let passedMs = 0
    const monotonicMs = () => performance.now() + passedMs
    // Nothing runs but what the test asks for.
    const clock = { ...systemClock, monotonicMs, every: () => () => {} }
    const [dead, alive] = await openInstances(2, { clock })
    const hold = await dead!.hold(callOf(organisationWith('1')))
    await hold.makeDurable()
    await silence(dead!)
    const rulesBroken = async () => (await alive!.audit()).findings.map(({ rule }) => rule)
    expect(await rulesBroken()).toEqual(['no hold waits for ever'])
    passedMs += 60_000
    await alive!.maintain()
    expect(await alive!.loadReceipt(hold.requestId)).toBeUndefined()
    expect(await rulesBroken()).toEqual([])
    for (let beats = 0; beats < 2; beats += 1) {
      passedMs += 3_000
      await alive!.maintain()
    }
    expect(await alive!.loadReceipt(hold.requestId)).toMatchObject({ ending: 'crashed' })
    expect(await rulesBroken()).toEqual([])
  })

  test('a hold that was decided on a lost lease is not written in the name of the new instance', async () => {
    const [dead, alive] = await openInstances(2)
    const organisation = organisationWith('1')
    await (await dead!.hold(callOf(organisation))).settle(answered(100, 10))
    await silence(dead!)
    await alive!.maintain()
    const hold = await dead!.hold(callOf(organisation))
    await expect(hold.durable).rejects.toMatchObject({ code: 'overloaded' })
    expect((await hold.settle(answered(100, 10))).billedPicoUsd).toBe(0n)
    expect((await alive!.audit()).findings).toEqual([])
  })

  test('a call that waits for room while its instance is presumed dead continues with the new lease', async () => {
    const [dead, alive] = await openInstances(2, { holdWaitMs })
    const organisation = organisationWith('0.0031')
    const first = await dead!.hold(callOf(organisation, { outputCapTokens: 300 }))
    await first.durable
    const waiting = dead!.hold(callOf(organisation, { outputCapTokens: 200 }))
    await silence(dead!)
    await alive!.maintain()
    await dead!.maintain()
    const hold = await waiting
    await hold.durable
    await hold.settle(answered(100, 200))
    expect((await first.settle(answered(100, 300))).ending).toBe('crashed')
    expect((await alive!.audit()).findings).toEqual([])
  })

  test('a call that loads its lease while its instance registers again continues with a lease of the new one', async () => {
    let whileLoading: (() => Promise<unknown>) | undefined
    const slow: TestDatabase = {
      ...shared,
      for: () => slow,
      async query<Row>(...given: Parameters<TestDatabase['query']>) {
        const rows = await shared.query<Row>(...given)
        const run = given[0].includes('room_wanted_by is distinct from') ? whileLoading : undefined
        if (run) whileLoading = undefined
        await run?.()
        return rows
      },
    }
    const [alive] = await openInstances(1)
    const [dead] = await openInstances(1, { database: slow })
    const before = dead!.instanceId()
    whileLoading = async () => {
      while (dead!.instanceId() === before) {
        await silence(dead!)
        await alive!.maintain()
        await dead!.maintain()
      }
    }
    const organisation = organisationWith('1')
    for (const output of [10, 20]) {
      const hold = await dead!.hold(callOf(organisation))
      await hold.durable
      await hold.settle(answered(100, output))
    }
    expect(dead!.instanceId()).not.toBe(before)
    expect((await alive!.audit()).findings).toEqual([])
  })

  test('a heartbeat that was sent before its instance registered again does not end the new one', async () => {
    const reply = Promise.withResolvers<void>()
    const sent = Promise.withResolvers<void>()
    let isHeld = false
    const slow: TestDatabase = {
      ...shared,
      for: () => slow,
      async execute(...given) {
        const touched = await shared.execute(...given)
        if (isHeld && given[0].startsWith('update ledger_instances set heartbeat_at')) {
          sent.resolve()
          await reply.promise
        }
        return touched
      },
    }
    // Nothing runs but what the test asks for.
    const clock = { ...systemClock, every: () => () => {} }
    const [alive] = await openInstances(1, { clock })
    const [dead] = await openInstances(1, { clock, database: slow })
    const organisation = organisationWith('1')
    await (await dead!.hold(callOf(organisation))).settle(answered(100, 10))
    const before = dead!.instanceId()
    await silence(dead!)
    await alive!.maintain()
    isHeld = true
    const maintaining = dead!.maintain()
    await sent.promise
    await expect((await dead!.hold(callOf(organisation))).durable).rejects.toMatchObject({ code: 'overloaded' })
    await expect.poll(() => dead!.instanceId()).not.toBe(before)
    const renewed = dead!.instanceId()
    const hold = await dead!.hold(callOf(organisation))
    await hold.durable
    isHeld = false
    reply.resolve()
    await maintaining
    expect(dead!.instanceId()).toBe(renewed)
    expect(await hold.settle(answered(100, 10))).toMatchObject({ ending: 'completed', estimated: false })
  })

  test('a receipt is the bill of the other instance also where the database does not answer at first', async () => {
    let isLost = false
    const failing: TestDatabase = {
      ...shared,
      for: () => failing,
      async query<Row>(...given: Parameters<TestDatabase['query']>) {
        if (isLost && given[0].includes('from ledger_entries where request_id = any')) {
          isLost = false
          throw Object.assign(new Error('connection lost'), { code: '08006' })
        }
        return shared.query<Row>(...given)
      },
    }
    const [alive] = await openInstances(1)
    const [dead] = await openInstances(1, { database: failing })
    const call = callOf(organisationWith('1'), { outputCapTokens: 500 })
    const hold = await dead!.hold(call)
    await hold.durable
    await silence(dead!)
    await alive!.maintain()
    isLost = true
    expect(await hold.settle(answered(100, 500))).toEqual(await alive!.loadReceipt(call.requestId))
    expect(isLost).toBe(false)
  })

  test('a closed instance leaves no lease, hold or row behind', async () => {
    const [leaving, staying] = await openInstances(2)
    const organisation = organisationWith('1')
    const call = callOf(organisation, { stream: true })
    const hold = await leaving!.hold(call)
    hold.grant(200)
    await leaving!.close()
    expect(await staying!.loadReceipt(call.requestId)).toMatchObject({ ending: 'shutdown', estimated: true })
    const rows = await shared.query(
      `select instance_id from ledger_instances where instance_id = $1
       union all select instance_id from ledger_leases where instance_id = $1`,
      [leaving!.instanceId()],
    )
    expect(rows).toEqual([])
    await expect(leaving!.hold(callOf(organisation))).rejects.toMatchObject({ code: 'shutting_down' })
  })
})

describe('a database that fails', () => {
  /** A database whose statements fail while `down` is set, before or after they took effect. */
  function unreliable() {
    const state: { down: false | 'before' | 'after' } = { down: false }
    const lost = () => Object.assign(new Error('connection lost'), { code: '08006' })
    const database: TestDatabase = {
      ...shared,
      for: () => database,
      async query<Row>(...parameters: Parameters<TestDatabase['query']>) {
        if (state.down === 'before') throw lost()
        const rows = await shared.query<Row>(...parameters)
        if (state.down === 'after') throw lost()
        return rows
      },
    }
    return { database, state }
  }

  test('a settlement outlives an outage; a hold that was written while its answer got lost is not written twice', async () => {
    const { database, state } = unreliable()
    const ledger = await createLedger({ database, clock: systemClock, log: silentLog })
    ledgers.push(ledger)
    const organisation = organisationWith('1')
    await (await ledger.hold(callOf(organisation))).settle(answered(100, 1))
    for (const down of ['before', 'after'] as const) {
      const hold = await ledger.hold(callOf(organisation))
      state.down = down
      const settlement = hold.settle(answered(100, 10))
      await expect
        .poll(
          () =>
            ledger.hold(callOf(organisation)).then(
              () => '',
              (error: { code: string }) => error.code,
            ),
          { timeout: 30_000 },
        )
        .toBe('overloaded')
      state.down = false
      expect((await settlement).billedPicoUsd).toBe(parsePicoUsd('0.0002'))
    }
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.00051'))
    expect((await ledger.audit()).findings).toEqual([])
  })
})
