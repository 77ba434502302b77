import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { expectStatus, startPortico } from '../harness/portico.ts'

const hasServer = testServerUrl() !== undefined

describe.skipIf(!hasServer)(
  hasServer
    ? 'a PostgreSQL server that is too slow'
    : 'a slow PostgreSQL server (skipped: needs PORTICO_TEST_DATABASE_URL)',
  () => {
    it('requests past the limits of statements and of the pool are answered with 503 and retry-after, and later ones succeed', async () => {
      const place = await freshDatabasePlace()
      const portico = await startPortico({
        place,
        environment: {
          PORTICO_DATABASE_CONNECTIONS: '2',
          PORTICO_DATABASE_CONNECTION_WAIT_MS: '300',
          PORTICO_DATABASE_STATEMENT_TIMEOUT_MS: '1000',
          PORTICO_DATABASE_LOCK_TIMEOUT_MS: '60000',
        },
      })
      const organisation = await portico.createOrganisation()
      const space = await portico.createSpace(organisation)
      const list = async () => {
        const startedMs = performance.now()
        const { status, headers, body } = await organisation.client('GET', `/v1/documents?spaceId=${space.id}`)
        return { status, retryAfter: headers.get('retry-after'), body, ms: performance.now() - startedMs }
      }
      expect(await list()).toMatchObject({ status: 200 })
      const other = new pg.Client(withoutPooler(place).databaseUrl)
      await other.connect()
      await other.query('begin; lock table portico_corpus.documents in access exclusive mode')
      const answers = await Promise.all(Array.from({ length: 8 }, list))
      await other.query('rollback')
      await other.end()
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 503, retryAfter: '1', body: { error: { code: 'overloaded' } } })
      }
      const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b)
      // Six waited for a connection, two for the table.
      expect(times.at(-2)).toBeGreaterThan(2 * times[0]!)
      await expect.poll(async () => (await list()).status).toBe(200)
      expectStatus(await portico.operator('GET', `/api/spaces/${space.id}`), 200)
      await portico.stop()
      await place.remove()
    })
  },
)
