import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../../test/harness/database.ts'
import { silentLog, systemClock } from '../kernel/index.ts'
import { openDatabases } from './index.ts'
import { migrationsFolder } from './migrate.ts'

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

function open() {
  return openDatabases({ ...place, clock: systemClock, log: silentLog, migrationsFolder: scripts })
}

test('new scripts run once, in the order of their names, and the next start runs none', async () => {
  write('9001-first', "create table migrated (step text); insert into migrated values ('one')")
  write('9002-second', `insert into migrated values ('two')`)
  await (await open()).close()
  const databases = await open()
  expect(await databases.control.query('select step from migrated')).toEqual([{ step: 'one' }, { step: 'two' }])
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

test('a database of a newer version prevents the start of an older version', async () => {
  write('9001-newer', 'create table newer (id int)')
  await (await open()).close()
  fs.rmSync(path.join(scripts, 'control', '9001-newer.sql'))
  await expect(open()).rejects.toThrow(
    '9001-newer, which this version of Portico does not have: start the newer version',
  )
})

test.skipIf(testServerUrl() === undefined)(
  'several instances that start at the same time run each script once',
  async () => {
    write('9001-once', 'create table ran (id int); insert into ran values (1)')
    write('9002-again', 'insert into ran values (2)')
    const instances = await Promise.all(Array.from({ length: 4 }, open))
    expect(await instances[0]!.control.query('select id from ran order by id')).toEqual([{ id: 1 }, { id: 2 }])
    for (const instance of instances) await instance.close()
  },
)
