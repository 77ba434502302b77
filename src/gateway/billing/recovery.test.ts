import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  createInstanceId,
  createRequestId,
  createUuid,
  type InstanceId,
  silentLog,
  systemClock,
} from '../../platform/kernel/index.ts'
import { serviceActor } from '../../tenants/operators/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createLedger, type LedgerDeps, type LedgerService } from './ledger.ts'
import { answered, callOf, organisationWith, skippingClock } from './testing/ledger-fixture.ts'

/** Whose holds are settled by others, and when. */

let databases: TestDatabases
const ledgers: LedgerService[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
})
afterAll(() => databases.drop())

// The gap between two heartbeats of a busy machine can be long enough that recovery waits.
const steadyClock = { ...systemClock, monotonicMs: () => 0 }

const on = (engine: Database['engine']): Database => ({ ...databases.control, engine })

async function openLedger(changes: Partial<LedgerDeps> = {}): Promise<LedgerService> {
  const ledger = await createLedger({ database: on('postgres'), clock: steadyClock, log: silentLog, ...changes })
  ledgers.push(ledger)
  return ledger
}

/** A row that a process has left: 80 tokens of the prompt at 1 dollar per million. */
async function leaveHold({ id }: Organisation, period: string, instanceId: InstanceId): Promise<string> {
  const requestId = createRequestId()
  await databases.control.execute(
    `insert into ledger_holds (request_id, organisation_id, period, instance_id, amount_pico_usd, surface, model, started_at, prompt_tokens,
       input_atto_usd, output_atto_usd, price_source, markup_basis_points)
     values ($1, $2, $3, $4, 500000000, 'gateway', 'fixture-model', now(), 80, 1000000000000, 0, 'fixture', 0)`,
    [requestId, id, period, instanceId],
  )
  return requestId
}

const findHold = (requestId: string) =>
  databases.control.query('select from ledger_holds where request_id = $1', [requestId])

describe('a hold that belongs to no instance', () => {
  let organisation: Organisation
  let requestId: string

  beforeEach(async () => {
    const ledger = await openLedger()
    organisation = organisationWith('1')
    const { period } = await ledger.loadBudget(organisation)
    requestId = await leaveHold(organisation, period, createInstanceId())
    expect((await ledger.loadBudget(organisation)).heldPicoUsd).toBe(500_000_000n)
    expect((await ledger.audit()).findings).toHaveLength(2)
  })

  async function expectSettled(ledger: LedgerService) {
    expect(await ledger.loadReceipt(requestId)).toMatchObject({
      ending: 'crashed',
      billedPicoUsd: 0n,
      writtenOffPicoUsd: 80_000_000n,
    })
    expect(await ledger.loadBudget(organisation)).toMatchObject({ heldPicoUsd: 0n, settledPicoUsd: 0n })
    expect((await ledger.audit()).findings).toEqual([])
  }

  test('is settled without a bill by every running instance', async () => {
    await ledgers[0]!.maintain()
    await expectSettled(ledgers[0]!)
  })

  test('is settled by a repair, which reports it', async () => {
    expect(await ledgers[0]!.repair(serviceActor)).toBe(1)
    await expectSettled(ledgers[0]!)
    expect(await ledgers[0]!.repair(serviceActor)).toBe(0)
  })

  test('is settled by the start on the embedded engine', async () => {
    await ledgers.splice(0)[0]!.close()
    await expectSettled(await openLedger({ database: on('embedded') }))
  })
})

test('an instance that closes while it has a hold in the database leaves both to recovery', async () => {
  const ledger = await openLedger()
  const organisation = organisationWith('1')
  const { period } = await ledger.loadBudget(organisation)
  const instanceId = ledger.instanceId()
  const requestId = await leaveHold(organisation, period, instanceId)
  await ledger.close()
  expect(await findHold(requestId)).toHaveLength(1)
  expect(
    await databases.control.query('select from ledger_instances where instance_id = $1', [instanceId]),
  ).toHaveLength(1)
  const other = await openLedger()
  await databases.control.execute(
    "update ledger_instances set heartbeat_at = now() - interval '1 hour' where instance_id = $1",
    [instanceId],
  )
  await other.maintain()
  expect(await findHold(requestId)).toEqual([])
  expect((await other.audit()).findings).toEqual([])
})

test('after the database was frozen, an instance settles those of others only when they had time for a heartbeat', async () => {
  const clock = skippingClock()
  const ledger = await openLedger({ clock })
  const other = await openLedger({ clock: { ...systemClock, every: () => () => {} } })
  const hold = await other.hold(callOf(organisationWith('1')))
  await hold.makeDurable()
  const silence = () => databases.control.execute("update ledger_instances set heartbeat_at = now() - interval '12 s'")
  await silence()
  clock.pass(12_000)
  await ledger.maintain()
  expect(await findHold(hold.requestId)).toHaveLength(1)
  // The other one is alive, and continues.
  await other.maintain()
  clock.pass(3_000)
  await ledger.maintain()
  expect((await hold.settle(answered(100, 10))).ending).toBe('completed')
  const left = await other.hold(callOf(organisationWith('1')))
  await left.makeDurable()
  await silence()
  clock.pass(3_000)
  await ledger.maintain()
  // It is silent although the database answers. The recovery that the clock has started may still run.
  await expect.poll(() => findHold(left.requestId)).toEqual([])
})

test('a journal in front of a server, of an earlier version, prevents the start and is left to that version', async () => {
  const { control } = databases
  const running = await openLedger()
  const organisation = organisationWith('1')
  const { period } = await running.loadBudget(organisation)
  const instanceId = createInstanceId()
  const journalId = createUuid()
  await control.execute('insert into ledger_journals (journal_id, holder, place) values ($1, $1, $2)', [
    journalId,
    'elsewhere:/data/server-journal',
  ])
  await control.execute(
    `insert into ledger_instances (instance_id, heartbeat_at, journal_id, journal_holder) values ($1, 'epoch', $2, $2)`,
    [instanceId, journalId],
  )
  const requestId = await leaveHold(organisation, period, instanceId)
  await expect(openLedger()).rejects.toThrow(
    /earlier version has not finished the journal .* in elsewhere:\/data\/server-journal.*ledger\.journal: database/,
  )
  await running.maintain()
  expect(await findHold(requestId)).toHaveLength(1)
  await control.execute('update ledger_instances set journal_holder = null where instance_id = $1', [instanceId])
  await running.maintain()
  expect(await findHold(requestId)).toEqual([])
  expect((await (await openLedger()).audit()).findings).toEqual([])
})
