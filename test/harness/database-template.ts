import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { databaseFingerprint } from '../../src/platform/database/embedded/template.ts'
import { openDatabases } from '../../src/platform/database/index.ts'
import { migrationsFolder } from '../../src/platform/database/migration-scripts.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'

/**
 * The template that test databases are copied from: a data folder for the embedded engine, a database for a server
 * (PORTICO_TEST_DATABASE_URL). Its name contains a hash of its sources, so that the next run can use it too.
 */

/** Each user has their own: a folder of another one cannot be read. */
const templatePrefix = `portico-test-template-${os.userInfo().uid}-`
const staleAfterMs = 24 * 3_600_000

/** The PostgreSQL server that the tests run on, or undefined for the embedded engine. */
export function testServerUrl(): string | undefined {
  return process.env['PORTICO_TEST_DATABASE_URL'] || undefined
}

/** Makes the template of this run, on the server of this address if there is one; resolves to a function that removes it and its copies. */
export async function prepareTemplate(url: string | undefined): Promise<() => Promise<void>> {
  if (url === undefined) {
    await ensureTemplateFolder()
    return async () => {}
  }
  const name = `portico_template_${randomBytes(6).toString('hex')}`
  await runOnServer(url, `create database ${name}`)
  process.env['PORTICO_TEST_DATABASE_TEMPLATE'] = name
  const databases = await openDatabases({
    dataFolder: os.tmpdir(),
    databaseUrl: urlOfDatabase(url, name),
    clock: systemClock,
    log: silentLog,
  })
  await databases.close()
  return () => dropDatabases(url, name)
}

/** Those whose names begin so: the template, and its copies that stayed open. */
async function dropDatabases(url: string, prefix: string): Promise<void> {
  const names = await runOnServer(
    url,
    `select datname as name from pg_database where starts_with(datname, '${prefix}')`,
  )
  for (const { name } of names) await runOnServer(url, `drop database if exists ${name} with (force)`)
}

/** The folder that fresh data folders are copied from; the first call makes it in about four seconds. */
export async function ensureTemplateFolder(): Promise<string> {
  const folder = path.join(os.tmpdir(), templatePrefix + databaseFingerprint())
  if (fs.existsSync(folder)) return folder
  removeStaleTemplates()
  const temporary = `${folder}.${randomBytes(4).toString('hex')}`
  const databases = await openDatabases({ dataFolder: temporary, clock: systemClock, log: silentLog, migrationsFolder })
  await databases.close()
  try {
    fs.renameSync(temporary, folder)
  } catch {
    // Another run was faster and made the same template.
    fs.rmSync(temporary, { recursive: true, force: true })
  }
  return folder
}

export function urlOfDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

export async function runOnServer(url: string, statement: string): Promise<{ name: string }[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function removeStaleTemplates(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    if (!name.startsWith(templatePrefix)) continue
    const folder = path.join(os.tmpdir(), name)
    const ageMs = Date.now() - (fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (ageMs > staleAfterMs) fs.rmSync(folder, { recursive: true, force: true })
  }
}
