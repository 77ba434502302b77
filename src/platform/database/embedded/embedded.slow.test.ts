import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PGlite } from '@electric-sql/pglite'
import { pg_textsearch as textSearch } from '@electric-sql/pglite-pg_textsearch'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDataFolder, makeTestFolder } from '../../../../test/harness/database.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { type OpenedDatabases, openDatabases } from '../../../../test/harness/statements.ts'
import { assertCommitsAreSynced, createDurableFileSystem } from './durable-file-system.ts'
import { startMaintenance } from './maintenance.ts'

let folder: string
let databases: OpenedDatabases

beforeEach(async () => {
  folder = await freshDataFolder()
  databases = await open()
})
afterEach(async () => {
  await databases.close()
  fs.rmSync(folder, { recursive: true })
})

function open() {
  return openDatabases({ dataFolder: folder, clock: systemClock, log: silentLog })
}

test('a commit without fsync is detected', async () => {
  await databases.close()
  const durable = createDurableFileSystem(path.join(folder, 'database', 'control'))
  // By default PGlite starts with -F, which switches fsync off.
  const instance = await PGlite.create({
    fs: durable.fileSystem,
    startParams: PGlite.defaultStartParams,
    extensions: { textSearch },
  })
  await expect(assertCommitsAreSynced(instance, durable.syncCount)).rejects.toThrow('did not reach the disk')
  await instance.close()
  databases = await open()
})

test('a statement past its deadline loses no commit and rolls back the open transaction', async () => {
  const { control } = databases
  await control.execute('create table kept (id int)')
  await control.execute('insert into kept values (1)')
  const late = control.transaction(async (transaction) => {
    await transaction.execute('insert into kept values (2)')
    await transaction.query('select pg_sleep(20)', [], { timeoutMs: 150 })
  })
  await expect(late).rejects.toMatchObject({ code: '57014' })
  expect(await control.query('select id from kept')).toEqual([{ id: 1 }])
})

test('time in which the process is stopped does not count for the deadline of a statement', async () => {
  const { control } = databases
  const [before] = await control.query('select pg_postmaster_start_time() as at')
  const running = control.query('select pg_sleep(0.5)', [], { timeoutMs: 400 })
  await nextTurn()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
  await running
  expect(await control.query('select pg_postmaster_start_time() as at')).toEqual([before])
})

test('a prepared statement is planned once for each connection, also in transactions, after errors and after a lost worker', async () => {
  const { control } = databases
  const divide = (by: number) => ['select 12 / $1::int as result', [by], { prepared: true }] as const
  const prepared = () =>
    control.query('select statement, generic_plans + custom_plans as runs from pg_prepared_statements')
  await expect(control.query(...divide(0))).rejects.toMatchObject({ code: '22012' })
  expect(await control.query(...divide(3))).toEqual([{ result: 4 }])
  expect(await control.transaction((transaction) => transaction.query(...divide(4)))).toEqual([{ result: 3 }])
  // The first one has failed while it was planned.
  expect(await prepared()).toEqual([{ statement: 'select 12 / $1::int as result', runs: 2n }])
  await control.query('select pg_sleep(20)', [], { timeoutMs: 100 }).catch(() => {})
  expect(await control.query(...divide(6))).toEqual([{ result: 2 }])
  expect(await prepared()).toMatchObject([{ runs: 1n }])
})

test('background work lets other statements run first, but not for longer than 100 ms', async () => {
  const { corpus } = databases
  const done: string[] = []
  const run = (name: string, seconds: number, background: boolean) =>
    corpus.query('select pg_sleep($1)', [seconds], { background }).then(() => done.push(name))
  await Promise.all([
    run('first', 0.02, false),
    run('background', 0, true),
    run('request', 0, false),
    run('second request', 0, false),
  ])
  expect(done).toEqual(['first', 'request', 'second request', 'background'])
  done.length = 0
  await Promise.all([run('first', 0.2, false), run('delayed background', 0, true), run('request', 0, false)])
  expect(done).toEqual(['first', 'delayed background', 'request'])
})

test('listeners receive notifications again after the worker is reopened, and onReconnect is called', async () => {
  const heard = Promise.withResolvers<string>()
  const reconnected = Promise.withResolvers<void>()
  await databases.control.listen('again', heard.resolve)
  databases.control.onReconnect(reconnected.resolve)
  await databases.control.query('select pg_sleep(20)', [], { timeoutMs: 100 }).catch(() => {})
  await reconnected.promise
  await databases.control.query(`select pg_notify('again', 'still here')`)
  expect(await heard.promise).toBe('still here')
})

test('a long statement does not block the event loop', async () => {
  let hasEnded = false
  const long = databases.corpus.query('select pg_sleep(0.5)').then(() => (hasEnded = true))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  expect(hasEnded).toBe(false)
  await long
})

test('control answers while corpus is busy', async () => {
  const busy = databases.corpus.query('select pg_sleep(0.5)').then(() => 'corpus')
  const free = databases.control.query('select 1').then(() => 'control')
  expect(await Promise.race([busy, free])).toBe('control')
  await busy
})

test('statements sent before close are finished, later ones are rejected', async () => {
  const asked = databases.control.query('select pg_sleep(0.1), 1 as one')
  const closing = databases.close()
  expect(await asked).toMatchObject([{ one: 1 }])
  await closing
  await expect(databases.control.query('select 1')).rejects.toMatchObject({ code: '08006' })
  databases = await open()
})

test('a crash between the creation and the rename of a database folder is repaired at the next start', async () => {
  const empty = makeTestFolder()
  fs.cpSync(folder, empty, { recursive: true, filter: (source) => !source.includes(`${path.sep}control`) })
  fs.mkdirSync(path.join(empty, 'database', 'control.new', 'base'), { recursive: true })
  fs.writeFileSync(path.join(empty, 'database', 'control.new', 'PG_VERSION'), '18')
  const repaired = await openDatabases({ dataFolder: empty, clock: systemClock, log: silentLog })
  expect(await repaired.control.query('select sequence from change_feed_head')).toEqual([{ sequence: 0n }])
  expect(fs.existsSync(path.join(empty, 'database', 'control.new'))).toBe(false)
  await repaired.close()
  fs.rmSync(empty, { recursive: true })
})

test('analyze samples a quarter of what it samples on a server, also after a lost worker', async () => {
  const { control } = databases
  await control.execute('create table sampled as select n from generate_series(1, 1000) n')
  const bounds = async () => {
    await control.execute('analyze sampled')
    const [row] = await control.query<{ bounds: number }>(
      `select cardinality(histogram_bounds::text::int[]) as bounds from pg_stats where tablename = 'sampled'`,
    )
    return row!.bounds
  }
  expect(await bounds()).toBe(26)
  await control.query('select pg_sleep(20)', [], { timeoutMs: 100 }).catch(() => {})
  expect(await bounds()).toBe(26)
})

test('maintenance removes dead rows and checkpoints after enough log', async () => {
  const { control } = databases
  await control.execute('create table churned (id int, note text)')
  const maintenance = startMaintenance({
    database: control,
    clock: { ...systemClock, every: () => () => {} },
    log: silentLog,
    load: () => 0,
  })
  await maintenance.run()
  const before = await checkpointPosition()
  await control.execute(`insert into churned select n, repeat('x', 900) from generate_series(1, 60000) n`)
  await control.execute(`insert into churned select n, repeat('x', 900) from generate_series(1, 20000) n`)
  await control.execute('delete from churned where id % 2 = 0')
  // Without this, counts reach the statistics once a second.
  await control.query('select pg_stat_force_next_flush()')
  await maintenance.run()
  expect(await checkpointPosition()).not.toBe(before)
  const [table] = await control.query<{ dead: bigint; vacuums: bigint }>(
    `select n_dead_tup as dead, vacuum_count as vacuums from pg_stat_user_tables where relname = 'churned'`,
  )
  expect(table!.vacuums).toBeGreaterThan(0n)
  expect(table!.dead).toBe(0n)
})

async function checkpointPosition(): Promise<string> {
  const [row] = await databases.control.query<{ position: string }>(
    `select checkpoint_lsn::text as position from pg_control_checkpoint()`,
  )
  return row!.position
}
