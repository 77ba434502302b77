import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeS3 } from '../../../../../test/harness/fake-s3.ts'
import { createRandom } from '../../../../../test/harness/random.ts'
import type { TestDatabase } from '../../../../../test/harness/statements.ts'
import { makeTemporaryFolder } from '../../../../../test/harness/temporary-folder.ts'
import { decodeVector } from '../../../../platform/database/index.ts'
import { createOrganisationId, createSpaceId, silentLog } from '../../../../platform/kernel/index.ts'
import { createExactScan, loadSpaceState } from '../exact-scan.store.ts'
import type { ReadScope, SearchEngine } from '../../engine.ts'
import { assertLance, createLanceEngine, createPostgresEngine, isLanceInstalled } from '../../index.ts'
import type { QueryTerm } from '../../lexical/bm25.ts'
import { createIndexFixture, type FixtureDocument, type IndexFixture } from '../../testing/index-fixture.ts'

const installed = isLanceInstalled()
/** A Space of any size gets tables, every new document at once. */
const every = { vectorIndexFromChunks: 1 }
const words = Array.from({ length: 60 }, (_, at) => `word${at.toString(36)}x`)
const timeLimit = () => AbortSignal.timeout(120_000)

it('is refused with the command that installs it where the package is missing', () => {
  expect(() => assertLance(makeTemporaryFolder('no-lance'))).toThrow(
    /npm run install:lance.*search\.engine to database/,
  )
})

describe.skipIf(!installed)(`LanceDB${installed ? '' : ' (skipped: run `npm run install:lance` first)'}`, () => {
  let fixture: IndexFixture
  let corpus: TestDatabase
  let engine: SearchEngine
  let folder: string
  let warnings: string[]
  const random = createRandom(34)
  // No machine is so busy that a storage that answers counts as hanging.
  const storage = () => ({ address: folder, options: {}, cacheBytes: 2 ** 24, searchTimeoutMs: 60_000 })
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  }

  beforeEach(async () => {
    folder = makeTemporaryFolder('lance')
    warnings = []
    fixture = await createIndexFixture({
      createEngine: (database) =>
        createLanceEngine({
          database,
          storage: storage(),
          log,
          planFiltered: () => ({ terms: 'index', vectors: 'index' }),
        }),
    })
    corpus = fixture.databases.corpus
    engine = fixture.index.engine
  })
  afterEach(() => fixture[Symbol.asyncDispose]())

  const sentence = () => {
    const length = 5 + Math.floor(random() * 40)
    return Array.from({ length }, () => words[Math.floor(random() ** 3 * words.length)]).join(' ')
  }
  const addMany = async (documents: number, metadata: (at: number) => object | null = () => null) => {
    const added: FixtureDocument[] = []
    for (let at = 0; at < documents; at++) {
      const given = { metadata: metadata(at) as Record<string, unknown> | null }
      added.push(await fixture.add(Array.from({ length: 1 + Math.floor(random() * 9) }, sentence), given))
    }
    return added
  }
  const scopeOf = (scope: Partial<ReadScope> = {}): ReadScope => ({
    organisationId: fixture.organisationId,
    spaceId: fixture.spaceId,
    filter: null,
    ...scope,
  })
  const termsOf = async (count: number): Promise<QueryTerm[]> => {
    const rows = await corpus.query<{ term: number }>(
      'select term from (select distinct unnest(terms) as term from chunk_terms) t order by term',
    )
    return Array.from({ length: count }, () => ({
      variants: Array.from(
        { length: 1 + Math.floor(random() * 2) },
        () => rows[Math.floor(random() * rows.length)]!.term,
      ),
      weight: 0.2 + random(),
    }))
  }
  const vectorOf = async () => {
    const [vector] = await fixture.embedder.embed({
      texts: [sentence()],
      purpose: 'query',
      organisationId: fixture.organisationId,
      spaceId: fixture.spaceId,
      signal: timeLimit(),
    })
    return vector!
  }
  /** What a search by these terms and this vector finds, and what a scan of the tables of the corpus finds. */
  async function both(scope: ReadScope, terms: QueryTerm[], vector: Float32Array, limit = 10) {
    const space = await loadSpaceState(corpus, scope, {})
    const scan = createExactScan({ queryable: corpus, scope, space, options: {} })
    const opened = await engine.openSpace(scope, timeLimit())
    const version = space.embeddingVersions[0]!
    const query = { terms, vectors: [{ version, vector, hasSemantics: true }], limit }
    const found = await opened.findCandidates(query)
    return {
      found,
      byTerms: await scan.byTerms(terms, limit),
      byVector: await scan.byVector({ version, vector, limit }),
    }
  }
  const stored = (text: string | Buffer): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && readFileSync(path.join(file.parentPath, file.name)).includes(text))
      .map(({ name }) => name)
  const tableCount = () => readdirSync(folder).length

  it('finds what a scan finds: with tables, newer documents, changed and deleted ones', async () => {
    const documents = await addMany(30)
    await engine.indexNew(every)
    await addMany(10)
    await engine.indexNew(every)
    documents.push(...(await addMany(5)))
    for (const { id } of documents.slice(0, 4)) await corpus.execute('delete from documents where id = $1', [id])
    await corpus.execute('update documents set name = $2 where id = $1', [documents[7]!.id, 'word3x word9x.txt'])
    await fixture.index.rename(documents[7]!.id, timeLimit())
    expect(tableCount()).toBeGreaterThan(0)
    for (let round = 0; round < 12; round++) {
      const { found, byTerms, byVector } = await both(scopeOf(), await termsOf(1 + (round % 6)), await vectorOf(), 500)
      const lexical = found.filter(({ lexicalScore }) => (lexicalScore ?? 0) > 0).map(({ chunkId }) => chunkId)
      expect(lexical.toSorted()).toEqual(byTerms.map(({ chunkId }) => chunkId).toSorted())
      const near = new Map(found.map((one) => [one.chunkId, one.similarity!]))
      for (const { chunkId, score } of byVector) expect(near.get(chunkId)).toBeCloseTo(score, 5)
    }
    expect(warnings).toEqual([])
  })

  it.each([6, 60])('ranks queries of up to %i terms as a scan does, to the last digit', async (most) => {
    await addMany(25)
    await engine.indexNew(every)
    const changed = await addMany(10)
    await engine.indexNew(every)
    await addMany(15)
    await corpus.execute('update documents set name = $2 where id = $1', [changed[7]!.id, 'word3x word9x.txt'])
    await fixture.index.rename(changed[7]!.id, timeLimit())
    await engine.maintain(every)
    await engine.indexNew(every)
    await addMany(5)
    for (let round = 0; round < 20; round++) {
      const { found, byTerms } = await both(scopeOf(), await termsOf(1 + Math.floor(random() * most)), await vectorOf())
      const ours = new Map(found.map((one) => [one.chunkId, one.lexicalScore]))
      const least = byTerms.at(-1)?.score ?? 0
      for (const { chunkId, score } of byTerms) {
        // Chunks with the score of the last one may be left out for others of that score.
        if (score > least + 1e-9) expect(ours.get(chunkId)).toBeCloseTo(score, 9)
      }
    }
    expect(warnings).toEqual([])
  })

  it('reads only documents that match a filter, however good the others are', async () => {
    await addMany(40, (at) => ({ customer: at % 8 === 0 ? 'acme' : 'corvo' }))
    await engine.indexNew(every)
    const scope = scopeOf({ filter: { customer: 'acme' } })
    const matching = await corpus.query<{ id: string }>(
      `select c.id from chunks c join documents d on d.id = c.document_id where d.metadata->>'customer' = 'acme'`,
    )
    const own = new Set(matching.map(({ id }) => id))
    const { found } = await both(scope, await termsOf(3), await vectorOf(), own.size)
    expect(found.length).toBe(own.size)
    expect(found.every(({ chunkId }) => own.has(chunkId))).toBe(true)
  })

  it.each([{ spaceId: createSpaceId() }, { organisationId: createOrganisationId() }])(
    'answers no other organisation or Space, whatever a table is noted for: %j',
    async (other) => {
      await fixture.add(Array.from({ length: 10 }, sentence))
      await engine.indexNew(every)
      const [terms, vector] = [await termsOf(1), await vectorOf()]
      expect((await both(scopeOf(), terms, vector)).found.length).toBeGreaterThan(0)
      const scope = scopeOf(other)
      await corpus.execute('update vector_segments set space_id = $1, organisation_id = $2', [
        scope.spaceId,
        scope.organisationId,
      ])
      expect((await both(scope, terms, vector)).found).toEqual([])
      expect(warnings).toEqual([])
    },
  )

  it('erases documents from the files of the storage, and keeps the others searchable', async () => {
    const [erased, ...others] = await addMany(6)
    await engine.indexNew(every)
    const [row] = await corpus.query<{ bytes: Uint8Array }>(
      'select vector_send(embedding) as bytes from embeddings_1 where document_id = $1 limit 1',
      [erased!.id],
    )
    const vector = Buffer.from(decodeVector(row!.bytes).buffer)
    expect(stored(vector).length).toBeGreaterThan(0)
    expect(stored(erased!.id).length).toBeGreaterThan(0)
    await corpus.execute('delete from documents where id = $1', [erased!.id])
    const documents = { organisationId: fixture.organisationId, documentIds: [erased!.id] }
    expect(await engine.countCopies(documents)).toBeGreaterThan(0)
    await engine.removeCopies(documents)
    expect(await engine.countCopies(documents)).toBe(0)
    expect([stored(erased!.id), stored(vector)]).toEqual([[], []])
    expect(stored(others[0]!.id).length).toBeGreaterThan(0)
    const { found, byVector } = await both(scopeOf(), [], await vectorOf(), 100)
    expect(found.length).toBe(byVector.length)
    expect(warnings).toEqual([])
  })

  it('removes deleted documents from the files at the next maintenance, where they are a tenth of a table', async () => {
    const few = () => fixture.add(Array.from({ length: 4 }, sentence))
    const [deleted, kept] = [await few(), await few()]
    await engine.indexNew({ vectorIndexFromChunks: 4 })
    expect(tableCount()).toBe(1)
    await corpus.execute('delete from documents where id = $1', [deleted.id])
    await engine.maintain({ vectorIndexFromChunks: 4, dropAfterSeconds: 0 })
    expect(stored(deleted.id)).toEqual([])
    expect(stored(kept.id).length).toBeGreaterThan(0)
  })

  it('and where they are few, when the table is older than 20 hours', async () => {
    const kept = await fixture.add(Array.from({ length: 40 }, sentence))
    const deleted = await fixture.add([sentence()])
    const from = { vectorIndexFromChunks: 40 }
    await engine.indexNew(from)
    await corpus.execute('delete from documents where id = $1', [deleted.id])
    const maintain = () => engine.maintain({ ...from, dropAfterSeconds: 0 })
    await maintain()
    expect(stored(deleted.id).length).toBeGreaterThan(0)
    await corpus.execute(`update vector_segments set changed_at = now() - interval '21 hours' where state = 'ready'`)
    await maintain()
    expect(stored(deleted.id)).toEqual([])
    expect(stored(kept.id).length).toBeGreaterThan(0)
  })

  it('searches the database while its storage is away, and makes the tables again', async () => {
    await addMany(8)
    await engine.indexNew(every)
    rmSync(folder, { recursive: true })
    const away = createLanceEngine({ database: corpus, storage: storage(), log })
    const terms = await termsOf(3)
    const search = async () =>
      (await (await away.openSpace(scopeOf(), timeLimit())).findCandidates({ terms, vectors: [], limit: 10 })).length
    const before = await search()
    expect(before).toBeGreaterThan(0)
    expect(warnings[0]).toMatch(/^LanceDB failed; the database is searched/)
    await away.maintain(every)
    await away.indexNew(every)
    warnings.length = 0
    expect(await search()).toBe(before)
    expect(warnings).toEqual([])
    expect(tableCount()).toBeGreaterThan(0)
    await away.close()
  })

  it('gives up a table whose build ended between its writes, and finds the documents meanwhile', async () => {
    await fixture.add(Array.from({ length: 8 }, sentence))
    const stop = new AbortController()
    const database = {
      ...corpus,
      for: (owner: string) => {
        const own = corpus.for(owner)
        // The table is complete, its note is not: as after a kill.
        const execute: typeof own.execute = (statement, ...rest) => {
          if (statement.includes('term_counts') && rest[0]?.[1] !== null) stop.abort(new Error('killed'))
          if (stop.signal.aborted) return Promise.reject(stop.signal.reason as Error)
          return own.execute(statement, ...rest)
        }
        return {
          ...own,
          execute,
          transaction: stop.signal.aborted ? () => Promise.reject(new Error('killed')) : own.transaction,
        }
      },
    } as typeof corpus
    const killed = createLanceEngine({ database, storage: storage(), log })
    await expect(killed.indexNew(every)).rejects.toThrow('killed')
    expect(tableCount()).toBe(1)
    const { found, byVector } = await both(scopeOf(), await termsOf(2), await vectorOf(), 100)
    expect(found.length).toBeGreaterThanOrEqual(byVector.length)
    await corpus.execute(`update vector_segments set changed_at = now() - interval '4 hours'`)
    await engine.maintain({ ...every, dropAfterSeconds: 0 })
    expect(tableCount()).toBe(0)
    await engine.indexNew(every)
    expect(tableCount()).toBe(1)
    await killed.close()
  })

  it('drops tables that the database does not know, and makes its own again', async () => {
    await fixture.add(Array.from({ length: 4 }, sentence))
    await engine.indexNew(every)
    // The database was set back to a state without the table.
    await corpus.execute('delete from vector_segments')
    await engine.maintain(every)
    expect(tableCount()).toBe(0)
    await engine.indexNew(every)
    expect(tableCount()).toBe(1)
  })

  it('replaces the indexes of the other engine when its tables cover the Space, and is replaced by it', async () => {
    await fixture.add(Array.from({ length: 30 }, sentence))
    const erased = await fixture.add([sentence(), sentence()])
    const other = createPostgresEngine({ database: corpus })
    const small = { vectorIndexFromChunks: 10, bm25IndexFromChunks: 10, dropAfterSeconds: 0 }
    await other.indexNew(small)
    await other.maintain(small)
    const own = () =>
      corpus.query<{ own: boolean }>(`select storage is not null as own from vector_segments where state = 'ready'`)
    const left = () =>
      corpus.query<{ name: string }>(
        `select relname as name from pg_class
         where relname ~ '^(vector_segment_[0-9]+|chunk_terms_bm25_.*)$' and relkind in ('r', 'i') order by 1`,
      )
    const before = await left()
    expect(before.length).toBeGreaterThan(0)
    expect(await own()).toEqual([{ own: false }])

    const opened: string[] = []
    const former: SearchEngine = {
      ...other,
      openSpace: (scope, signal) => {
        opened.push(scope.spaceId)
        return other.openSpace(scope, signal)
      },
    }
    const next = createLanceEngine({ database: corpus, storage: storage(), former: { engine: former, fromChunks: 10 } })
    const find = async () => {
      const space = await next.openSpace(scopeOf(), timeLimit())
      await space.findCandidates({ terms: await termsOf(3), vectors: [], limit: 10 })
    }
    await next.maintain(small)
    expect([await own(), await left()]).toEqual([[{ own: false }], before])
    await find()
    expect(opened).toHaveLength(1)
    const documents = { organisationId: fixture.organisationId, documentIds: [erased.id] }
    await corpus.execute('delete from documents where id = $1', [erased.id])
    expect(await next.countCopies(documents)).toBe(2)
    await next.removeCopies(documents)
    expect(await next.countCopies(documents)).toBe(0)
    await next.indexNew(small)
    await find()
    expect(opened).toHaveLength(1)
    expect(await own()).toHaveLength(2)
    await next.maintain(small)
    expect([await own(), await left()]).toEqual([[{ own: true }], []])
    await next.close()

    await other.indexNew(small)
    await other.maintain(small)
    expect(await own()).toEqual([{ own: false }])
  })

  it('keeps its tables in an object store that instances share, and erases from there', async () => {
    const s3 = await startFakeS3('bucket', { pageSize: 1_000 })
    const open = () =>
      createLanceEngine({
        database: corpus,
        storage: { ...storage(), address: 's3://bucket/lance', options: s3.storageOptions },
        log,
      })
    const [first, second] = [open(), open()]
    const [erased] = await addMany(6)
    await first.start(() => Promise.resolve(async () => {}))
    await first.indexNew(every)
    const terms = await termsOf(3)
    const found = async (searched: SearchEngine) => {
      const space = await searched.openSpace(scopeOf(), timeLimit())
      return (await space.findCandidates({ terms, vectors: [], limit: 100 })).map(({ chunkId }) => chunkId).toSorted()
    }
    expect((await found(first)).length).toBeGreaterThan(0)
    expect(await found(second)).toEqual(await found(first))
    const contain = () => [...s3.objects.values()].filter((bytes) => bytes.includes(erased!.id)).length
    expect(contain()).toBeGreaterThan(0)
    await corpus.execute('delete from documents where id = $1', [erased!.id])
    await second.removeCopies({ organisationId: fixture.organisationId, documentIds: [erased!.id] })
    expect(contain()).toBe(0)
    expect(await found(first)).toEqual(await found(second))
    expect(warnings).toEqual([])
    for (const one of [first, second]) await one.close()
    await s3.close()
  })

  it('does not start where its address cannot be used, and names the setting', async () => {
    const unusable = createLanceEngine({
      database: corpus,
      storage: {
        address: 's3://bucket/lance',
        options: {
          endpoint: 'http://127.0.0.1:1',
          allow_http: 'true',
          region: 'eu',
          access_key_id: 'a',
          secret_access_key: 'hidden',
        },
        cacheBytes: 2 ** 24,
      },
    })
    const start = unusable.start(() => Promise.resolve(async () => {}))
    await expect(start).rejects.toThrow(/^search\.lanceAddress: LanceDB cannot use s3:\/\/bucket\/lance/)
    await expect(start).rejects.not.toThrow('hidden')
  })
})
