import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import { migrationsFolder } from '../migration-scripts.ts'
import type { LogicalDatabase } from '../port.ts'

/**
 * The embedded databases that the installation made (scripts/build-databases.ts): with all migrations and no data. A first start
 * copies them, which takes a fraction of the time of PostgreSQL's initdb and all migrations.
 */

/** One folder in it for each version of what a new database depends on. */
export const templatesFolder = path.join(import.meta.dirname, '../../../../dist/databases')

const packages = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector', '@electric-sql/pglite-pg_textsearch']

/** The template of one database, or undefined where the installation made none from these migrations and packages. */
export function findTemplate(name: LogicalDatabase, within: string = templatesFolder): string | undefined {
  const folder = path.join(within, databaseFingerprint(), 'database', name)
  return isDatabase(folder) ? folder : undefined
}

export function isDatabase(folder: string): boolean {
  return fs.existsSync(path.join(folder, 'PG_VERSION'))
}

/** Changes with everything that a new embedded database depends on: packages, migrations and the code that creates it. */
export function databaseFingerprint(): string {
  const hash = createHash('sha256')
  for (const name of packages) hash.update(fs.readFileSync(findPackageJSON(name, import.meta.url)!))
  const scripts = fs
    .readdirSync(migrationsFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .sort()
  for (const file of scripts) hash.update(file).update(fs.readFileSync(path.join(migrationsFolder, file)))
  hash.update(fs.readFileSync(path.join(import.meta.dirname, 'worker.ts')))
  return hash.digest('hex').slice(0, 16)
}
