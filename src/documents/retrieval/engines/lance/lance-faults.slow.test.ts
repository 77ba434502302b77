import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeS3 } from '../../../../../test/harness/fake-s3.ts'
import type { TestDatabase } from '../../../../../test/harness/statements.ts'
import { makeTemporaryFolder } from '../../../../../test/harness/temporary-folder.ts'
import type { Database } from '../../../../platform/database/index.ts'
import { createDocumentId, sharedOwner, silentLog } from '../../../../platform/kernel/index.ts'
import type { ReadScope, SearchEngine } from '../../engine.ts'
import { createLanceEngine, isLanceInstalled } from '../../index.ts'
import { createIndexFixture, type IndexFixture } from '../../testing/index-fixture.ts'
import { dropRetiredSegments, retireSegments } from '../postgres/vector-segments.store.ts'
import { createLanceSegments } from './lance-segments.store.ts'
import { type LanceRows, LanceTables, termText } from './lance-tables.ts'

const installed = isLanceInstalled()
/** A Space of any size gets tables, every new document at once. */
const every = { vectorIndexFromChunks: 1, dropAfterSeconds: 0 }
const timeLimit = () => AbortSignal.timeout(120_000)
const searchOf = (tableName: string) => ({
  tableName,
  documentIds: null,
  limit: 10,
  isReplaceable: true,
  signal: undefined,
})

describe.skipIf(!installed)(`LanceDB${installed ? '' : ' (skipped: run `npm run install:lance` first)'}`, () => {
  let fixture: IndexFixture
  let corpus: TestDatabase
  let engine: SearchEngine
  let folder: string
  let warnings: string[]
  // No machine is so busy that a storage that answers counts as hanging.
  const storage = () => ({ address: folder, options: {}, cacheBytes: 2 ** 24, searchTimeoutMs: 60_000 })
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  }

  beforeEach(async () => {
    folder = makeTemporaryFolder('lance-faults')
    warnings = []
    fixture = await createIndexFixture({
      createEngine: (database) => createLanceEngine({ database, storage: storage(), log }),
    })
    corpus = fixture.databases.corpus
    engine = fixture.index.engine
  })
  afterEach(() => fixture[Symbol.asyncDispose]())

  const add = () => fixture.add(['The treasurer pays the invoice.', 'The auditor signs the ledger.'])
  const stored = (text: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && readFileSync(path.join(file.parentPath, file.name)).includes(text))
      .map(({ name }) => name)
  const tableCount = () => readdirSync(folder).length
  const segments = () => corpus.query<{ state: string }>('select state from vector_segments order by id')
  async function countFound(
    searched: SearchEngine,
    filter: ReadScope['filter'] = null,
    signal = timeLimit(),
  ): Promise<number> {
    const { organisationId, spaceId } = fixture
    const space = await searched.openSpace({ organisationId, spaceId, filter }, signal)
    const [version] = space.embeddingVersions
    const vectors = [{ version: version!, vector: new Float32Array(version!.dimensions).fill(1), hasSemantics: true }]
    return (await space.findCandidates({ terms: [], vectors, limit: 100 })).length
  }
  type Query = Parameters<ReturnType<typeof corpus.for>['query']>
  /** A database that shows what is read of it. */
  const watched = (show: (query: Query, rows: readonly unknown[]) => void): Database => ({
    ...corpus,
    async reading(owner) {
      const own = corpus.for(owner)
      return {
        ...own,
        async query<Row>(...query: Query) {
          const rows = await own.query<Row>(...query)
          show(query, rows)
          return rows
        },
      }
    },
  })
  /** An engine of another process, which calls `before` before each of its statements outside of transactions. */
  function engineThatRuns(before: (statement: string) => Promise<void> | void): SearchEngine {
    const database: Database = {
      ...corpus,
      for(owner) {
        const own = corpus.for(owner)
        return {
          ...own,
          async query(statement, ...rest) {
            await before(statement)
            return own.query(statement, ...rest)
          },
          async execute(statement, ...rest) {
            await before(statement)
            return own.execute(statement, ...rest)
          },
        }
      },
    }
    return createLanceEngine({ database, storage: storage(), log })
  }

  it('finds all rows of a table that was counted while it was written', async () => {
    const tables = new LanceTables(storage())
    const documentId = createDocumentId()
    const part = (): LanceRows => ({
      documentIds: [documentId],
      terms: [termText(7)],
      vectors: new Float32Array([1, 0]),
    })
    async function* parts() {
      yield part()
      expect(await tables.countRows('written', [documentId])).toBe(1)
      yield part()
    }
    expect(await tables.create('written', 2, parts())).toBe(2)
    const found = await tables.byTerms(searchOf('written'), [{ term: 7, weight: 1 }], 1)
    expect(found.map(({ part, at }) => [part, at]).toSorted()).toEqual([
      [0, 0],
      [1, 0],
    ])
    await tables.close()
  })

  it('finds the nearest of few documents far from the vector, in an index that is searched in part', async () => {
    const tables = new LanceTables(storage())
    const [many, few] = [createDocumentId(), createDocumentId()]
    const [dimensions, rows, partCount] = [8, 5_000, 12]
    // A hundred groups of vectors in a circle; the few are in the last one, the vector that is looked for at the first.
    const group = (at: number) => {
      const angle = (Math.PI * at) / 100
      return Array.from({ length: dimensions }, (_, axis) =>
        axis === 0 ? Math.cos(angle) : axis === 1 ? Math.sin(angle) : 0,
      )
    }
    async function* parts() {
      for (let part = 0; part < partCount; part++) {
        const isFew = (at: number) => part === 0 && at < 3
        yield {
          documentIds: Array.from({ length: rows }, (_, at) => (isFew(at) ? few : many)),
          terms: Array.from({ length: rows }, () => termText(7)),
          vectors: new Float32Array(Array.from({ length: rows }, (_, at) => group(isFew(at) ? 99 : at % 99)).flat()),
        }
      }
    }
    await tables.create('far', dimensions, parts())
    const search = { ...searchOf('far'), documentIds: [few] }
    const found = await tables.byVector(search, rows * partCount, new Float32Array(group(0)))
    expect(found.map(({ part, at }) => [part, at]).toSorted()).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ])
    await tables.close()
  })

  it('makes a table of an earlier version again, which has no note of its chunks', async () => {
    await add()
    await engine.indexNew(every)
    await corpus.execute('update vector_segments set chunk_ids = null')
    await engine.maintain(every)
    await engine.indexNew(every)
    const noted = await corpus.query<{ isNoted: boolean }>(
      `select chunk_ids is not null as "isNoted" from vector_segments where state = 'ready'`,
    )
    expect(noted).toEqual([{ isNoted: true }])
    expect(await countFound(engine)).toBe(2)
    expect(warnings).toEqual([])
  })

  it.each([
    ['waits for a build that has read its document', '0 s', 'ready'],
    ['ends a build that has read its document and was silent for 20 minutes', '20 min', 'given up'],
  ])('an erasure %s', async (_, silence, end) => {
    const erased = await add()
    const kept = await add()
    const documents = { organisationId: fixture.organisationId, documentIds: [erased.id] }
    let reports = 0
    let erasing: Promise<void> | undefined
    const builder = engineThatRuns(async (statement) => {
      // The second report of the build: everything is written, without indexes.
      if (!/update vector_segments.*coalesce/s.test(statement) || ++reports !== 2) return
      expect(stored(erased.id)).not.toEqual([])
      await corpus.execute('delete from documents where id = $1', [erased.id])
      await corpus.execute('update vector_segments set changed_at = now() - $1::interval', [silence])
      erasing = engine.removeCopies(documents)
      if (end === 'given up') await erasing
    })
    const building = builder.indexNew(every)
    await (end === 'ready' ? building : expect(building).rejects.toThrow('was given up while it was built'))
    await erasing
    expect([stored(erased.id).length, await engine.countCopies(documents)]).toEqual([0, 0])
    await engine.indexNew(every)
    expect([stored(erased.id).length, stored(kept.id).length > 0]).toEqual([0, true])
    await builder.close()
  })

  it('keeps a table that becomes ready while maintenance lists the tables', async () => {
    await add()
    const maintainer = engineThatRuns(async (statement) => {
      if (statement.includes(`where state = 'ready' and storage = $1`)) await engine.indexNew(every)
    })
    await maintainer.maintain(every)
    expect(await segments()).toEqual([{ state: 'ready' }])
    await maintainer.close()
  })

  it('removes retired tables although another table cannot be made again', async () => {
    const deleted = await add()
    await engine.indexNew(every)
    await add()
    await engine.indexNew(every)
    const [retired] = await corpus.query<{ id: number }>('select id from vector_segments order by id')
    await retireSegments(corpus, [retired!.id])
    const failing = engineThatRuns((statement) => {
      if (statement.startsWith('select chunk_id as id from chunk_terms')) throw new Error('cannot be read')
    })
    await corpus.execute('delete from documents where id = $1', [deleted.id])
    await corpus.execute('update vector_segments set chunk_count = chunk_count + 1 where id <> $1', [retired!.id])
    await expect(failing.maintain(every)).rejects.toThrow('cannot be read')
    expect(stored(deleted.id)).toEqual([])
    await failing.close()
  })

  it('reads few documents of a filter that many match, and finds what they have', async () => {
    for (let number = 0; number < 12; number++)
      await fixture.add([`The treasurer pays invoice ${number}.`], { metadata: { paid: number % 3 > 0 } })
    await engine.indexNew(every)
    let most = 0
    const searching = createLanceEngine({
      database: watched(([statement], rows) => {
        if (statement.includes('document_id as id')) most = Math.max(most, rows.length)
      }),
      storage: storage(),
      log,
      planFiltered: () => ({ terms: 'index', vectors: 'index' }),
      maximumNamedDocuments: 3,
    })
    expect(await countFound(searching, { paid: true })).toBe(8)
    expect(most).toBe(4)
    expect(warnings).toEqual([])
    await searching.close()
  })

  it('reads new documents by their index where statistics are older than the tables', async () => {
    for (let number = 0; number < 30; number++)
      await fixture.add(
        Array.from({ length: 60 }, (_, at) => `The treasurer pays invoice ${number} of the year ${at}.`),
      )
    // As most of the documents are in no table yet, the planner expects many of those.
    await corpus.execute('analyze indexed_documents, chunk_terms, embeddings_1')
    await engine.indexNew(every)
    await add()
    const read: Parameters<typeof corpus.query>[] = []
    const searching = createLanceEngine({ database: watched((given) => read.push(given)), storage: storage(), log })
    const { organisationId, spaceId } = fixture
    const space = await searching.openSpace({ organisationId, spaceId, filter: null }, timeLimit())
    const version = space.embeddingVersions[0]!
    const [row] = await corpus.query<{ term: number }>('select terms[1] as term from chunk_terms limit 1')
    await space.findCandidates({
      terms: [{ variants: [row!.term], weight: 1 }],
      vectors: [{ version, vector: new Float32Array(version.dimensions).fill(1), hasSemantics: true }],
      limit: 10,
    })
    const plans: string[] = []
    for (const [statement, parameters] of read.filter(([text]) => /\) tail\s/.test(text)))
      plans.push(JSON.stringify(await corpus.query(`explain ${statement}`, parameters)))
    expect(plans).toHaveLength(2)
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on (?:chunk_terms|embeddings_)/)
    expect(warnings).toEqual([])
    await searching.close()
  })

  it('removes tables of another store outside of transactions, which would wait for it', async () => {
    await add()
    await engine.indexNew(every)
    const tables = new LanceTables(storage())
    const store = createLanceSegments(tables)
    await corpus.execute(`update vector_segments set state = 'retired'`)
    const drop: typeof store.drop = async (queryable, place) => {
      // Rejects inside of a transaction.
      await corpus.query('select 1')
      await store.drop(queryable, place)
    }
    await dropRetiredSegments(corpus.for(sharedOwner), { ...store, drop }, 0)
    expect([tableCount(), await segments()]).toEqual([0, []])
    await tables.close()
  })

  /** A table on an object store, and an engine that waits 50 ms for that store. */
  async function buildOnS3(maximumScanned?: number) {
    const s3 = await startFakeS3('bucket', { pageSize: 1_000 })
    const onS3 = { ...storage(), address: 's3://bucket/lance', options: s3.storageOptions }
    const builder = createLanceEngine({ database: corpus, storage: onS3, log })
    await add()
    await builder.indexNew(every)
    expect(await countFound(builder)).toBe(2)
    const impatient = { ...onS3, searchTimeoutMs: 50 }
    const searching = createLanceEngine({
      database: corpus,
      storage: impatient,
      log,
      ...(maximumScanned !== undefined && { maximumScanned }),
    })
    return {
      s3,
      searching,
      async close() {
        // First, so that what waits for it ends.
        await s3.close()
        for (const one of [builder, searching]) await one.close()
      },
    }
  }

  it('searches the database while the object store hangs, and asks it no more for some seconds', async () => {
    const { s3, searching, close } = await buildOnS3()
    s3.setHanging(true)
    expect([await countFound(searching), await countFound(searching)]).toEqual([2, 2])
    expect(warnings).toEqual([expect.stringMatching(/^LanceDB failed; the database is searched .*no answer in 50 ms/)])
    await close()
  })

  it('waits for the tables of a Space that is too large to be scanned', async () => {
    const { s3, searching, close } = await buildOnS3(1)
    s3.setHanging(true)
    await expect(countFound(searching, null, AbortSignal.timeout(500))).rejects.toThrow('timeout')
    expect(warnings).toEqual([])
    await close()
  })
})
