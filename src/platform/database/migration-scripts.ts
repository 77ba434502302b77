import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LogicalDatabase } from './port.ts'

/** The folder of the numbered scripts, with a subfolder for each logical database. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the text; a landed migration is never edited. */
  checksum: string
  /** Of the line `-- needs-version: 1.2.0`: the oldest version that can use the schema after it; null: any, because it only adds. */
  needsVersion: string | null
  /** The index that its only statement builds or drops concurrently, outside of a transaction. */
  concurrentIndex: string | null
}

/** The scripts of one logical database in the order in which they run. */
export function readMigrations(name: LogicalDatabase, folder: string = migrationsFolder): Migration[] {
  const scripts = path.join(folder, name)
  return fs
    .readdirSync(scripts)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => parseMigration(file.slice(0, -4), fs.readFileSync(path.join(scripts, file), 'utf8')))
}

function parseMigration(name: string, sql: string): Migration {
  const statements = sql.replaceAll(/^--.*$/gm, '').trim()
  const concurrent = /^(?:create(?: unique)?|drop) index concurrently if (?:not )?exists (\w+)[^;]*;?$/i.exec(
    statements,
  )
  if (!concurrent && /\bindex\s+concurrently\b/i.test(statements)) {
    throw new Error(
      `${name}.sql: an index is built or dropped concurrently by the only statement of a script, with "if not exists" or "if exists"`,
    )
  }
  return {
    name,
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
    needsVersion: /^-- needs-version: (\d+\.\d+\.\d+)$/m.exec(sql)?.[1] ?? null,
    concurrentIndex: concurrent?.[1] ?? null,
  }
}
