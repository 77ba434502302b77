import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../../test/harness/database.ts'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import type { SqlValue } from '../../../platform/database/index.ts'
import { createOrganisationId, createSpaceId, type SpaceId } from '../../../platform/kernel/index.ts'
import { createDocumentReader, loadPassages } from './passages.store.ts'

const organisationId = createOrganisationId()
const large = createSpaceId()
const small = createSpaceId()
const signal = new AbortController().signal
let databases: TestDatabases
let sent: { statement: string; parameters: readonly SqlValue[] }[] = []
let database: TestDatabase

beforeAll(async () => {
  databases = await openTestDatabases()
  const { corpus } = databases
  database = {
    ...corpus,
    for: () => database,
    query(statement, parameters = [], options) {
      sent.push({ statement, parameters })
      return corpus.query(statement, parameters, options)
    },
  }
  await fill(large, 800, 30)
  await fill(small, 4, 3)
  await corpus.execute('analyze documents, indexed_documents, chunks')
})
afterAll(() => databases.drop())

async function fill(spaceId: SpaceId, documents: number, chunksEach: number): Promise<void> {
  const { corpus } = databases
  await corpus.execute(
    `insert into documents (id, organisation_id, space_id, name, format, mime_type, size_bytes, content_sha256, blob_key, status)
     select gen_random_uuid(), $1, $2, 'file ' || n, 'txt', 'text/plain', 1, '\\x00', gen_random_uuid()::text, 'ready'
     from generate_series(1, $3::int) n`,
    [organisationId, spaceId, documents],
  )
  await corpus.execute(
    `insert into indexed_documents (document_id, organisation_id, space_id, run_id, searchable, chunk_count)
     select id, organisation_id, space_id, gen_random_uuid(), true, $2 from documents where space_id = $1`,
    [spaceId, chunksEach],
  )
  await corpus.execute(
    `insert into chunks (organisation_id, space_id, id, document_id, chunk_index, content, heading_path, tokens, character_from,
       character_to, document_name)
     select organisation_id, space_id, gen_random_uuid(), id, n, repeat('text ', 20), '{}', 20, n * 100, n * 100 + 100, name
     from documents, generate_series(0, $2::int - 1) n where space_id = $1`,
    [spaceId, chunksEach],
  )
}

/** The statements that `act` sends, with their plans: for its parameters, and for any. */
async function plansOf(act: () => Promise<unknown>): Promise<{ statements: number; plans: string }> {
  sent = []
  await act()
  const plans: string[] = []
  for (const { statement, parameters } of sent) {
    const rows = [
      ...(await databases.corpus.query(`explain ${statement}`, parameters)),
      ...(await explainAnyParameters(statement)),
    ]
    plans.push(...rows.map((row) => String(row['QUERY PLAN'])))
  }
  return { statements: sent.length, plans: plans.join('\n') }
}

function explainAnyParameters(statement: string) {
  return databases.corpus.transaction(async (transaction) => {
    await transaction.execute(`set local plan_cache_mode = force_generic_plan`)
    // As text: `explain` itself takes no parameters.
    await transaction.execute(`prepare lookup as ${statement}`)
    const [{ types } = { types: 0 }] = await transaction.query<{ types: number }>(
      `select cardinality(parameter_types) as types from pg_prepared_statements where name = 'lookup'`,
    )
    const rows = await transaction.query(
      `explain execute lookup(${Array.from({ length: types }, () => 'null').join()})`,
    )
    await transaction.execute('deallocate lookup')
    return rows
  })
}

const chunkIdsOf = async (spaceId: SpaceId) =>
  (
    await databases.corpus.query<{ id: string }>('select id from chunks where space_id = $1 order by id limit 30', [
      spaceId,
    ])
  ).map(({ id }) => id)

it('reads the passages of a search by keys, with one statement', async () => {
  const scope = { organisationId, spaceId: large, filter: null }
  const chunkIds = await chunkIdsOf(large)
  const { statements, plans } = await plansOf(async () => {
    expect(await loadPassages(database, scope, chunkIds, signal)).toHaveLength(30)
  })
  expect(statements).toBe(1)
  expect(plans).not.toContain('Seq Scan')
})

it('reads the neighbours of a chunk by keys, with one statement', async () => {
  const scope = { organisationId, spaceId: large, filter: null }
  const [first] = await chunkIdsOf(large)
  const { statements, plans } = await plansOf(() =>
    createDocumentReader(database).loadNeighbours(scope, first!, signal),
  )
  expect(statements).toBe(1)
  expect(plans).not.toContain('Seq Scan')
})

it('reads no chunk of a large Space to find out that it is large, and those of a small Space next to it by keys', async () => {
  const { loadSpace } = createDocumentReader(database)
  const maximum = { documents: 400, characters: 48_000 }
  const ofLarge = await plansOf(async () => {
    expect(await loadSpace({ organisationId, spaceId: large, filter: null }, maximum, signal)).toEqual([])
  })
  expect(ofLarge.statements).toBe(1)
  const ofSmall = await plansOf(async () => {
    const chunks = await loadSpace({ organisationId, spaceId: small, filter: null }, maximum, signal)
    expect(chunks.map(({ documentName, chunkIndex }) => `${documentName}.${chunkIndex}`)).toEqual(
      [1, 2, 3, 4].flatMap((file) => [0, 1, 2].map((chunk) => `file ${file}.${chunk}`)),
    )
  })
  expect(ofSmall.statements).toBe(2)
  expect(ofLarge.plans + ofSmall.plans).not.toContain('Seq Scan on chunks')
})
