import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeTestFolder, openTestDatabases, type TestDatabases } from '../../test/harness/database.ts'
import { runModel } from './model.ts'
import { createChance } from './random.ts'
import { simulate } from './simulation.ts'
import { verify } from './verify.ts'
import { testSeed } from '../../test/harness/seed.ts'

/** A short proof with a new seed each time; `npm run proof:ledger -- --seed N --steps N` repeats or extends it. */
const seed = testSeed
let databases: TestDatabases
let folder: string

beforeEach(async () => {
  databases = await openTestDatabases()
  folder = makeTestFolder()
})
afterEach(async () => {
  await databases.drop()
  fs.rmSync(folder, { recursive: true, force: true })
})

describe.each(['database', 'local'] as const)('writes durable in: %s', (mode) => {
  const journalFolder = () => (mode === 'database' ? undefined : path.join(folder, 'journal'))
  const databaseOf = ({ control }: TestDatabases): TestDatabases['control'] =>
    mode === 'database' ? control : { ...control, engine: 'embedded' }

  test(`every decision of the ledger matches the model (seed ${seed})`, async () => {
    const control = databaseOf(databases)
    await expect(runModel(control, createChance(seed), 150, journalFolder())).resolves.toEqual({ decisions: 150 })
  }, 60_000)

  test(`crashes, silences and clock jumps of every kind of call leave no unbilled or uncovered answer, no double bill, no leaked hold and no overrun (seed ${seed})`, async () => {
    const control = databaseOf(databases)
    const { calls, lastInstance, late } = await simulate(control, createChance(seed + 1), 400, journalFolder())
    await control.execute(
      "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id <> $1",
      [lastInstance.ledger.instanceId()],
    )
    await lastInstance.ledger.maintain()
    const audit = await lastInstance.ledger.audit()
    await lastInstance.ledger.close()
    await Promise.all(late)
    expect(audit.findings).toEqual([])
    expect(await verify(control, calls)).toMatchObject({
      unbilledAnswers: 0,
      doubleBills: 0,
      wrongBills: 0,
      unboundedCalls: 0,
      leakedHolds: 0,
      overrunPeriods: 0,
    })
  }, 120_000)
})
