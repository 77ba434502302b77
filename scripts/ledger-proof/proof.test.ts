import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../test/harness/database.ts'
import { runModel } from './model.ts'
import { createChance } from './random.ts'
import { simulate } from './simulation.ts'
import { verify } from './verify.ts'

/** A short proof with a new seed each time; `npm run proof:ledger -- --seed N --steps N` repeats or extends it. */
const seed = Date.now() % 1_000_000_000
let databases: TestDatabases

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

test(`every decision of the ledger matches the model (seed ${seed})`, async () => {
  await expect(runModel(databases.control, createChance(seed), 150)).resolves.toEqual({ decisions: 150 })
})

test(`crashes, silences and clock jumps leave no unbilled answer, no double bill, no leaked hold and no overrun (seed ${seed})`, async () => {
  const { control } = databases
  const { calls, lastInstance } = await simulate(control, createChance(seed + 1), 400)
  await control.execute(
    "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id <> $1",
    [lastInstance.ledger.instanceId()],
  )
  await lastInstance.ledger.maintain()
  const audit = await lastInstance.ledger.audit()
  await lastInstance.ledger.close()
  expect(audit.findings).toEqual([])
  expect(await verify(control, calls)).toMatchObject({
    unbilledAnswers: 0,
    doubleBills: 0,
    wrongBills: 0,
    leakedHolds: 0,
    overrunPeriods: 0,
  })
}, 60_000)
