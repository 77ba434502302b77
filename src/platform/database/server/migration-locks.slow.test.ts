import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runOnServer, testServerUrl, urlOfDatabase } from '../../../../test/harness/database-template.ts'
import { copyScriptsOfFirstRelease } from '../../../../test/harness/first-release.ts'
import { startLockProbe } from '../../../../test/harness/lock-probe.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { openDatabases } from '../index.ts'

/** The scripts since the first release run while clients use the tables. `npm run bench:migration-locks` does it with 10 million rows. */

const server = testServerUrl()
const name = `portico_locks_${process.pid}`
let databaseUrl: string
let dataFolder: string

beforeEach(async () => {
  if (server === undefined) return
  await runOnServer(server, `create database ${name}`)
  databaseUrl = urlOfDatabase(server, name)
  dataFolder = copyScriptsOfFirstRelease()
  const options = { dataFolder, databaseUrl, migrationsFolder: dataFolder, clock: systemClock, log: silentLog }
  await (await openDatabases(options)).close()
})
afterEach(async () => {
  if (server === undefined) return
  await runOnServer(server, `drop database ${name} with (force)`)
  fs.rmSync(dataFolder, { recursive: true })
})

test.skipIf(server === undefined)(
  'an upgrade from the first release lets clients use every table (needs a server)',
  async () => {
    const probe = await startLockProbe(databaseUrl)
    const startedMs = performance.now()
    await (await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })).close()
    const upgradeMs = performance.now() - startedMs
    const waits = await probe.stop()
    expect(waits).toHaveLength(probe.tables)
    expect(probe.tables).toBeGreaterThan(40)
    // No table is locked by more than some of the scripts.
    expect(waits.filter(({ ms }) => ms > upgradeMs / 2)).toEqual([])
  },
)

test.skipIf(server === undefined)('the probe finds a table that is locked for long (needs a server)', async () => {
  const probe = await startLockProbe(databaseUrl)
  const script = new pg.Client({ connectionString: databaseUrl })
  await script.connect()
  await script.query('begin; lock table portico_control.organisations in share mode')
  const waiting = `select from pg_locks where not granted and relation = 'portico_control.organisations'::regclass`
  await expect.poll(async () => (await script.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1)
  // The elapsed time is what is measured.
  const waitedFromMs = performance.now()
  await delay(100)
  const waitedMs = performance.now() - waitedFromMs
  await script.query('rollback')
  await script.end()
  const [worst] = await probe.stop()
  expect(worst!.table).toBe('portico_control.organisations')
  expect(worst!.ms).toBeGreaterThan(waitedMs)
})
