import { prepareTemplate, testServerUrl } from './database-template.ts'
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts'

/**
 * Makes the database with all migrations that every test copies, once per run. With PORTICO_TEST_POOLER=transaction the services under test
 * reach their databases through PgBouncer in this mode. Resolves to a function that removes both.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const mode = process.env['PORTICO_TEST_POOLER']
  if (!mode) return prepareTemplate()
  const url = testServerUrl()
  if (mode !== 'transaction' || url === undefined || !hasPgBouncer)
    throw new Error(
      'PORTICO_TEST_POOLER can be "transaction"; it needs PORTICO_TEST_DATABASE_URL and /usr/sbin/pgbouncer',
    )
  const pooler = await startPgBouncer(url, mode)
  process.env['PORTICO_TEST_POOLER_URL'] = pooler.through(url)
  const removeTemplate = await prepareTemplate()
  return async () => {
    await pooler.stop()
    await removeTemplate()
  }
}
