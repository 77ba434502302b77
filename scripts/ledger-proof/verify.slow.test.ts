import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answered, callOf, organisationWith } from '../../src/gateway/billing/testing/ledger-fixture.ts'
import type { TestDatabase } from '../../test/harness/statements.ts'
import { parsePicoUsd } from '../../src/platform/kernel/index.ts'
import { openTestDatabases, type TestDatabases } from '../../test/harness/database.ts'
import { type Instance, startInstance } from './instance.ts'
import { createChance } from './random.ts'
import type { SimulatedCall } from './simulation.ts'
import { verify } from './verify.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 4, 15, 12)
let databases: TestDatabases
let shared: TestDatabase
let atMs: number
const instances: Instance[] = []

beforeEach(async () => {
  databases = await openTestDatabases()
  shared = { ...databases.control, engine: 'postgres' }
  atMs = startMs
})
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance.ledger.close()
  await databases.drop()
})

async function start(database = shared): Promise<Instance> {
  const instance = await startInstance({ database, now: () => atMs, chance: createChance(1), holdWaitMs: 50 })
  instances.push(instance)
  return instance
}

/** A whole call, with its record. */
async function runCall(instance: Instance, organisation: SimulatedCall['organisation'], tokens: number) {
  const request = callOf(organisation, { outputCapTokens: tokens })
  const call: SimulatedCall = {
    requestId: request.requestId,
    organisation,
    readAtMs: [],
    durable: false,
    shownTokens: tokens,
    outcome: answered(100, tokens),
    receipt: undefined,
    refused: false,
    interrupted: false,
  }
  const hold = await instance.hold(request, call.readAtMs)
  await hold.durable
  call.durable = true
  call.receipt = await hold.settle(call.outcome!)
  return call
}

describe('the budget that a period is compared with', () => {
  test('is that of the call that was decided again after a jump of the clock into the period', async () => {
    const alive = await start()
    let beforeTransaction: (() => Promise<void>) | undefined
    const silent = await start({
      ...shared,
      async transaction(...given) {
        const run = beforeTransaction
        beforeTransaction = undefined
        await run?.()
        return shared.transaction(...given)
      },
    })
    const poor = organisationWith('0.005')
    const first = await runCall(silent, poor, 100)
    beforeTransaction = async () => {
      const dead = silent.ledger.instanceId()
      // Again where a heartbeat of its timer came between the two.
      while ((await shared.query('select from ledger_instances where instance_id = $1', [dead])).length > 0) {
        await shared.execute(
          "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id = $1",
          [dead],
        )
        await alive.ledger.maintain()
      }
      atMs += 31 * dayMs
    }
    // More than the lease has: the extension finds that the instance was presumed dead.
    const second = await runCall(silent, { ...poor, monthlyBudgetPicoUsd: parsePicoUsd('0.5') }, 1800)
    expect(second.receipt).toMatchObject({ startedAt: startMs + 31 * dayMs, billedPicoUsd: parsePicoUsd('0.0181') })
    expect(second.readAtMs).toEqual(expect.arrayContaining([startMs, startMs + 31 * dayMs]))
    expect((await alive.ledger.audit()).findings).toEqual([])
    expect(await verify(shared, [first, second])).toMatchObject({ periods: 2, overrunPeriods: 0, wrongBills: 0 })
  })

  test('is the highest one that the ledger was given in it, and a bill above it is reported', async () => {
    const instance = await start()
    const organisation = organisationWith('0.5')
    const call = await runCall(instance, organisation, 1800)
    expect(await verify(shared, [call])).toMatchObject({ overrunPeriods: 0, wrongBills: 0 })

    const poorer = { ...call, organisation: { ...organisation, monthlyBudgetPicoUsd: parsePicoUsd('0.0180') } }
    const found = await verify(shared, [poorer])
    expect(found).toMatchObject({ overrunPeriods: 1, highestOverrunPicoUsd: parsePicoUsd('0.0001') })
    expect(found.overruns).toHaveLength(1)
  })

  test('is not that of a call that the ledger decided in another period, however close', async () => {
    const instance = await start()
    const call = await runCall(instance, organisationWith('0.5'), 1800)
    const [period] = await shared.query<{ starts_at: Date }>('select starts_at from ledger_periods')
    const earlier = { ...call, readAtMs: [period!.starts_at.getTime() - 1] }
    expect(await verify(shared, [earlier])).toMatchObject({ overrunPeriods: 1, wrongBills: 1 })
  })
})
