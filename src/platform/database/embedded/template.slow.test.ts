import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeSchemas } from '../../../../scripts/describe-schema.ts'
import { freshDataFolder, makeTestFolder } from '../../../../test/harness/database.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { openDatabases } from '../../../../test/harness/statements.ts'
import { readMigrations } from '../migration-scripts.ts'
import { copyDatabase } from './copy-database.ts'
import { databaseFingerprint } from './template.ts'

const schemaFile = path.join(import.meta.dirname, '../schema.sql')
let folder: string
let templatesFolder: string
let dataFolder: string

beforeEach(async () => {
  folder = makeTestFolder()
  templatesFolder = path.join(folder, 'templates')
  dataFolder = path.join(folder, 'data')
  fs.mkdirSync(templatesFolder)
  const made = await freshDataFolder()
  fs.renameSync(made, path.join(templatesFolder, databaseFingerprint()))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

function open() {
  return openDatabases({ dataFolder, templatesFolder, clock: systemClock, log: silentLog })
}

/** Writes a file into each template: only a copy of the template has it. */
function markTemplates(): void {
  for (const name of ['control', 'corpus']) {
    fs.writeFileSync(path.join(templatesFolder, databaseFingerprint(), 'database', name, 'marked'), '')
  }
}

const isMarked = (name: string) => fs.existsSync(path.join(dataFolder, 'database', name, 'marked'))

test('a first start copies the databases of the installation, with all migrations and the schema that they make', async () => {
  markTemplates()
  const databases = await open()
  expect([isMarked('control'), isMarked('corpus')]).toEqual([true, true])
  expect(await describeSchemas(databases)).toBe(fs.readFileSync(schemaFile, 'utf8'))
  for (const database of [databases.control, databases.corpus]) {
    const applied = await database.query('select name, checksum from portico_migrations order by name')
    expect(applied).toEqual(readMigrations(database.name).map(({ name, checksum }) => ({ name, checksum })))
  }
  await databases.close()
})

test('a later start keeps the database that is there', async () => {
  const first = await open()
  await first.control.execute('create table kept (id int)')
  await first.close()
  markTemplates()
  const second = await open()
  expect(await second.control.query('select id from kept')).toEqual([])
  expect(isMarked('control')).toBe(false)
  await second.close()
})

test('a template of other migrations or packages is not used', async () => {
  markTemplates()
  const installed = path.join(templatesFolder, databaseFingerprint())
  fs.renameSync(installed, path.join(templatesFolder, '0123456789abcdef'))
  const databases = await open()
  expect([isMarked('control'), isMarked('corpus')]).toEqual([false, false])
  expect(await describeSchemas(databases)).toBe(fs.readFileSync(schemaFile, 'utf8'))
  await databases.close()
}, 120_000)

test('a copy that a crash interrupted is made again from the beginning', async () => {
  const source = path.join(templatesFolder, databaseFingerprint(), 'database/control')
  const target = path.join(folder, 'copy')
  fs.mkdirSync(`${target}.new`)
  fs.writeFileSync(path.join(`${target}.new`, 'half'), 'of another copy')
  await copyDatabase(source, target)
  const files = (of: string) => fs.readdirSync(of, { recursive: true, encoding: 'utf8' }).sort()
  expect(files(target)).toEqual(files(source))
  expect(fs.existsSync(`${target}.new`)).toBe(false)
})
