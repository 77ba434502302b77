/**
 * Writes src/platform/database/schema.sql: the tables and indexes that all migrations make together, for reading. `--check` changes
 * nothing and fails where the file is out of date.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openDatabases } from '../src/platform/database/index.ts'
import { migrationsFolder } from '../src/platform/database/migration-scripts.ts'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { describeSchemas } from './describe-schema.ts'

const target = new URL('../src/platform/database/schema.sql', import.meta.url)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-schema-'))
try {
  // With the folder: from the scripts themselves, not from the databases that the installation made.
  const databases = await openDatabases({ dataFolder: folder, clock: systemClock, log: silentLog, migrationsFolder })
  const text = await describeSchemas(databases)
  await databases.close()
  if (!process.argv.includes('--check')) fs.writeFileSync(target, text)
  else if (!fs.existsSync(target) || fs.readFileSync(target, 'utf8') !== text) {
    console.error('src/platform/database/schema.sql does not match the migrations: run npm run write:schema')
    process.exitCode = 1
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
