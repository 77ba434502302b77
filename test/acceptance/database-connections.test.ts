import { expect, test } from 'vitest'
import { freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { runOnServer } from '../harness/database-template.ts'
import { startPortico } from '../harness/portico.ts'

test.skipIf(testServerUrl() === undefined)(
  'a process that may open more connections than its database accepts does not start (needs PORTICO_TEST_DATABASE_URL)',
  async () => {
    const place = withoutPooler(await freshDatabasePlace())
    const url = place.databaseUrl!
    await runOnServer(url, `alter database ${new URL(url).pathname.slice(1)} connection limit 20`)
    await expect(startPortico({ place })).rejects.toThrow('which accepts 20')
    await place.remove()
  },
)
