import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { TestDatabase } from '../../../../../test/harness/statements.ts'
import {
  createDocumentId,
  createOrganisationId,
  createSpaceId,
  type OrganisationId,
  silentLog,
  type SpaceId,
} from '../../../../platform/kernel/index.ts'
import {
  createHashingEmbedder,
  createMemoryEngine,
  createRetrieval,
  createSearchIndex,
  type Retrieval,
  type SearchIndex,
} from '../../index.ts'
import { createIndexFixture, type IndexFixture } from '../../testing/index-fixture.ts'
import type { MemoryEngine } from './memory-engine.ts'

let fixture: IndexFixture
let index: SearchIndex
let engine: MemoryEngine
let memory: Retrieval
let scan: Retrieval

beforeEach(async () => {
  fixture = await createIndexFixture({
    createEngine: (database) => (engine = createMemoryEngine({ database, maximumBytes: 2 ** 30, fromChunks: 1 })),
  })
  index = fixture.index
  const { embedder } = fixture
  const { corpus } = fixture.databases
  memory = createRetrieval({ index, embedder })
  scan = createRetrieval({ index: indexOf(createMemoryEngine({ database: corpus, maximumBytes: 0 })), embedder })
})
afterEach(() => fixture[Symbol.asyncDispose]())

function indexOf(ofEngine: MemoryEngine): SearchIndex {
  return createSearchIndex({ database: fixture.databases.corpus, engine: ofEngine })
}

const words = ['badger', 'otter', 'heron', 'willow', 'river', 'bridge', 'meadow', 'storm', 'lantern', 'harbour']
const sentence = (row: number) =>
  `Entry ${row}: the ${words[row % 10]} met the ${words[(row * 3 + 1) % 10]} near the ${words[(row * 7 + 2) % 10]}.`
const sentences = (count: number, from = 0) => Array.from({ length: count }, (_, row) => sentence(from + row))

async function search(query: string, { by = memory, limit = 10, spaceId = fixture.spaceId } = {}) {
  const { organisationId } = fixture
  return by.search({ organisationId, spaceId, filter: null, query, limit, signal: AbortSignal.timeout(30_000) })
}

function isLoaded(spaceId: SpaceId = fixture.spaceId, by = engine): boolean {
  return by.isLoaded({ organisationId: fixture.organisationId, spaceId })
}

async function untilLoaded(spaceId: SpaceId = fixture.spaceId, by = engine): Promise<void> {
  await expect.poll(() => isLoaded(spaceId, by), { timeout: 40_000 }).toBe(true)
}

async function deleteDocument(id: string): Promise<void> {
  await fixture.databases.corpus.execute('delete from documents where id = $1', [id])
}

describe('a Space in memory', () => {
  it('ranks as the exact scan does', async () => {
    for (let part = 0; part < 6; part++) await fixture.add(sentences(25, part * 25))
    await fixture.stage(await fixture.createDocument(), sentences(20))
    await engine.warm()
    expect(isLoaded()).toBe(true)
    for (const query of ['badger and otter', 'the storm near the bridge', 'Entry 42', 'lanterm harbor', 'willow']) {
      const found = await search(query)
      const expected = await search(query, { by: scan })
      expect(found.length).toBe(expected.length)
      for (const [rank, passage] of found.entries()) {
        // Many chunks have equal scores: the scores must match, the order of equals need not.
        expect(passage.score, `${query} at ${rank}`).toBeCloseTo(expected[rank]!.score, 2)
      }
    }
  })

  it('is loaded by its first search, which scans the tables', async () => {
    await fixture.add(sentences(30))
    expect(isLoaded()).toBe(false)
    expect(await search('badger')).toHaveLength(9)
    await untilLoaded()
    expect(isLoaded()).toBe(true)
    expect(await search('badger')).toHaveLength(9)
  })

  it('is loaded in few turns while searches let each turn wait', async () => {
    await fixture.add(sentences(900))
    const { corpus } = fixture.databases
    const realNow = performance.now.bind(performance)
    let passedMs = 0
    const now = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs)
    onTestFinished(() => void now.mockRestore())
    const turnsWith = async (waitMs: number) => {
      let turns = 0
      const database: TestDatabase = {
        ...corpus,
        for: () => database,
        async transaction(work, options) {
          turns++
          passedMs += waitMs
          return corpus.transaction(work, options)
        },
      }
      const loading = createMemoryEngine({ database, maximumBytes: 2 ** 30, fromChunks: 1 })
      expect(await loading.warm()).toBe(900)
      await loading.close()
      return turns
    }
    // A page of a hundred chunks in each turn, and the one that finds the end.
    expect(await turnsWith(0)).toBeGreaterThan(5)
    expect(await turnsWith(2_000)).toBeLessThan(5)
  })

  it('finds what is indexed before, during and after loading', async () => {
    await fixture.add(sentences(300))
    const warming = engine.warm()
    await Promise.all([fixture.add(['A kingfisher at the weir.']), fixture.add(['A kingfisher at the lock.'])])
    await warming
    await fixture.add(['A kingfisher at the ford.'])
    const found = (await search('kingfisher')).map((passage) => passage.text)
    expect(found.toSorted()).toEqual([
      'A kingfisher at the ford.',
      'A kingfisher at the lock.',
      'A kingfisher at the weir.',
    ])
  })

  it('finds what is published while its loading reads an older state', async () => {
    await fixture.add(sentences(20))
    const run = await fixture.stage(await fixture.createDocument(), ['A kingfisher at the weir.'])
    const { corpus } = fixture.databases
    const database: TestDatabase = {
      ...corpus,
      for: () => database,
      async query(sql, ...rest) {
        const rows = await corpus.query(sql, ...rest)
        if (sql.includes('searchable, languages')) await indexOf(loading).publish(corpus, run)
        return rows as never
      },
    }
    const loading = createMemoryEngine({ database, maximumBytes: 2 ** 30, fromChunks: 1 })
    onTestFinished(() => loading.close())
    expect(await loading.warm()).toBe(21)
    const by = createRetrieval({ index: indexOf(loading), embedder: fixture.embedder })
    expect(await search('kingfisher', { by })).toHaveLength(1)
  })

  it('is never searched for another organisation', async () => {
    await fixture.add(sentences(30))
    await engine.warm()
    const scope = { organisationId: createOrganisationId(), spaceId: fixture.spaceId, filter: null }
    expect((await engine.openSpace(scope, AbortSignal.timeout(30_000))).isEmpty).toBe(true)
    const request = { ...scope, query: 'badger', limit: 5, signal: AbortSignal.timeout(30_000) }
    expect(await memory.search(request)).toEqual([])
  })

  it('never returns deleted chunks, and as many others as exist', async () => {
    const documents: { id: string }[] = []
    for (let part = 0; part < 12; part++) documents.push(await fixture.add(sentences(10, part * 10)))
    await engine.warm()
    for (const { id } of documents.slice(0, 9)) await deleteDocument(id)
    // The engine was not notified: the missing passages show it.
    const found = await search('badger', { limit: 9 })
    expect(
      found.map(({ documentId }) => documentId).every((id) => documents.slice(9).some((one) => one.id === id)),
    ).toBe(true)
    expect(found).toHaveLength(9)
    expect(isLoaded()).toBe(true)
  })

  it('drops a document that was reported as deleted', async () => {
    const [gone, kept] = [await fixture.add(['A badger digs.']), await fixture.add(['A badger sleeps.'])]
    await engine.warm()
    const chunkOf = async (id: string) =>
      (await fixture.databases.corpus.query<{ id: string }>('select id from chunks where document_id = $1', [id]))[0]!
        .id
    const [goneChunk, keptChunk] = [await chunkOf(gone.id), await chunkOf(kept.id)]
    const inMemory = async () => {
      const space = await engine.openSpace({ ...fixture, filter: null }, AbortSignal.timeout(30_000))
      const vector = (await queryVector('badger'))!
      const vectors = [{ version: space.embeddingVersions[0]!, vector, hasSemantics: true }]
      return (await space.findCandidates({ terms: [], vectors, limit: 5 })).map(({ chunkId }) => chunkId)
    }
    await deleteDocument(gone.id)
    expect((await inMemory()).toSorted()).toEqual([goneChunk, keptChunk].toSorted())
    engine.documentChanged(fixture.spaceId, gone.id)
    await expect.poll(inMemory, { timeout: 10_000 }).toEqual([keptChunk])
  })

  it('hides a document whose publishing was rolled back, and shows it once published', async () => {
    await fixture.add(sentences(30))
    await engine.warm()
    const document = await fixture.createDocument()
    const run = await fixture.stage(document, ['A kingfisher at the weir.'])
    const failing = fixture.databases.corpus.transaction(async (transaction) => {
      await index.publish(transaction, run)
      throw new Error('the process dies here')
    })
    await expect(failing).rejects.toThrow('dies')
    expect(await search('kingfisher at the weir', { limit: 1 })).not.toMatchObject([{ documentId: document.id }])
    await fixture.publish(run)
    expect(await search('kingfisher at the weir', { limit: 1 })).toMatchObject([{ documentId: document.id }])
  })
})

describe('the memory limit', () => {
  it('keeps the most recently used Spaces and scans the others', async () => {
    const spaces = [createSpaceId(), createSpaceId()] as const
    for (const spaceId of spaces) await fixture.add(sentences(100), { spaceId })
    // Room for one of them: 100 chunks take about 90 KB.
    const small = createMemoryEngine({ database: fixture.databases.corpus, maximumBytes: 120_000, fromChunks: 1 })
    await using _ = { [Symbol.asyncDispose]: () => small.close() }
    const by = createRetrieval({ index: indexOf(small), embedder: fixture.embedder })
    for (const [at, spaceId] of spaces.entries()) {
      expect(await search('badger', { by, spaceId })).toHaveLength(10)
      await untilLoaded(spaceId, small)
      expect(spaces.map((other) => isLoaded(other, small))).toEqual(spaces.map((_, other) => other === at))
    }
  })

  it('logs once that a Space exceeds it, scans that Space and evicts no other', async () => {
    const large = createSpaceId()
    await fixture.add(sentences(30))
    await fixture.add(sentences(200), { spaceId: large })
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) }
    const { corpus } = fixture.databases
    const small = createMemoryEngine({ database: corpus, maximumBytes: 100_000, fromChunks: 1, log })
    await using _ = { [Symbol.asyncDispose]: () => small.close() }
    const by = createRetrieval({ index: indexOf(small), embedder: fixture.embedder })
    await small.warm()
    for (let repeat = 0; repeat < 3; repeat++) expect(await search('badger', { by, spaceId: large })).toHaveLength(10)
    await small.warm()
    expect(warnings).toEqual([
      `Space ${large} needs 1 MB, above the limit of 1 MB (search.memoryMegabytes): searched by exact scan`,
    ])
    expect([isLoaded(large, small), isLoaded(fixture.spaceId, small)]).toEqual([false, true])
  })
})

describe('Spaces of two organisations', () => {
  const other = { organisationId: createOrganisationId(), spaceId: createSpaceId() }

  /** Candidates by one vector. */
  const createFind = async () => {
    const vector = (await queryVector('badger'))!
    return async (
      scope: { organisationId: OrganisationId; spaceId: SpaceId },
      signal = AbortSignal.timeout(30_000),
    ) => {
      const space = await engine.openSpace({ ...scope, filter: null }, signal)
      const vectors = [{ version: space.embeddingVersions[0]!, vector, hasSemantics: true }]
      return space.findCandidates({ terms: [], vectors, limit: 5 })
    }
  }

  it('are searched in turns: the many searches of one do not delay the other', async () => {
    await fixture.add(sentences(300))
    await fixture.add(sentences(30), other)
    await engine.warm()
    const find = await createFind()
    const ended: string[] = []
    const searchIn = (scope: typeof other) => find(scope).then(() => ended.push(scope === other ? 'other' : 'flood'))
    await Promise.all([...Array.from({ length: 50 }, () => searchIn(fixture)), searchIn(other)])
    // Two of the flood are in the thread, and one has the turn before.
    expect(ended.indexOf('other')).toBeLessThan(4)
  })

  it('are searched as before when a client leaves, and never after they were evicted', async () => {
    await fixture.add(sentences(300))
    await engine.warm()
    const left = new AbortController()
    const find = await createFind()
    const gone = Promise.allSettled(Array.from({ length: 20 }, () => find(fixture, left.signal)))
    const late = find(fixture)
    await Promise.resolve()
    left.abort(new Error('the client is gone'))
    engine.reset()
    for (const one of await gone) expect(one).toMatchObject({ status: 'rejected', reason: left.signal.reason })
    // The tables were scanned.
    expect(await late).toHaveLength(5)
  })

  it('get an error when too many searches of their organisation wait', async () => {
    await fixture.add(sentences(300))
    await fixture.add(sentences(30), other)
    await engine.warm()
    const find = await createFind()
    // Two in the thread, and half of those that may wait.
    const flood = Promise.allSettled(Array.from({ length: 503 }, () => find(fixture)))
    expect(await find(other)).toHaveLength(5)
    expect((await flood).filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'overloaded', retryAfterSeconds: 1 } },
    ])
  })

  it('are loaded in turns', async () => {
    const mine = Array.from({ length: 4 }, () => createSpaceId())
    for (const spaceId of mine) await fixture.add(sentences(30), { spaceId })
    await fixture.add(sentences(30), other)
    const all = [...mine, other.spaceId]
    const { corpus } = fixture.databases
    const allWait = Promise.withResolvers<void>()
    const loaded = new Set<SpaceId>()
    const noteLoaded = () => all.filter((spaceId) => isLoaded(spaceId, slow)).forEach((spaceId) => loaded.add(spaceId))
    const database: TestDatabase = {
      ...corpus,
      for: () => database,
      async transaction(work, options) {
        // Chunks are read in the background, searches are not.
        if (options?.background) {
          await allWait.promise
          noteLoaded()
        }
        return corpus.transaction(work, options)
      },
    }
    const slow = createMemoryEngine({ database, maximumBytes: 2 ** 30, fromChunks: 1 })
    await using _ = { [Symbol.asyncDispose]: () => slow.close() }
    const by = createRetrieval({ index: indexOf(slow), embedder: fixture.embedder })
    for (const spaceId of mine) await search('badger', { by, spaceId })
    await by.search({ ...other, filter: null, query: 'badger', limit: 5, signal: AbortSignal.timeout(30_000) })
    allWait.resolve()
    for (const spaceId of all) await untilLoaded(spaceId, slow)
    noteLoaded()
    // The first one was being loaded, and the second one waited for longer.
    expect([...loaded].indexOf(other.spaceId)).toBe(2)
  })

  it('leave memory in turns: many Spaces of one do not evict those of the other', async () => {
    const mine = Array.from({ length: 3 }, () => createSpaceId())
    await fixture.add(sentences(100), other)
    for (const spaceId of mine) await fixture.add(sentences(100), { spaceId })
    // Room for two of them: 100 chunks take about 90 KB.
    const small = createMemoryEngine({ database: fixture.databases.corpus, maximumBytes: 210_000, fromChunks: 1 })
    await using _ = { [Symbol.asyncDispose]: () => small.close() }
    const by = createRetrieval({ index: indexOf(small), embedder: fixture.embedder })
    await by.search({ ...other, filter: null, query: 'badger', limit: 5, signal: AbortSignal.timeout(30_000) })
    await untilLoaded(other.spaceId, small)
    for (const spaceId of mine) {
      await search('badger', { by, spaceId })
      await untilLoaded(spaceId, small)
    }
    expect([other.spaceId, ...mine].map((spaceId) => isLoaded(spaceId, small))).toEqual([true, false, false, true])
  })
})

describe('the memory engine', () => {
  it('drops indexes that former versions built in the embedded database', async () => {
    const database: TestDatabase = fixture.databases.corpus
    const indexes = ['chunk_terms_by_term', 'embeddings_1_hnsw_00000000000000000000000000000000']
    await database.execute(`create index ${indexes[0]} on chunk_terms using gin (terms)`)
    await database.execute(`create index ${indexes[1]} on embeddings_1 using hnsw (embedding vector_cosine_ops)`)
    await fixture.add(sentences(30))
    expect(await search('badger', { by: scan })).toHaveLength(9)
    expect((await engine.maintain()).dropped.toSorted()).toEqual(indexes)
    expect(await engine.maintain()).toEqual({ built: [], dropped: [] })
    expect(await search('badger', { by: scan })).toHaveLength(9)
  })

  it('scans a Space that failed in memory until it is loaded again', async () => {
    await fixture.add(sentences(50))
    await engine.warm()
    // The thread rejects a chunk without a valid id, and with it the Space.
    const [version] = await index.embeddingVersions.load()
    const { organisationId, spaceId } = fixture
    const run = { organisationId, spaceId, documentId: createDocumentId(), runId: 'run' }
    const chunk = { chunkId: 'no uuid', terms: [1], vector: new Float32Array(384) }
    await engine.stage({ run, version: version!, chunks: [chunk], languages: [], writeMs: 0 })
    await expect.poll(() => isLoaded()).toBe(false)
    expect(await search('badger')).toHaveLength(10)
    await untilLoaded()
    expect(isLoaded()).toBe(true)
    expect(await search('badger')).toHaveLength(10)
  })

  it('keeps the vectors of the active embedding version', async () => {
    await fixture.add(sentences(40))
    await engine.warm()
    expect(isLoaded()).toBe(true)
    const next = createHashingEmbedder({ dimensions: 128 })
    await index.embeddingVersions.prepare(next)
    expect(isLoaded()).toBe(false)
    const both = createRetrieval({ index, embedder: next, otherEmbedders: [fixture.embedder] })
    await engine.warm()
    const late = await fixture.createDocument()
    await fixture.publish(await fixture.stage(late, ['A kingfisher at the weir.'], next))
    expect((await search('kingfishr at the weirs', { by: both }))[0]!.documentId).toBe(late.id)
    expect(await search('badger', { by: both })).toHaveLength(10)
  })
})

async function queryVector(text: string): Promise<Float32Array | undefined> {
  const [vector] = await fixture.embedder.embed({
    texts: [text],
    purpose: 'query',
    organisationId: fixture.organisationId,
    spaceId: fixture.spaceId,
    signal: AbortSignal.timeout(30_000),
  })
  return vector
}
