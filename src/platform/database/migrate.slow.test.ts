import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl, withoutPooler } from '../../../test/harness/database.ts'
import { type Log, silentLog, systemClock } from '../kernel/index.ts'
import { openDatabases } from '../../../test/harness/statements.ts'
import { migrate } from './migrate.ts'
import { migrationsFolder } from './migration-scripts.ts'
import { createServerSource } from './server/server-source.ts'
import { defaultLimits } from './session.ts'

let place: DatabasePlace
let scripts: string

beforeEach(async () => {
  place = await freshDatabasePlace()
  scripts = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-migrations-'))
  fs.cpSync(migrationsFolder, scripts, { recursive: true })
})
afterEach(async () => {
  await place.remove()
  fs.rmSync(scripts, { recursive: true })
})

function write(name: string, sql: string): void {
  fs.writeFileSync(path.join(scripts, 'control', `${name}.sql`), sql)
}

function open(log: Log = silentLog) {
  return openDatabases({ ...place, clock: systemClock, log, migrationsFolder: scripts })
}

test('new scripts run once, in the order of their names, and the next start runs none', async () => {
  write('9001-first', "create table migrated (step text); insert into migrated values ('one')")
  write('9002-second', `insert into migrated values ('two')`)
  await (await open()).close()
  const databases = await open()
  expect(await databases.control.query('select step from migrated')).toEqual([{ step: 'one' }, { step: 'two' }])
  await databases.close()
})

test('documents whose types were marked with version 2 get it as a column', async () => {
  const before = await open()
  await before.corpus.execute('alter table documents drop column api_version')
  await before.corpus.execute(`delete from portico_migrations where name = '0299-document-api-version'`)
  const types = ['application/pdf', 'application/pdf; api-version=2', 'text/plain; charset=koi8-r']
  for (const type of types)
    await before.corpus.execute(
      `insert into documents (id, organisation_id, space_id, name, format, mime_type, size_bytes, content_sha256, blob_key)
       select id, id, id, $1, 'pdf', $1, 1, '\\x00', id from (select gen_random_uuid() as id) as one`,
      [type],
    )
  await before.close()
  const databases = await open()
  expect(
    await databases.corpus.query('select name, mime_type as type, api_version as version from documents order by name'),
  ).toEqual([
    { name: types[0], type: types[0], version: 1 },
    { name: types[1], type: 'application/pdf', version: 2 },
    { name: types[2], type: types[2], version: 1 },
  ])
  await databases.close()
})

test('a script that fails is rolled back and named', async () => {
  write('9001-half', 'create table half (id int); select no_such_function()')
  await expect(open()).rejects.toThrow(
    /migration control\/9001-half failed: function no_such_function\(\) does not exist/,
  )
  write('9001-half', 'create table half (id int)')
  const databases = await open()
  expect(await databases.control.query('select * from half')).toEqual([])
  await databases.close()
})

test('a script that was edited after it ran prevents the start', async () => {
  write('9001-edited', 'create table edited (id int)')
  await (await open()).close()
  write('9001-edited', 'create table edited (id bigint)')
  await expect(open()).rejects.toThrow('the migration control/9001-edited was edited after it had run')
})

test('an earlier version starts on the schema of a later one, so that an upgrade can be taken back', async () => {
  write('9001-newer', 'create table newer (id int)')
  await (await open()).close()
  fs.rmSync(path.join(scripts, 'control', '9001-newer.sql'))
  const warnings: unknown[] = []
  const databases = await open({ ...silentLog, warn: (fields: unknown) => void warnings.push(fields) })
  expect(warnings).toContainEqual({ database: 'control', migrations: ['9001-newer'] })
  expect(await databases.control.query('select * from newer')).toEqual([])
  await databases.close()
})

test('a version that is too old for a script prevents the start', async () => {
  write('9001-contracts', '-- needs-version: 99.0.0\ncreate table newer (id int)')
  await (await open()).close()
  fs.rmSync(path.join(scripts, 'control', '9001-contracts.sql'))
  await expect(open()).rejects.toThrow(
    /the control database has the migration 9001-contracts, which needs Portico 99\.0\.0 or later; this is .*: start the newer version/,
  )
})

test('an index is built concurrently by a script with this one statement, again after an interruption', async () => {
  write('9001-table', 'create table big (id int); insert into big values (1)')
  write('9002-index', '-- For lists.\ncreate index concurrently if not exists big_id on big (id);')
  const databases = await open()
  const valid = `select indisvalid from pg_index where indexrelid = 'big_id'::regclass`
  expect(await databases.control.query(valid)).toEqual([{ indisvalid: true }])
  // What an interrupted build leaves.
  await databases.control.execute(`delete from portico_migrations where name = '9002-index'`)
  await databases.control.execute(`update pg_index set indisvalid = false where indexrelid = 'big_id'::regclass`)
  await databases.close()
  const again = await open()
  expect(await again.control.query(valid)).toEqual([{ indisvalid: true }])
  await again.close()
  write('9003-two', 'create index concurrently if not exists big_id2 on big (id); select 1')
  await expect(open()).rejects.toThrow('9003-two.sql: an index is built or dropped concurrently by the only statement')
})

test.skipIf(testServerUrl() === undefined)(
  'several instances that start at the same time run each script once',
  async () => {
    write('9001-once', 'create table ran (id int); insert into ran values (1)')
    write('9002-again', 'insert into ran values (2)')
    const instances = await Promise.all(Array.from({ length: 4 }, () => open()))
    expect(await instances[0]!.control.query('select id from ran order by id')).toEqual([{ id: 1 }, { id: 2 }])
    for (const instance of instances) await instance.close()
  },
)

describe.skipIf(testServerUrl() === undefined)('a script that waits for a lock (PORTICO_TEST_DATABASE_URL)', () => {
  let other: pg.Client

  beforeEach(async () => {
    await (await open()).close()
    other = new pg.Client(withoutPooler(place).databaseUrl)
    await other.connect()
  })
  afterEach(() => other.end())

  test('does not block writers behind it, and runs when the lock is free', async () => {
    await other.query('begin; lock table portico_control.organisations in row exclusive mode')
    write('9001-column', 'alter table organisations add column test_column int')
    const waiting = Promise.withResolvers<void>()
    const opening = open({ ...silentLog, warn: () => waiting.resolve() })
    await waiting.promise
    // The script holds no place in the queue between its attempts.
    const writer = new pg.Client(withoutPooler(place).databaseUrl)
    await writer.connect()
    await writer.query(`set lock_timeout = '2s'; update portico_control.organisations set name = name`)
    await writer.end()
    await other.query('rollback')
    const databases = await opening
    expect(await databases.control.query('select test_column from organisations')).toEqual([])
    await databases.close()
  })

  test('stops the start when the lock never becomes free', async () => {
    await other.query('begin; lock table portico_control.organisations in row exclusive mode')
    write('9001-column', 'alter table organisations add column test_column int')
    const source = createServerSource({
      name: 'control',
      url: withoutPooler(place).databaseUrl!,
      searchPath: 'portico_control',
      limits: defaultLimits,
      log: silentLog,
    })
    await expect(
      migrate({ name: 'control', engine: 'postgres', source, log: silentLog, folder: scripts, lockAttempts: 2 }),
    ).rejects.toThrow('migration control/9001-column got no lock in several minutes')
    await source.close()
  })
})
