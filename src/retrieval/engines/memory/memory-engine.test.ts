import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDocumentId, createOrganisationId, createSpaceId, type SpaceId } from '../../../kernel/index.ts'
import {
  createHashingEmbedder,
  createIndexStore,
  createRetrieval,
  type IndexStore,
  type Retrieval,
} from '../../index.ts'
import { allInMemory, createIndexFixture, type IndexFixture } from '../../testing/index-fixture.ts'
import { packTerms } from './messages.ts'

let fixture: IndexFixture
let index: IndexStore
let memory: Retrieval
let database: Retrieval

beforeEach(async () => {
  fixture = await createIndexFixture({ memory: allInMemory })
  index = fixture.index
  const { embedder } = fixture
  memory = createRetrieval({ index, embedder })
  database = createRetrieval({ index: createIndexStore({ database: fixture.databases.corpus }), embedder })
})
afterEach(() => fixture[Symbol.asyncDispose]())

const words = ['badger', 'otter', 'heron', 'willow', 'river', 'bridge', 'meadow', 'storm', 'lantern', 'harbour']
const sentence = (row: number) =>
  `Entry ${row}: the ${words[row % 10]} met the ${words[(row * 3 + 1) % 10]} near the ${words[(row * 7 + 2) % 10]}.`
const sentences = (count: number, from = 0) => Array.from({ length: count }, (_, row) => sentence(from + row))

async function search(query: string, { by = memory, limit = 10, spaceId = fixture.spaceId } = {}) {
  const { organisationId } = fixture
  return by.search({ organisationId, spaceId, query, limit, signal: AbortSignal.timeout(30_000) })
}

function isHeld(spaceId: SpaceId = fixture.spaceId): boolean {
  return index.resident!.find({ organisationId: fixture.organisationId, spaceId }) !== null
}

async function deleteDocument(id: string): Promise<void> {
  await fixture.databases.corpus.execute('delete from documents where id = $1', [id])
}

describe('a Space in memory', () => {
  it('answers as the database does', async () => {
    for (let part = 0; part < 6; part++) await fixture.add(sentences(25, part * 25))
    await fixture.stage(await fixture.createDocument(), sentences(20))
    await index.resident!.warm()
    expect(isHeld()).toBe(true)
    for (const query of ['badger and otter', 'the storm near the bridge', 'Entry 42', 'lanterm harbor', 'willow']) {
      const found = await search(query)
      const truth = await search(query, { by: database })
      expect(found.length).toBe(truth.length)
      for (const [rank, passage] of found.entries()) {
        // Many chunks tie: the scores must agree, which of equals come first need not.
        expect(passage.score, `${query} at ${rank}`).toBeCloseTo(truth[rank]!.score, 2)
      }
    }
  })

  it('is loaded by the first search that it is worth, which the database answers', async () => {
    await fixture.add(sentences(30))
    expect(isHeld()).toBe(false)
    expect(await search('badger')).toHaveLength(9)
    await index.resident!.settled()
    expect(isHeld()).toBe(true)
    expect(await search('badger')).toHaveLength(9)
  })

  it('takes in what is indexed while it is being loaded, before and after', async () => {
    await fixture.add(sentences(300))
    const warming = index.resident!.warm()
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

  it('is never asked by another organisation', async () => {
    await fixture.add(sentences(30))
    await index.resident!.warm()
    const scope = { organisationId: createOrganisationId(), spaceId: fixture.spaceId }
    expect(index.resident!.find(scope)).toBeNull()
    const request = { ...scope, query: 'badger', limit: 5, signal: AbortSignal.timeout(30_000) }
    expect(await memory.search(request)).toEqual([])
  })

  it('never answers what was deleted, and is not short of what is left', async () => {
    const documents: { id: string }[] = []
    for (let part = 0; part < 12; part++) documents.push(await fixture.add(sentences(10, part * 10)))
    await index.resident!.warm()
    for (const { id } of documents.slice(0, 9)) await deleteDocument(id)
    // Nobody has told the memory: the look-up in the database does.
    const found = await search('badger', { limit: 9 })
    expect(
      found.map(({ documentId }) => documentId).every((id) => documents.slice(9).some((one) => one.id === id)),
    ).toBe(true)
    expect(found).toHaveLength(9)
    expect(isHeld()).toBe(true)
  })

  it('forgets what was deleted when it is told', async () => {
    const [gone, kept] = [await fixture.add(['A badger digs.']), await fixture.add(['A badger sleeps.'])]
    await index.resident!.warm()
    await deleteDocument(gone.id)
    index.resident!.documentChanged(fixture.spaceId, gone.id)
    const query = { terms: packTerms([]), vector: (await queryVector('badger'))!, limit: 5, similarityFloor: -2 }
    const held = () => index.resident!.find(fixture)!.search(query, AbortSignal.timeout(30_000))
    await expect
      .poll(async () => (await held())?.map(({ documentId }) => documentId), { timeout: 10_000 })
      .toEqual([kept.id])
  })

  it('hides a document whose publishing was rolled back, and shows it when it is done', async () => {
    await fixture.add(sentences(30))
    await index.resident!.warm()
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

describe('memory', () => {
  it('that is too small holds the Space asked last, and the database answers for the others', async () => {
    const spaces = [createSpaceId(), createSpaceId()] as const
    for (const spaceId of spaces) await fixture.add(sentences(100), { spaceId })
    // Room for one of them: 100 chunks take about 90 KB.
    const small = createIndexStore({
      database: fixture.databases.corpus,
      memory: { maximumBytes: 120_000, fromChunks: 1 },
    })
    try {
      const by = createRetrieval({ index: small, embedder: fixture.embedder })
      const held = () => spaces.map((spaceId) => small.resident!.find({ ...fixture, spaceId }) !== null)
      for (const [at, spaceId] of spaces.entries()) {
        expect(await search('badger', { by, spaceId })).toHaveLength(10)
        await small.resident!.settled()
        expect(held()).toEqual(spaces.map((_, other) => other === at))
      }
      expect(small.resident!.holds({ chunks: 100, terms: 700, dimensions: 384 })).toBe(true)
      expect(small.resident!.holds({ chunks: 1_000, terms: 7_000, dimensions: 384 })).toBe(false)
    } finally {
      await small.close()
    }
  })

  it('spares a Space the indexes of the database, but not one that does not fit', async () => {
    await fixture.add(sentences(120))
    const thresholds = { vectorIndexFromChunks: 100, bm25IndexFromChunks: 100 }
    const built = async (maximumBytes: number) => {
      const store = createIndexStore({ database: fixture.databases.corpus, memory: { maximumBytes } })
      return (await store.maintain(thresholds)).built.filter((name) => name.includes('hnsw')).length
    }
    expect(await built(2 ** 30)).toBe(0)
    expect(await built(1_000)).toBe(1)
  })

  it('that was lost is filled again; until then the database answers', async () => {
    await fixture.add(sentences(50))
    await index.resident!.warm()
    // What the thread cannot take makes it give the Space up.
    const [generation] = await index.generations.load()
    const { organisationId, spaceId } = fixture
    const run = { organisationId, spaceId, documentId: createDocumentId(), runId: 'run' }
    const chunk = { chunkId: 'no uuid', terms: [1], vector: new Float32Array(384) }
    index.resident!.staged(run, generation!, [chunk], [])
    await expect.poll(() => isHeld()).toBe(false)
    expect(await search('badger')).toHaveLength(10)
    await index.resident!.settled()
    expect(isHeld()).toBe(true)
    expect(await search('badger')).toHaveLength(10)
  })

  it('holds the vectors of the model that answers', async () => {
    await fixture.add(sentences(40))
    await index.resident!.warm()
    expect(isHeld()).toBe(true)
    const next = createHashingEmbedder({ dimensions: 128 })
    await index.generations.prepare(next)
    expect(isHeld()).toBe(false)
    const both = createRetrieval({ index, embedder: next, formerEmbedders: [fixture.embedder] })
    await index.resident!.warm()
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
