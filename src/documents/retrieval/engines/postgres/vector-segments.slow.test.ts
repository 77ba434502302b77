import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TestDatabase } from '../../../../../test/harness/statements.ts'
import { createDocumentId } from '../../../../platform/kernel/index.ts'
import {
  createHashingEmbedder,
  createPostgresEngine,
  type Embedder,
  reindexStep,
  type SearchEngine,
} from '../../index.ts'
import type { SpaceSearch } from '../../engine.ts'
import { createIndexFixture, type FixtureDocument, type IndexFixture } from '../../testing/index-fixture.ts'
import { createRandom } from '../../../../../test/harness/random.ts'
import { createExactScan } from '../exact-scan.store.ts'
import { vectorIndexName } from './space-indexes.store.ts'

let fixture: IndexFixture
let corpus: TestDatabase
let engine: SearchEngine

const random = createRandom(14)
const dimensions = 32
const point = () => Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5)
/** Vectors in all directions: an index finds each of some hundred of them. */
const randomVectors: Embedder = {
  ...createHashingEmbedder({ dimensions }),
  id: `random:${dimensions}`,
  embed: ({ texts: given }) => Promise.resolve(given.map(point)),
}

beforeEach(async () => {
  fixture = await createIndexFixture({ embedder: randomVectors })
  corpus = fixture.databases.corpus
  engine = fixture.index.engine
})
afterEach(() => fixture[Symbol.asyncDispose]())

/** Small sizes: a Space of 40 chunks gets segments, 20 new chunks get one, segments are merged into such of 240. */
const small = { vectorIndexFromChunks: 40, bm25IndexFromChunks: Infinity }
const timeLimit = () => AbortSignal.timeout(120_000)
let made = 0
const texts = (count: number) =>
  Array.from({ length: count }, () => `Entry ${made++} of the list of herons and otters.`)
const addMany = async (documents: number, chunks: number): Promise<FixtureDocument[]> => {
  const added: FixtureDocument[] = []
  for (let at = 0; at < documents; at++) added.push(await fixture.add(texts(chunks)))
  return added
}

/** The ids that a search by vector returns without a limit, sorted. Fails where it reads the whole Space although it has segments. */
async function found(embedder: Embedder = fixture.embedder): Promise<string[]> {
  const hasSegments = (await ready()).length > 0
  return findAll(await openSpace(hasSegments ? withoutScan() : engine), embedder)
}

function openSpace(searched: SearchEngine): Promise<SpaceSearch> {
  const { organisationId, spaceId } = fixture
  return searched.openSpace({ organisationId, spaceId, filter: null }, timeLimit())
}

async function findAll(space: SpaceSearch, embedder: Embedder = fixture.embedder): Promise<string[]> {
  const { organisationId, spaceId } = fixture
  const [vector] = await embedder.embed({
    texts: ['herons'],
    purpose: 'query',
    organisationId,
    spaceId,
    signal: timeLimit(),
  })
  const version = space.embeddingVersions.find(({ embedderId }) => embedderId === embedder.id)!
  const vectors = [{ version, vector: vector!, hasSemantics: true }]
  return (await space.findCandidates({ terms: [], vectors, limit: 5_000 })).map(({ chunkId }) => chunkId).toSorted()
}

/** An engine that cannot compare all vectors of a Space. */
function withoutScan(): SearchEngine {
  const database = intercepted((statement) => {
    if (statement.includes('(e.embedding <=>')) throw new Error('all vectors of the Space were compared')
    return Promise.resolve()
  })
  return createPostgresEngine({ database })
}

async function searchable(): Promise<string[]> {
  const rows = await corpus.query<{ id: string }>(
    `select c.id from chunks c join indexed_documents d using (document_id) where d.searchable order by c.id`,
  )
  return rows.map(({ id }) => id)
}

async function keep(searched: SearchEngine): Promise<void> {
  await searched.indexNew(small)
  await searched.maintain(small)
}

function segments(): Promise<{ id: number; state: string; rows: number }[]> {
  return corpus.query('select id, state, chunk_count as rows from vector_segments order by id')
}

const ready = async () => (await segments()).filter(({ state }) => state === 'ready')

/** Searchable chunks by the number of ready segments that contain them. */
async function membership(): Promise<Record<string, number>> {
  const rows = await corpus.query<{ segments: number; chunks: number }>(
    `select (select count(*)::int from vector_segments s where s.id = any(d.vector_segments) and s.state = 'ready') as segments,
       sum(d.chunk_count)::int as chunks
     from indexed_documents d where d.searchable group by 1`,
  )
  return Object.fromEntries(rows.map((row) => [row.segments, row.chunks]))
}

/** The database as a process sees it that does `before` in front of each statement. */
function intercepted(before: (statement: string) => Promise<void>): TestDatabase {
  const database: TestDatabase = {
    ...corpus,
    for: () => database,
    async query(statement, ...rest) {
      await before(statement)
      return corpus.query(statement, ...rest)
    },
    async execute(statement, ...rest) {
      await before(statement)
      return corpus.execute(statement, ...rest)
    },
    async transaction(work, options) {
      await before('begin')
      const value = await corpus.transaction(work, options)
      await before('commit')
      return value
    },
  }
  return database
}

describe('a document', () => {
  it('is found from its publishing on: without a segment, in a segment with others, and in a merged one', async () => {
    await addMany(4, 15)
    expect(await found()).toEqual(await searchable())
    expect(await engine.indexNew(small)).toEqual({ built: ['vector_segment_1'], dropped: [] })
    await addMany(1, 15)
    expect(await engine.indexNew(small)).toEqual({ built: [], dropped: [] })
    expect(await membership()).toEqual({ 1: 60, 0: 15 })
    expect(await found()).toEqual(await searchable())
    for (let round = 0; round < 4; round++) {
      await addMany(3, 15)
      await engine.indexNew(small)
      expect(await found()).toEqual(await searchable())
    }
    await engine.maintain(small)
    expect(await ready()).toHaveLength(1)
    expect(await membership()).toEqual({ 1: 255 })
    expect(await found()).toEqual(await searchable())
  })

  it('is not found after its delete, and its vectors leave the segment at the next maintenance', async () => {
    const [deleted] = await addMany(4, 15)
    await engine.indexNew(small)
    await corpus.execute('delete from documents where id = $1', [deleted!.id])
    expect(await found()).toEqual(await searchable())
    expect(await found()).toHaveLength(45)
    await engine.maintain(small)
    expect(await ready()).toMatchObject([{ rows: 45 }])
    expect(await corpus.query('select 1 from vector_segment_1 where document_id = $1', [deleted!.id])).toEqual([])
    expect(await found()).toEqual(await searchable())
  })

  it('that is erased while a segment is built leaves no vector in it', async () => {
    const [erased] = await addMany(4, 15)
    const documents = { organisationId: fixture.organisationId, documentIds: [erased!.id] }
    let removal: Promise<void> | undefined
    const busy = createPostgresEngine({
      database: intercepted(async (statement) => {
        if (removal || !statement.startsWith('do $$')) return
        await corpus.execute('delete from documents where id = $1', [erased!.id])
        expect(await engine.countCopies(documents)).toBe(15)
        removal = engine.removeCopies(documents)
      }),
    })
    expect((await busy.indexNew(small)).built).toHaveLength(1)
    await removal
    expect(await engine.countCopies(documents)).toBe(0)
    expect(await found()).toEqual(await searchable())
  })

  it('that is erased leaves no vector in a segment that was ready', async () => {
    const [erased] = await addMany(4, 15)
    await engine.indexNew(small)
    const documents = { organisationId: fixture.organisationId, documentIds: [erased!.id] }
    await corpus.execute('delete from documents where id = $1', [erased!.id])
    expect(await engine.countCopies(documents)).toBe(15)
    await engine.removeCopies(documents)
    expect(await engine.countCopies(documents)).toBe(0)
    expect(await ready()).toMatchObject([{ rows: 45 }])
    expect(await found()).toEqual(await searchable())
  })

  it('that is deleted, or published, while a segment is built is not found, or found', async () => {
    const [deleted] = await addMany(4, 15)
    let changed = false
    const busy = createPostgresEngine({
      database: intercepted(async (statement) => {
        if (changed || !statement.startsWith('do $$')) return
        changed = true
        await corpus.execute('delete from documents where id = $1', [deleted!.id])
        await addMany(1, 7)
      }),
    })
    expect((await busy.indexNew(small)).built).toHaveLength(1)
    expect(await membership()).toEqual({ 1: 45, 0: 7 })
    expect(await found()).toEqual(await searchable())
  })

  it('of which a vector is missing in a new embedding version gets its segment there when it is complete', async () => {
    const next: Embedder = { ...randomVectors, id: 'random:next' }
    await addMany(4, 20)
    await fixture.index.embeddingVersions.prepare(next)
    const step = () => reindexStep({ index: fixture.index, embedder: next, signal: timeLimit() })
    expect(await step()).toEqual({ state: 'building', embeddedChunks: 64 })
    await engine.indexNew({ ...small, vectorIndexFromChunks: 20 })
    const partial = await corpus.query<{ rows: number }>(
      `select chunk_count as rows from vector_segments where version_id = 2 and state = 'ready'`,
    )
    // Whole documents only: the last of four lacks some vectors.
    expect(partial.map(({ rows }) => rows % 20)).toEqual(partial.map(() => 0))
    for (let steps = 0; steps < 5 && (await step()).state !== 'complete';) steps++
    await engine.maintain({ ...small, dropAfterSeconds: 0 })
    expect(await found(next)).toEqual(await searchable())
    expect(await found(next)).toHaveLength(80)
  })
})

describe('a process that dies during maintenance', () => {
  it('loses no chunk and duplicates none, at whichever statement it dies', async () => {
    await addMany(4, 15)
    await engine.indexNew(small)
    await addMany(13, 15)
    let deaths = 0
    for (let isDone = false; !isDone; deaths++) {
      let statements = 0
      const lastStatement = deaths
      const dying = createPostgresEngine({
        database: intercepted(async () => {
          if (statements++ >= lastStatement) throw new Error('the process is dead')
        }),
      })
      isDone = await keep(dying).then(
        () => true,
        (error: Error) => {
          if (!error.message.includes('dead')) throw error
          return false
        },
      )
      expect(await found()).toEqual(await searchable())
    }
    expect(deaths).toBeGreaterThan(10)
    expect(Object.keys(await membership())).toEqual(['1'])
    await corpus.execute(`update vector_segments set changed_at = now() - interval '4 hours' where state = 'building'`)
    await engine.maintain({ ...small, dropAfterSeconds: 0 })
    await engine.maintain({ ...small, dropAfterSeconds: 0 })
    const tables = await corpus.query<{ name: string }>(
      `select relname::text as name from pg_class where relkind = 'r' and relname like 'vector\\_segment\\_%' order by oid`,
    )
    expect(tables.map(({ name }) => name)).toEqual((await ready()).map(({ id }) => `vector_segment_${id}`))
    expect(await found()).toEqual(await searchable())
  })
})

describe('two instances', () => {
  it('that index the same documents at once leave each chunk in one segment', async () => {
    await addMany(6, 15)
    const other = createPostgresEngine({ database: corpus })
    await Promise.all([engine.indexNew(small), other.indexNew(small), addMany(2, 5)])
    expect((await membership())[1]).toBeGreaterThanOrEqual(90)
    expect((await membership())[2]).toBeUndefined()
    expect(await found()).toEqual(await searchable())
    await addMany(12, 15)
    await engine.indexNew(small)
    await Promise.allSettled([keep(engine), keep(other)])
    expect((await membership())[2]).toBeUndefined()
    expect(await found()).toEqual(await searchable())
  })

  it('search without a gap while one of them replaces the segments that the other is about to read', async () => {
    await addMany(4, 15)
    await engine.indexNew(small)
    const before = await openSpace(withoutScan())
    await addMany(13, 15)
    await engine.indexNew(small)
    await engine.maintain(small)
    expect((await segments()).filter(({ state }) => state === 'retired').length).toBeGreaterThan(0)
    expect(await findAll(before)).toEqual(await searchable())
    await engine.maintain({ ...small, dropAfterSeconds: 0 })
    expect(await segments()).toEqual(await ready())
  })
})

describe('the quality of segments', () => {
  it('finds at least 95 of 100 of the nearest chunks of random vectors', async () => {
    const sizes = { vectorIndexFromChunks: 300, bm25IndexFromChunks: Infinity }
    for (let part = 0; part < 4; part++) {
      await addMany(4, 100)
      await engine.indexNew(sizes)
    }
    await addMany(1, 100)
    expect((await ready()).length).toBeGreaterThan(2)
    const { organisationId, spaceId } = fixture
    const space = await openSpace(withoutScan())
    const version = space.embeddingVersions[0]!
    const scope = { organisationId, spaceId, filter: null }
    const exact = createExactScan({
      queryable: corpus,
      scope,
      space: { chunks: 0, averageTerms: 0 },
      options: { signal: timeLimit() },
    })
    let shared = 0
    for (let query = 0; query < 20; query++) {
      const vector = point()
      const truth = await exact.byVector({ version, vector, limit: 20 })
      const near = await space.findCandidates({
        terms: [],
        vectors: [{ version, vector, hasSemantics: true }],
        limit: 20,
      })
      const scores = new Map(near.map(({ chunkId, similarity }) => [chunkId, similarity!]))
      for (const { chunkId, score } of truth) {
        if (!scores.has(chunkId)) continue
        shared++
        expect(scores.get(chunkId)).toBeCloseTo(score, 2)
      }
    }
    expect(shared / 400).toBeGreaterThanOrEqual(0.95)
  })
})

describe('an index of an earlier version', () => {
  it('answers until the Space has segments, and is dropped then', async () => {
    await addMany(4, 15)
    const name = vectorIndexName(1, fixture.spaceId)
    await corpus.execute(
      `create index ${name} on embeddings_1 using hnsw (embedding vector_cosine_ops) where space_id = '${fixture.spaceId}'::uuid`,
    )
    expect(await found()).toEqual(await searchable())
    expect(await engine.maintain(small)).toEqual({ built: [], dropped: [] })
    await engine.indexNew(small)
    expect(await engine.maintain(small)).toEqual({ built: [], dropped: [name] })
    expect(await found()).toEqual(await searchable())
  })
})

it('asks once for maintenance after 5,000 published chunks, also from within the transaction that publishes', async () => {
  const asked: Promise<unknown>[] = []
  engine.onNewChunks(() => void asked.push(corpus.query('select 1')))
  const run = { ...fixture, documentId: createDocumentId(), runId: '' }
  const publish = (chunks: number) => corpus.transaction(() => Promise.resolve(engine.publish(run, chunks)))
  await publish(4_999)
  expect(asked).toHaveLength(0)
  await publish(1)
  await publish(4_999)
  expect(asked).toHaveLength(1)
  await Promise.all(asked)
})
