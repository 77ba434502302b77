import fs from 'node:fs'
import path from 'node:path'
import { databaseFingerprint, templatesFolder } from '../src/platform/database/embedded/template.ts'
import { openDatabases } from '../src/platform/database/index.ts'
import { migrationsFolder } from '../src/platform/database/migration-scripts.ts'
import { describeError, silentLog, systemClock } from '../src/platform/kernel/index.ts'

/**
 * Makes the databases in dist/databases that the first start of the service copies. `npm ci` runs it with --if-possible: without
 * them the first start makes its own, which takes longer.
 */

async function build(): Promise<void> {
  const target = path.join(templatesFolder, databaseFingerprint())
  // The service makes folders that only its user may read.
  fs.mkdirSync(templatesFolder, { recursive: true })
  fs.chmodSync(templatesFolder, 0o755)
  if (fs.existsSync(target)) return
  const temporary = `${target}.${process.pid}`
  try {
    const databases = await openDatabases({
      dataFolder: temporary,
      clock: systemClock,
      log: silentLog,
      migrationsFolder,
    })
    await databases.close()
    fs.rmSync(path.join(temporary, 'database/lock'))
    makeReadable(temporary)
    removeOthers(path.basename(temporary))
    fs.renameSync(temporary, target)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** The service may run as another user than the installation. The databases have no secrets: copies are private again. */
function makeReadable(folder: string): void {
  fs.chmodSync(folder, 0o755)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    fs.chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
}

function removeOthers(kept: string): void {
  for (const name of fs.readdirSync(templatesFolder)) {
    if (name !== kept) fs.rmSync(path.join(templatesFolder, name), { recursive: true, force: true })
  }
}

try {
  await build()
} catch (error) {
  if (!process.argv.includes('--if-possible')) throw error
  console.log(
    `The databases for a fast first start are not built: ${describeError(error)}. The first start makes its own.`,
  )
}
