import { expect, it } from 'vitest'
import { type TestDatabase, withStatements } from '../../../test/harness/statements.ts'
import type { SqlValue } from '../../platform/database/index.ts'
import { createMemoryEngine, createRetrieval } from './index.ts'
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
