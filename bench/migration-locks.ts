/**
 * How long clients wait while an upgrade from the first release changes the tables of a large installation:
 * `npm run bench:migration-locks [-- --rows 10000000] [--data NAME]` with a PostgreSQL server in PORTICO_TEST_DATABASE_URL. Makes a database with so many
 * entries of the ledger and a hundredth of it documents, on the schema of the first release, then runs the later scripts while a
 * client asks for one table after the other. Fails if it ever waited longer than 1 s. 10 million rows need 10 GB of disk. `--data` keeps the filled database
 * under this name; a run with it starts from a copy.
 */
import fs from 'node:fs'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { type Log, silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { runOnServer, testServerUrl, urlOfDatabase } from '../test/harness/database-template.ts'
import { insertDocumentRows } from '../test/harness/document-rows.ts'
import { copyScriptsOfFirstRelease } from '../test/harness/first-release.ts'
import { startLockProbe } from '../test/harness/lock-probe.ts'
import { fillEntries, usageOrganisation } from './usage-data.ts'
import { openDatabases } from '../test/harness/statements.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000000' }, data: { type: 'string' } } })
const rows = Number(values.rows)
const organisations = 10_000
const rowsPerDocument = 100
const boundMs = 1_000

const server = testServerUrl()
if (server === undefined) throw new Error('PORTICO_TEST_DATABASE_URL must name a PostgreSQL server.')
const dataFolder = fs.mkdtempSync(`${os.tmpdir()}/portico-bench-`)
const filled = values.data ?? `bench_migration_locks_${process.pid}`
const upgraded = `${filled}_upgraded`
await fill(server)
await runOnServer(server, `drop database if exists ${upgraded} with (force)`)
await runOnServer(server, `create database ${upgraded} template ${filled}`)
await upgrade(urlOfDatabase(server, upgraded))
await runOnServer(server, `drop database ${upgraded} with (force)`)
if (values.data === undefined) await runOnServer(server, `drop database ${filled} with (force)`)
fs.rmSync(dataFolder, { recursive: true })

async function fill(serverUrl: string): Promise<void> {
  await runOnServer(serverUrl, `create database ${filled}`).catch((error: unknown) => {
    if ((error as { code?: string }).code !== '42P04') throw error
  })
  const migrationsFolder = copyScriptsOfFirstRelease()
  const databaseUrl = urlOfDatabase(serverUrl, filled)
  const databases = await openDatabases({
    dataFolder,
    databaseUrl,
    migrationsFolder,
    clock: systemClock,
    log: silentLog,
  })
  await fillEntries(databases.control, { entries: rows, organisations })
  const [documents] = await databases.corpus.query<{ empty: boolean }>(
    'select not exists (select from documents) as empty',
  )
  if (documents!.empty) {
    const space = { organisationId: usageOrganisation(0), spaceId: '00000000-0000-7000-9000-000000000001' }
    await insertDocumentRows(databases.corpus, { ...space, count: rows / rowsPerDocument })
  }
  await databases.close()
  fs.rmSync(migrationsFolder, { recursive: true })
}

async function upgrade(databaseUrl: string): Promise<void> {
  const probe = await startLockProbe(databaseUrl)
  const startMs = performance.now()
  let lastMs = startMs
  const log: Log = {
    ...silentLog,
    info({ database, migration }) {
      if (migration === undefined) return
      const nowMs = performance.now()
      console.log(`${String(database)}/${String(migration)}: ${(nowMs - lastMs).toFixed(0)} ms`)
      lastMs = nowMs
    },
  }
  const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log })
  const waits = await probe.stop()
  await databases.close()
  const [worst] = waits
  console.log(
    `${rows} entries, ${probe.tables} tables, load ${os.loadavg()[0]!.toFixed(1)}: upgraded in ${((performance.now() - startMs) / 1000).toFixed(1)} s`,
  )
  for (const { table, ms } of waits.slice(0, 5)) console.log(`  longest wait for ${table}: ${ms.toFixed(0)} ms`)
  if (worst!.ms > boundMs) {
    console.error(`a client waited longer than ${boundMs} ms`)
    process.exitCode = 1
  }
}
