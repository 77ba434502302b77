import fs from 'node:fs'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { runFolderVariable, testFolderParent } from './database-place.ts'
import { prepareTemplate } from './database-template.ts'
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts'

/**
 * Makes what the test files of one project share: a folder for their data, and the databases with all migrations that every test copies.
 * With PORTICO_TEST_POOLER=transaction the services under test reach PostgreSQL through PgBouncer in this mode. Resolves to a function
 * that removes all of it.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await using made = new AsyncDisposableStack()
  const runFolder = fs.mkdtempSync(path.join(testFolderParent(), 'portico-test-run-'))
  made.defer(() => fs.rmSync(runFolder, { recursive: true, force: true, maxRetries: 3 }))
  process.env[runFolderVariable] = runFolder
  const url =
    (project.config.env?.['PORTICO_TEST_DATABASE_URL'] ?? process.env['PORTICO_TEST_DATABASE_URL']) || undefined
  const mode = process.env['PORTICO_TEST_POOLER']
  if (mode && url !== undefined) {
    if (mode !== 'transaction' || !hasPgBouncer)
      throw new Error('PORTICO_TEST_POOLER can be "transaction"; it needs /usr/sbin/pgbouncer')
    const pooler = await startPgBouncer(url, mode)
    made.defer(() => pooler.stop())
    process.env['PORTICO_TEST_POOLER_URL'] = pooler.through(url)
  }
  made.defer(await prepareTemplate(url))
  const all = made.move()
  return () => all.disposeAsync()
}
