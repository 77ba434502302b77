import { expect, it } from 'vitest'
import { type TestDatabase, withStatements } from '../../../test/harness/statements.ts'
import type { Database, SqlValue } from '../../platform/database/index.ts'
import { createMemoryEngine, createPostgresEngine, createRetrieval } from './index.ts'
import { createIndexFixture } from './testing/index-fixture.ts'

it('a search in memory reads only as many chunks as are wanted, with one statement, and more only where texts repeat', async () => {
  const sent: (readonly SqlValue[])[] = []
  let counted: TestDatabase | undefined
  await using fixture = await createIndexFixture({
    createEngine(given) {
      const database = withStatements(given)
      counted = {
        ...database,
        for: () => counted!,
        query(statement, parameters = [], options) {
          sent.push(parameters)
          return database.query(statement, parameters, options)
        },
      }
      return createMemoryEngine({ database: counted, maximumBytes: 2 ** 30, fromChunks: 1 })
    },
  })
  const { organisationId, spaceId, embedder, index } = fixture
  await fixture.add(Array.from({ length: 30 }, (_, row) => `Invoice ${row} was paid by the treasurer.`))
  for (let copy = 0; copy < 3; copy++) await fixture.add(['The auditor signs the ledger.'])
  await index.engine.warm()
  const retrieval = createRetrieval({ index: { engine: index.engine, database: counted! }, embedder })
  const readBy = async (query: string, limit: number) => {
    sent.length = 0
    const signal = AbortSignal.timeout(30_000)
    await retrieval.search({ organisationId, spaceId, filter: null, query, limit, signal })
    return sent.map((parameters) => (parameters[2] as readonly string[]).length)
  }
  expect(await readBy('treasurer', 10)).toEqual([10])
  expect(await readBy('auditor', 2)).toEqual([2, 2])
})

it('a search that a standby answers from the past finds no document that was deleted since', async () => {
  let isBehind = false
  const past = new Map<string, unknown[]>()
  let database: Database | undefined
  await using fixture = await createIndexFixture({
    createEngine(given) {
      database = {
        ...given,
        async reading(owner) {
          const own = given.for(owner)
          return {
            ...own,
            async query<Row>(statement: string, parameters?: readonly SqlValue[]) {
              if (!isBehind) past.set(statement, await own.query<Row>(statement, parameters))
              return past.get(statement) as Row[]
            },
          }
        },
      }
      return createPostgresEngine({ database })
    },
  })
  const { organisationId, spaceId, embedder, index, databases } = fixture
  const deleted = await fixture.add(['The treasurer pays the invoice.'])
  const kept = await fixture.add(['The treasurer signs the invoice.'])
  const retrieval = createRetrieval({ index: { engine: index.engine, database: database! }, embedder })
  const signal = AbortSignal.timeout(30_000)
  const find = async () => {
    const request = { organisationId, spaceId, filter: null, query: 'treasurer invoice', limit: 10, signal }
    return (await retrieval.search(request)).map(({ documentId }) => documentId).toSorted()
  }
  expect(await find()).toEqual([deleted.id, kept.id].toSorted())
  isBehind = true
  await databases.corpus.execute('delete from documents where id = $1', [deleted.id])
  expect(await find()).toEqual([kept.id])
})
