import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDocumentId, createSpaceId, silentLog, type SpaceId } from '../../platform/kernel/index.ts'
import { formerTerms } from './lexical/analyse-text.ts'
import {
  createHashingEmbedder,
  createPostgresEngine,
  createRetrieval,
  type Embedder,
  IndexRunEndedError,
  type MaintenanceReport,
  reindexStep,
  type SearchEngine,
} from './index.ts'
import { chunkOf, createIndexFixture, engines, type IndexFixture } from './testing/index-fixture.ts'

let fixture: IndexFixture

afterEach(() => fixture[Symbol.asyncDispose]())

async function search(query: string, options: { spaceId?: SpaceId; limit?: number; embedders?: Embedder[] } = {}) {
  const { embedders = [fixture.embedder], ...request } = options
  const retrieval = createRetrieval({
    index: fixture.index,
    embedder: embedders[0]!,
    otherEmbedders: embedders.slice(1),
  })
  const { organisationId, spaceId } = fixture
  await fixture.index.engine.warm()
  return retrieval.search({
    organisationId,
    spaceId,
    filter: null,
    query,
    limit: 5,
    signal: AbortSignal.timeout(30_000),
    ...request,
  })
}

async function rowCounts(): Promise<Record<string, number>> {
  const [row] = await fixture.databases.corpus.query<Record<string, number>>(
    `select (select count(*) from indexed_documents)::int as documents, (select count(*) from chunks)::int as chunks,
       (select count(*) from chunk_terms)::int as terms, (select count(*) from embeddings_1)::int as vectors`,
  )
  return row!
}

const nothing = { documents: 0, chunks: 0, terms: 0, vectors: 0 }
const sound = {
  orphanIndexedDocuments: 0,
  orphanChunks: 0,
  orphanTerms: 0,
  orphanVectors: 0,
  chunksWithoutTerms: 0,
  chunksWithoutVector: 0,
  readyButNotSearchable: 0,
  searchableButNotReady: 0,
}

describe.each(engines)('%s', (_name, createEngine) => {
  beforeEach(async () => {
    fixture = await createIndexFixture({ createEngine })
  })

  describe('a document in the index', () => {
    it('is found once the transaction that sets it ready commits, and not before', async () => {
      const document = await fixture.createDocument()
      const run = await fixture.stage(document, ['Badgers dig setts.'])
      expect(await search('badgers')).toEqual([])
      await expect(
        fixture.databases.corpus.transaction(async (transaction) => {
          await fixture.index.publish(transaction, run)
          throw new Error('the process dies here')
        }),
      ).rejects.toThrow('dies')
      expect(await search('badgers')).toEqual([])
      await fixture.publish(run)
      expect((await search('badgers')).map((passage) => passage.text)).toEqual(['Badgers dig setts.'])
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('is found by its new name after a rename, and no longer by the former name', async () => {
      const document = await fixture.add(
        Array.from({ length: 60 }, (_, row) => `Paragraph ${row} of the text.`),
        { name: 'zeppelin.txt' },
      )
      await fixture.add(['A zeppelin lands.'], { name: 'balloon.txt' })
      const statistics = () =>
        fixture.databases.corpus.query<{ terms: bigint; counted: bigint }>(
          `select sum(i.term_count)::bigint as terms, (select sum(cardinality(terms)) from chunk_terms)::bigint as counted
           from indexed_documents i`,
        )
      // All match fully by terms, and a little by vectors, which keep the name that they were made with.
      const isFound = async () =>
        (await search('zeppelin')).some(({ documentId, score }) => documentId === document.id && score > 0.5)
      expect(await isFound()).toBe(true)
      await fixture.databases.corpus.execute('update documents set name = $2 where id = $1', [
        document.id,
        'the flying machine.txt',
      ])
      await fixture.index.rename(document.id, AbortSignal.timeout(30_000))
      await expect.poll(isFound, { timeout: 10_000 }).toBe(false)
      const found = await search('flying machine')
      expect(found.map(({ documentId }) => documentId)).toEqual(Array(5).fill(document.id))
      expect(found[0]!.documentName).toBe('the flying machine.txt')
      const [row] = await statistics()
      expect(row!.terms).toBe(row!.counted)
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('of an older text analysis is found before and after its terms are rebuilt', async () => {
      const document = await fixture.add(
        Array.from({ length: 60 }, (_, row) => `The meeting number ${row} was held by the committees.`),
      )
      const { corpus } = fixture.databases
      const terms = () =>
        corpus.query<{ terms: number[] }>('select terms from chunk_terms order by chunk_id').then((rows) => rows)
      const made = await terms()
      const former = ['file', 'meetings', 'number', 'held', 'committee'].flatMap((word) =>
        formerTerms(fixture.spaceId, word, ['en']),
      )
      await corpus.execute('update chunk_terms set terms = $1::int[]', [former.toSorted((left, right) => left - right)])
      await corpus.execute('update indexed_documents set terms_version = 1, term_count = 60 * 5')
      fixture.index.engine.reset()
      const byWords = async () =>
        (await search('committee meetings')).filter(
          ({ documentId, score }) => documentId === document.id && score > 0.9,
        )
      expect(await byWords()).toHaveLength(5)
      expect(await fixture.index.updateTerms(AbortSignal.timeout(30_000))).toBe(1)
      expect(await terms()).toEqual(made)
      expect(await byWords()).toHaveLength(5)
      expect(await fixture.index.updateTerms(AbortSignal.timeout(30_000))).toBe(0)
      const [row] = await corpus.query<{ terms: bigint; counted: bigint }>(
        `select sum(i.term_count)::bigint as terms, (select sum(cardinality(terms)) from chunk_terms)::bigint as counted
         from indexed_documents i`,
      )
      expect(row!.terms).toBe(row!.counted)
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('is not changed by a rename while it is not searchable or does not exist', async () => {
      const document = await fixture.createDocument({ name: 'zeppelin.txt' })
      const run = await fixture.stage(document, ['A text.'])
      await fixture.databases.corpus.execute(`update documents set name = 'balloon.txt' where id = $1`, [document.id])
      await fixture.index.rename(document.id, AbortSignal.timeout(30_000))
      await fixture.index.rename(createDocumentId(), AbortSignal.timeout(30_000))
      await fixture.publish(run)
      expect(await search('zeppelin')).toHaveLength(1)
    })

    it('of ten thousand chunks becomes searchable by updating one row', async () => {
      const document = await fixture.createDocument()
      const texts = Array.from({ length: 10_000 }, (_, row) => `Row ${row} of the badger census.`)
      const run = await fixture.stage(document, texts)
      const before = await writes()
      await fixture.publish(run)
      const after = await writes()
      expect(after.indexed_documents! - before.indexed_documents!).toBe(1)
      expect([after.chunks, after.chunk_terms, after.embeddings_1]).toEqual([
        before.chunks,
        before.chunk_terms,
        before.embeddings_1,
      ])
      expect(await search('badger', { limit: 50 })).toHaveLength(50)
    }, 180_000)

    it('is not found after its delete, which removes all of its rows', async () => {
      const document = await fixture.add(['Badgers dig setts.', 'Badgers sleep by day.'])
      await fixture.databases.corpus.transaction((transaction) =>
        fixture.index.deleteDocument(transaction, document.id),
      )
      expect(await search('badgers')).toEqual([])
      expect(await rowCounts()).toEqual(nothing)
    })

    it('leaves no row when its row of documents is deleted, even during indexing', async () => {
      const document = await fixture.createDocument()
      const run = await fixture.stage(document, ['Badgers dig setts.'])
      await fixture.databases.corpus.execute('delete from documents where id = $1', [document.id])
      expect(await rowCounts()).toEqual(nothing)
      await expect(insertOne(run)).rejects.toThrow(IndexRunEndedError)
      await expect(fixture.publish(run)).rejects.toThrow(IndexRunEndedError)
      expect(await rowCounts()).toEqual(nothing)
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('starts clean when a run is repeated after a crash, and rejects writes of the former run', async () => {
      const document = await fixture.createDocument()
      const dead = await fixture.stage(document, ['Old words.', 'More old words.'])
      const run = await fixture.stage(document, ['New words.'])
      await expect(insertOne(dead)).rejects.toThrow(IndexRunEndedError)
      await expect(fixture.publish(dead)).rejects.toThrow(IndexRunEndedError)
      await fixture.publish(run)
      expect((await search('words')).map((passage) => passage.text)).toEqual(['New words.'])
      expect(await rowCounts()).toEqual({ documents: 1, chunks: 1, terms: 1, vectors: 1 })
    })

    it('stays searchable when a second run is attempted', async () => {
      const document = await fixture.add(['Badgers dig setts.'])
      const { organisationId, spaceId } = fixture
      const second = await fixture.databases.corpus.transaction((transaction) =>
        fixture.index.beginRun(transaction, { organisationId, spaceId, documentId: document.id }),
      )
      expect(second).toBeNull()
      expect(await search('badgers')).toHaveLength(1)
    })

    it('gets no run if it does not exist or is in another Space', async () => {
      const document = await fixture.createDocument()
      const begin = (documentId: typeof document.id, spaceId: SpaceId) =>
        fixture.databases.corpus.transaction((transaction) =>
          fixture.index.beginRun(transaction, { organisationId: fixture.organisationId, spaceId, documentId }),
        )
      expect(await begin(createDocumentId(), fixture.spaceId)).toBeNull()
      expect(await begin(document.id, createSpaceId())).toBeNull()
    })

    it('is reported by the audit when its status does not match its index', async () => {
      const unsearchable = await fixture.createDocument()
      await fixture.databases.corpus.execute(`update documents set status = 'ready' where id = $1`, [unsearchable.id])
      const run = await fixture.stage(await fixture.createDocument(), ['Badgers.'])
      await fixture.databases.corpus.transaction((transaction) => fixture.index.publish(transaction, run))
      await fixture.databases.corpus.execute('delete from chunk_terms')
      expect(await fixture.index.audit()).toMatchObject({
        readyButNotSearchable: 1,
        searchableButNotReady: 1,
        chunksWithoutTerms: 1,
      })
    })

    function insertOne(run: Parameters<typeof fixture.publish>[0]): Promise<void> {
      return fixture.index.stageChunks({
        run,
        documentName: 'late.txt',
        embedderId: fixture.embedder.id,
        chunks: [chunkOf('Late words.', 99)],
        vectors: [new Float32Array(fixture.embedder.dimensions).fill(0.1)],
      })
    }

    async function writes(): Promise<Record<string, number>> {
      const { corpus } = fixture.databases
      await corpus.query('select pg_stat_force_next_flush()')
      const rows = await corpus.query<{ table: string; writes: bigint }>(
        `select relname as table, n_tup_ins + n_tup_upd + n_tup_del as writes from pg_stat_user_tables`,
      )
      return Object.fromEntries(rows.map((row) => [row.table, Number(row.writes)]))
    }
  })

  describe('another embedding model', () => {
    const texts = ['Badgers dig setts.', 'Otters swim.', 'Herons wait.']

    it('is built next to the old one, which answers until all vectors exist', async () => {
      const next = createHashingEmbedder({ dimensions: 600 })
      await fixture.add(texts)
      expect(await fixture.index.embeddingVersions.prepare(next)).toMatchObject({
        state: 'building',
        storage: 'halfvec',
      })
      const embedders = [next, fixture.embedder]
      expect((await search('otters', { embedders }))[0]!.text).toBe('Otters swim.')
      expect(await states()).toEqual({ [fixture.embedder.id]: 'active', [next.id]: 'building' })
      expect(await step(next)).toEqual({ state: 'building', embeddedChunks: 3 })
      expect(await step(next)).toEqual({ state: 'complete' })
      expect(await step(next)).toEqual({ state: 'complete' })
      expect(await states()).toEqual({ [fixture.embedder.id]: 'retired', [next.id]: 'active' })
      expect((await search('otters', { embedders: [next] }))[0]!.text).toBe('Otters swim.')
      expect(await fixture.index.embeddingVersions.dropRetired(60_000)).toBe(0)
      expect(await fixture.index.embeddingVersions.dropRetired(-1_000)).toBe(1)
      expect((await search('otters', { embedders: [next] }))[0]!.text).toBe('Otters swim.')
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('loses no document that is added or deleted while it is being built', async () => {
      // As if it had semantics: weak similarities are not left out.
      const next = { ...createHashingEmbedder({ dimensions: 128 }), semantics: true }
      const first = await fixture.add(texts)
      await fixture.index.embeddingVersions.prepare(next)
      const run = await fixture.stage(await fixture.createDocument(), ['A stoat hunts.'], next)
      await fixture.publish(run)
      // The word is misspelled: only vectors can find it, and those of the new model are not yet active.
      expect((await search('stooat huntss', { embedders: [next, fixture.embedder] }))[0]?.text).toBe('A stoat hunts.')
      expect((await step(next)).state).toBe('building')
      await fixture.databases.corpus.execute('delete from documents where id = $1', [first.id])
      const late = await fixture.stage(await fixture.createDocument(), ['A weasel hides.'])
      await fixture.publish(late)
      let progress = await step(next)
      for (let steps = 0; progress.state !== 'complete' && steps < 10; steps++) progress = await step(next)
      expect(progress).toEqual({ state: 'complete' })
      expect((await search('weasel', { embedders: [next] }))[0]!.text).toBe('A weasel hides.')
      expect(await fixture.index.audit()).toEqual(sound)
    })

    it('is abandoned when the old one is configured again', async () => {
      const next = createHashingEmbedder({ dimensions: 128 })
      await fixture.add(texts)
      await fixture.index.embeddingVersions.prepare(next)
      expect(await fixture.index.embeddingVersions.prepare(fixture.embedder)).toMatchObject({ state: 'active' })
      expect(await states()).toEqual({ [fixture.embedder.id]: 'active', [next.id]: 'retired' })
      expect(await step(next)).toEqual({ state: 'complete' })
    })

    it('makes the same vectors as ingestion does', async () => {
      const seen: string[][] = []
      const next: Embedder = {
        ...createHashingEmbedder({ dimensions: 128 }),
        embed(request) {
          seen.push([...request.texts])
          return createHashingEmbedder({ dimensions: 128 }).embed(request)
        },
      }
      await fixture.index.embeddingVersions.prepare(next)
      await fixture.stage(await fixture.createDocument({ name: 'Rivers.md' }), texts, next)
      await fixture.stage(await fixture.createDocument({ name: 'Rivers.md' }), texts)
      await step(next)
      expect(seen[1]!.toSorted()).toEqual(seen[0]!.toSorted())
    })

    it('rejects vectors of an embedder that was not prepared, or of another size', async () => {
      const document = await fixture.createDocument()
      await expect(fixture.stage(document, texts, createHashingEmbedder({ dimensions: 64 }))).rejects.toThrow(/prepare/)
      const wrong: Embedder = { ...createHashingEmbedder({ dimensions: 64 }), id: fixture.embedder.id }
      await expect(fixture.stage(document, texts, wrong)).rejects.toThrow(/64 dimensions instead of 384/)
    })

    function step(embedder: Embedder) {
      return reindexStep({ index: fixture.index, embedder, signal: AbortSignal.timeout(30_000) })
    }

    async function states(): Promise<Record<string, string>> {
      const rows = await fixture.databases.corpus.query<{ id: string; state: string }>(
        'select embedder_id as id, state from embedding_generations',
      )
      return Object.fromEntries(rows.map((row) => [row.id, row.state]))
    }
  })
})

describe('in PostgreSQL only', () => {
  const small = { vectorIndexFromChunks: 100, bm25IndexFromChunks: 100 }
  const words = ['badger', 'otter', 'heron', 'willow', 'river', 'bridge', 'meadow', 'storm']
  const sentence = (row: number) =>
    `Entry ${row}: the ${words[row % 8]} met the ${words[(row * 3 + 1) % 8]} near the ${words[(row * 5 + 2) % 8]}.`

  /** Both jobs of the index keeper. */
  async function maintain(engine: SearchEngine = fixture.index.engine): Promise<MaintenanceReport> {
    const { built } = await engine.indexNew(small)
    const rest = await engine.maintain(small)
    return { built: [...built, ...rest.built], dropped: rest.dropped }
  }

  beforeEach(async () => {
    fixture = await createIndexFixture()
  })

  describe('indexes of large Spaces', () => {
    it('are built above the threshold, rank as the scan does, and are dropped when the Space has shrunk', async () => {
      const documents = []
      for (let part = 0; part < 5; part++) {
        documents.push(await fixture.add(Array.from({ length: 40 }, (_, row) => sentence(part * 40 + row))))
      }
      const queries = ['badger and otter', 'the storm near the bridge', 'Entry 42', 'heron']
      const exact = await Promise.all(queries.map((query) => search(query, { limit: 10 })))
      const { built } = await maintain()
      expect(built.map((name) => name.replace(/_[0-9a-f]{32}$/, '')).sort()).toEqual(
        fixture.databases.corpus.features.bm25 ? ['chunk_terms_bm25_2', 'vector_segment_1'] : ['vector_segment_1'],
      )
      expect(await maintain()).toEqual({ built: [], dropped: [] })
      for (const [position, query] of queries.entries()) {
        const found = await search(query, { limit: 10 })
        // Many chunks have equal scores: the scores must match, the order of equals need not.
        for (const [rank, passage] of found.entries()) {
          expect(Math.abs(passage.score - exact[position]![rank]!.score), `${query} at ${rank}`).toBeLessThan(0.1)
        }
      }
      for (const document of documents.slice(1)) {
        await fixture.databases.corpus.execute('delete from documents where id = $1', [document.id])
      }
      expect((await maintain()).dropped.sort()).toEqual(built.sort())
      expect(await search('badger', { limit: 10 })).toHaveLength(10)
    })

    it('return as many chunks as the limit when unpublished chunks are nearer', async () => {
      await fixture.add(Array.from({ length: 120 }, (_, row) => sentence(row)))
      // Nearer to the question than all others, and not published: they are the first results of both indexes.
      await fixture.stage(
        await fixture.createDocument(),
        Array.from({ length: 400 }, () => 'badger badger badger'),
      )
      await maintain()
      const found = await search('badger', { limit: 20 })
      expect(found).toHaveLength(20)
      expect(found.every((passage) => passage.text.startsWith('Entry'))).toBe(true)
    })

    it('find chunks added after they were built, and none of another Space', async () => {
      const spaceId = createSpaceId()
      await fixture.add(
        Array.from({ length: 120 }, (_, row) => sentence(row)),
        { spaceId },
      )
      await fixture.add(['A kingfisher at the weir.'], { spaceId: createSpaceId() })
      await maintain()
      expect(
        (await search('kingfisher at the weir', { spaceId })).some((passage) => passage.text.includes('kingfisher')),
      ).toBe(false)
      await fixture.add(['A kingfisher at the weir.'], { spaceId })
      expect((await search('kingfisher at the weir', { spaceId }))[0]!.text).toBe('A kingfisher at the weir.')
    })
  })

  describe('without pg_textsearch', () => {
    it('scans for terms, logs it once at start, and drops indexes of former versions', async () => {
      const { corpus } = fixture.databases
      const features = { ...corpus.features, bm25: false }
      const database: typeof corpus = { ...corpus, features, for: (owner) => ({ ...corpus.for(owner), features }) }
      const warnings: string[] = []
      const engine = createPostgresEngine({
        database,
        log: { ...silentLog, warn: (_, message) => void warnings.push(message) },
      })
      expect(engine.description).toContain('not installed')
      expect(warnings).toEqual([expect.stringContaining('Install the extension')])
      await corpus.execute('create index chunk_terms_by_term on chunk_terms using gin (terms)')
      expect(await engine.maintain()).toEqual({ built: [], dropped: ['chunk_terms_by_term'] })
      await fixture.add(Array.from({ length: 120 }, (_, row) => sentence(row)))
      expect(await maintain(engine)).toMatchObject({ built: ['vector_segment_1'] })
      const { organisationId, spaceId, embedder } = fixture
      const plain = createRetrieval({ index: { engine, database }, embedder, vectorWeight: 0 })
      const request = {
        organisationId,
        spaceId,
        filter: null,
        query: 'badger',
        limit: 3,
        signal: AbortSignal.timeout(30_000),
      }
      expect((await plain.search(request))[0]!.text).toMatch(/badger/)
    })
  })
})
