import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { newDocument } from '../../../test/harness/document-rows.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { type BlobStore, createDocumentStore, type DocumentStore } from '../documents/index.ts'
import type { Job } from '../../platform/jobs/index.ts'
import { createJobQueue } from '../../platform/jobs/index.ts'
import {
  AppError,
  type Clock,
  createOrganisationId,
  createSpaceId,
  type DocumentId,
  silentLog,
  systemClock,
} from '../../platform/kernel/index.ts'
import {
  createHashingEmbedder,
  createPostgresEngine,
  createSearchIndex,
  createRetrieval,
  type Embedder,
  type SearchIndex,
} from '../retrieval/index.ts'
import { chunkBlocks } from './chunking/chunk-blocks.ts'
import { chunkingFor } from './chunking/chunk-sizes.ts'
import { type Chunk, type ExtractedBlock, ExtractionError, type ExtractionWarning } from './extraction.ts'
import { createFileExtractor } from './extractors/extract-file.ts'
import { defaultLimits } from './isolation/limits.ts'
import type { ExtractorPool } from './isolation/extractor-pool.ts'
import { ExtractorCrashError, MemoryPressureError } from './isolation/extraction-run.ts'
import { createPipeline } from './pipeline.ts'

/** What the job of a document does when things go wrong around it: real database and index, extraction and embedding scripted. */

let databases: TestDatabases
let index: SearchIndex
let documents: DocumentStore
const embedder = createHashingEmbedder()
const organisationId = createOrganisationId()
const spaceId = createSpaceId()

beforeAll(async () => {
  databases = await openTestDatabases()
  index = createSearchIndex({
    database: databases.corpus,
    engine: createPostgresEngine({ database: databases.corpus }),
  })
  await index.embeddingVersions.prepare(embedder)
  const jobs = createJobQueue({ database: databases.corpus, clock: systemClock, log: silentLog })
  documents = createDocumentStore({ database: databases.corpus, jobs, removeFromIndex: index.deleteDocument })
})
beforeEach(async () => {
  await databases.corpus.execute('delete from documents')
})
afterAll(() => databases?.drop())

const blobs = { withFile: (_key, _signal, use) => use('/nowhere') } as Pick<BlobStore, 'withFile'> as BlobStore

async function* paragraphs(count: number, then?: () => void | Promise<void>): AsyncGenerator<ExtractedBlock[]> {
  for (let n = 0; n < count; n++) {
    yield [{ kind: 'paragraph', text: `Paragraph ${n}. ${'It says something. '.repeat(60)}` }]
  }
  await then?.()
}

async function* batchesOf(blocks: AsyncIterable<ExtractedBlock[]>, fromChunk: number): AsyncGenerator<Chunk[]> {
  const chunking = { ...chunkingFor(embedder), countTokens: embedder.countTokens }
  for await (const chunk of chunkBlocks(blocks, chunking)) if (chunk.index >= fromChunk) yield [chunk]
}

function pipelineOf({
  blocks = () => paragraphs(5),
  counted = () => paragraphs(0),
  warnings = [],
  embed = embedder.embed,
  embedderId = embedder.id,
  clock = systemClock,
}: {
  blocks?: () => AsyncIterable<ExtractedBlock[]>
  counted?: () => AsyncIterable<ExtractedBlock[]>
  warnings?: ExtractionWarning[]
  embed?: Embedder['embed']
  embedderId?: string
  clock?: Clock
}) {
  const summary = Promise.resolve({ pages: null, warnings })
  const extractors = {
    // The pass that only counts has no chunks.
    extract: ({ fromChunk = 0 }) => ({
      chunks: batchesOf(fromChunk === Infinity ? counted() : blocks(), fromChunk),
      summary,
    }),
  } as Partial<ExtractorPool> as ExtractorPool
  const processed: string[] = []
  const pipeline = createPipeline({
    database: databases.corpus,
    documents,
    blobs,
    extractors,
    index,
    embedder: () => ({ ...embedder, id: embedderId, embed }),
    clock,
    log: silentLog,
    observer: { processed: (status, code) => processed.push(`${status} ${code}`) },
  })
  return { ...pipeline, processed }
}

async function insert(): Promise<DocumentId> {
  const document = newDocument({ organisationId, spaceId })
  await documents.insert(document)
  return document.id
}

function jobOf(documentId: string, attempt = 1, signal = new AbortController().signal): Job {
  const [othersWait, lighterWait] = [async () => false, async () => false]
  return {
    kind: 'process-document',
    key: documentId,
    organisationId,
    payload: { documentId },
    attempt,
    signal,
    othersWait,
    lighterWait,
  }
}

const load = (id: string) => documents.load(organisationId, id)
const chunksOf = async (id: string) =>
  (
    await databases.corpus.query<{ n: number }>('select count(*)::int as n from chunks where document_id = $1', [id])
  )[0]!.n

it('a run leaves the document ready with its chunks, and another run of the same job changes nothing', async () => {
  const id = await insert()
  const warning: ExtractionWarning = { code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [3] }
  const { process, processed } = pipelineOf({ warnings: [warning] })
  await process(jobOf(id))
  expect(await load(id)).toMatchObject({ status: 'ready', error: null })
  const chunks = await chunksOf(id)
  expect(chunks).toBeGreaterThan(2)
  await process(jobOf(id, 2))
  expect(await chunksOf(id)).toBe(chunks)
  expect(processed).toEqual(['ready none'])
  const [row] = await documents.loadProgressOf(organisationId, spaceId, [id])
  expect(row).toMatchObject({
    chunkCount: chunks,
    warnings: [warning],
    stage: 'done',
  })
})

it('a question over a column of a wide csv finds chunks of many rows with this column', async () => {
  const names = Array.from({ length: 57 }, (_, column) => (column === 0 ? 'Country' : `Figure ${column}`))
  names[40] = 'Currency'
  const rows = Array.from({ length: 250 }, (_, row) =>
    names.map((name, column) => {
      if (column === 0) return `Land ${row} of the Sea`
      return name === 'Currency' ? (row % 4 === 0 ? 'Euro' : 'Crown') : String(row * column * 7)
    }),
  )
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-wide-'))
  const filePath = path.join(folder, 'countries.csv')
  const content = [names, ...rows].map((cells) => cells.join(',')).join('\n')
  await writeFile(filePath, content)
  const limits = defaultLimits('csv', content.length)
  const input = { filePath, sizeBytes: content.length, limits, report: { progress() {}, warn() {} } }
  const id = await insert()
  await pipelineOf({ blocks: () => createFileExtractor().extract('csv', input) }).process(jobOf(id))
  await rm(folder, { recursive: true })
  const search = (query: string) =>
    createRetrieval({ index, embedder }).search({
      organisationId,
      spaceId,
      filter: null,
      query,
      limit: 8,
      signal: AbortSignal.timeout(60_000),
    })
  const passages = await search('Which countries use the Euro as their Currency?')
  const found = new Set<string>()
  for (const { text, tableHeader, rowFrom, rowTo } of passages) {
    const currency = (tableHeader ?? '').split(' | ').indexOf('Currency')
    if (currency === -1) continue
    const lines = text.split('\n').map((line) => line.split(' | '))
    expect(lines.length).toBeGreaterThanOrEqual(10)
    expect(lines).toHaveLength(rowTo! - rowFrom! + 1)
    for (const cells of lines) if (cells[currency] === 'Euro') found.add(cells[0]!)
  }
  expect(found.size).toBeGreaterThan(40)
  const [passage] = await search('What is the Currency of Land 44 of the Sea?')
  expect(passage!.text).toContain('Land 44 of the Sea')
})

it('a rename during the run creates the job that updates search with the new name', async () => {
  const renames = async (id: string) =>
    (
      await databases.corpus.query<{ n: number }>(
        `select count(*)::int as n from job where kind = 'rename-document' and payload->>'documentId' = $1`,
        [id],
      )
    )[0]!.n
  const rename = (id: string, name: string) =>
    documents.update(organisationId, id, { name, metadata: undefined }).then(() => {})
  const [kept, meanwhile] = [await insert(), await insert()]
  await pipelineOf({}).process(jobOf(kept))
  expect(await renames(kept)).toBe(0)
  await pipelineOf({ blocks: () => paragraphs(5, () => rename(meanwhile, 'b.txt')) }).process(jobOf(meanwhile))
  expect(await load(meanwhile)).toMatchObject({ status: 'ready', name: 'b.txt' })
  expect(await renames(meanwhile)).toBe(1)
  await documents.update(organisationId, kept, { name: undefined, metadata: null })
  await rename(kept, 'a.txt')
  expect(await renames(kept)).toBe(0)
  await rename(kept, 'c.txt')
  expect(await renames(kept)).toBe(1)
})

it('an interrupted run leaves nothing searchable, and the next one starts from the beginning', async () => {
  const id = await insert()
  const failing = pipelineOf({ blocks: () => paragraphs(200, () => Promise.reject(new Error('power cut'))) })
  await expect(failing.process(jobOf(id))).rejects.toThrow('power cut')
  expect(await chunksOf(id)).toBeGreaterThan(50)
  expect((await index.audit()).searchableButNotReady).toBe(0)
  await pipelineOf({}).process(jobOf(id, 2))
  expect(await chunksOf(id)).toBeLessThan(50)
  expect(await load(id)).toMatchObject({ status: 'ready' })
})

describe('a document of many chunks while another organisation waits', () => {
  const blocks = () => paragraphs(40)
  const contentsOf = (id: string) =>
    databases.corpus.query<{ index: number; content: string; name: string }>(
      `select chunk_index as index, content, document_name as name from chunks where document_id = $1 order by chunk_index`,
      [id],
    )
  /** Each chunk takes four seconds to embed. */
  function slowPipeline(embedderId?: string) {
    const clock = createFakeClock()
    const embedded: string[] = []
    const embed: Embedder['embed'] = async (request) => {
      embedded.push(...request.texts)
      await clock.advance(4_000)
      return embedder.embed(request)
    }
    return { embedded, ...pipelineOf({ blocks, embed, clock, ...(embedderId && { embedderId }) }) }
  }
  const contended = (id: string, payload = {}): Job => ({
    ...jobOf(id),
    payload: { documentId: id, ...payload },
    othersWait: async () => true,
  })

  it('is interrupted and continued until it has the same chunks, each embedded once', async () => {
    const [whole, sliced] = [await insert(), await insert()]
    await pipelineOf({ blocks }).process(jobOf(whole))
    const { process, processed, embedded } = slowPipeline()
    let slices = 0
    let payload: Record<string, unknown> | undefined = {}
    for (; payload; slices++) {
      const move = await process(contended(sliced, payload))
      expect(move?.moveTo ?? 'process-document').toBe('process-document')
      payload = move?.payload
      if (slices === 0) await documents.update(organisationId, sliced, { name: 'renamed.txt', metadata: undefined })
    }
    expect(slices).toBeGreaterThan(3)
    expect(await contentsOf(sliced)).toEqual(await contentsOf(whole))
    expect(embedded).toHaveLength((await contentsOf(whole)).length)
    expect(processed).toEqual(['ready none'])
    // The chunks have one name, and the job that gives them the new one exists.
    const [renames] = await databases.corpus.query(
      `select 1 from job where kind = 'rename-document' and payload->>'documentId' = $1`,
      [sliced],
    )
    expect(renames).toBeDefined()
  })

  it('is interrupted after its next batch if that organisation has used clearly less time, and continued', async () => {
    const id = await insert()
    const { process, processSlow, embedded } = slowPipeline()
    const lighter = { ...contended(id), lighterWait: async () => true }
    const first = await process(lighter)
    expect(first?.moveTo).toBe('process-document')
    expect(embedded).toHaveLength(1)
    await process({ ...contended(id, first!.payload), lighterWait: async () => true })
    expect(embedded).toHaveLength(2)
    await processSlow({ ...contended(id, first!.payload), lighterWait: async () => true })
    expect(embedded.length).toBeGreaterThan(4)
    expect(new Set(embedded).size).toBe(embedded.length)
  })

  it('is not interrupted while nobody waits', async () => {
    const id = await insert()
    expect(await slowPipeline().process(jobOf(id))).toBeUndefined()
    expect(await load(id)).toMatchObject({ status: 'ready' })
  })

  it('begins again where its chunks would be others now, or where its run has ended', async () => {
    const id = await insert()
    const move = await slowPipeline().process(contended(id))
    const staged = await chunksOf(id)
    expect(staged).toBeGreaterThan(0)
    const other = await pipelineOf({ embedderId: 'another embedder', blocks })
      .process(contended(id, move!.payload))
      .then(
        () => '',
        (error: unknown) => String(error),
      )
    // The index has no table for its vectors; the earlier chunks are gone.
    expect([other.includes('another embedder'), await chunksOf(id)]).toEqual([true, 0])
    await pipelineOf({ blocks }).process({ ...jobOf(id), payload: { documentId: id, ...move!.payload } })
    expect((await contentsOf(id)).map(({ index }) => index)).toEqual((await contentsOf(id)).map((_, at) => at))
    expect(await load(id)).toMatchObject({ status: 'ready' })
  })
})

it('a fault of the file fails it at once, another error is thrown for a retry', async () => {
  const bad = await insert()
  const fault = new ExtractionError('encrypted_pdf', 'Remove the password and upload it again.')
  await pipelineOf({ blocks: () => paragraphs(1, () => Promise.reject(fault)) }).process(jobOf(bad))
  expect(await load(bad)).toMatchObject({ status: 'failed', error: { code: 'encrypted_pdf', message: fault.message } })
  const empty = await insert()
  await pipelineOf({ blocks: () => paragraphs(0) }).process(jobOf(empty))
  expect(await load(empty)).toMatchObject({ status: 'failed', error: { code: 'no_text' } })

  const ours = await insert()
  const away = new AppError('upstream_timeout', 'The model does not answer.')
  const pipeline = pipelineOf({ embed: () => Promise.reject(away) })
  await expect(pipeline.process(jobOf(ours, 7))).rejects.toBe(away)
  expect(await load(ours)).toMatchObject({ status: 'processing' })
  await pipeline.giveUp(jobOf(ours, 12), away)
  expect(await load(ours)).toMatchObject({ status: 'failed', error: { code: 'embedding_failed' } })
})

it('a file of too many chunks fails before any of them is embedded', async () => {
  const id = await insert()
  const tooMany = new ExtractionError('too_complex', 'The file makes more than 9 passages for search. Split it.')
  const texts: string[] = []
  const embed: Embedder['embed'] = (request) => {
    texts.push(...request.texts)
    return embedder.embed(request)
  }
  await pipelineOf({ embed, counted: () => paragraphs(0, () => Promise.reject(tooMany)) }).process(jobOf(id))
  expect(await load(id)).toMatchObject({ status: 'failed', error: { code: 'too_complex', message: tooMany.message } })
  expect(texts).toEqual([])
})

it('exhausted credits fail it with their error code', async () => {
  const id = await insert()
  const broke = new AppError('insufficient_quota', 'The monthly budget is used up.')
  await pipelineOf({ embed: () => Promise.reject(broke) }).process(jobOf(id))
  expect(await load(id)).toMatchObject({ status: 'failed', error: { code: 'insufficient_quota' } })
})

it('a file that ends its reader each time fails after four tries', async () => {
  const id = await insert()
  const pipeline = pipelineOf({ blocks: () => paragraphs(1, () => Promise.reject(new ExtractorCrashError('gone'))) })
  for (const attempt of [1, 2, 3]) await expect(pipeline.process(jobOf(id, attempt))).rejects.toThrow('gone')
  await pipeline.process(jobOf(id, 4))
  expect(await load(id)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } })
})

it('a delete at any moment of the run wins, and the run ends without an error', async () => {
  for (const moment of ['before embedding', 'before publishing'] as const) {
    const id = await insert()
    const remove = async () => void (await documents.remove(organisationId, id))
    const embed: Embedder['embed'] = async (request) => {
      if (moment === 'before embedding') await remove()
      return embedder.embed(request)
    }
    const blocks = () => paragraphs(5, moment === 'before publishing' ? remove : undefined)
    const { process, processed } = pipelineOf({ embed, blocks })
    await process(jobOf(id))
    expect([moment, await load(id), await chunksOf(id), processed]).toEqual([moment, undefined, 0, []])
  }
  const audit = await index.audit()
  expect(Object.values(audit).every((count) => count === 0)).toBe(true)
})

it('a stop in the middle does not count as a failure of the document', async () => {
  const id = await insert()
  const stop = new AbortController()
  const blocks = () =>
    paragraphs(3, () => {
      stop.abort(new Error('shutdown'))
      throw new ExtractionError('corrupt_file', 'cut off by the stop')
    })
  await expect(pipelineOf({ blocks }).process(jobOf(id, 1, stop.signal))).rejects.toThrow()
  expect(await load(id)).toMatchObject({ status: 'processing' })
})

it('a document that needs too much memory next to others moves to a slower lane and is continued there', async () => {
  const id = await insert()
  const large = pipelineOf({ blocks: () => paragraphs(100, () => Promise.reject(new MemoryPressureError('too much'))) })
  const first = await large.processSmall(jobOf(id))
  expect(first).toMatchObject({ moveTo: 'process-document' })
  const staged = await chunksOf(id)
  const second = await large.process({ ...jobOf(id), payload: { documentId: id, ...first!.payload } })
  expect(second).toMatchObject({ moveTo: 'process-slow-document' })
  expect(await chunksOf(id)).toBe(staged)
  await pipelineOf({ blocks: () => paragraphs(100) }).processSlow({
    ...jobOf(id),
    payload: { documentId: id, ...second!.payload },
  })
  expect(await load(id)).toMatchObject({ status: 'ready' })
  // The last chunk is complete at the end of the file.
  expect(await chunksOf(id)).toBe(staged + 1)
})

it('a small document that takes long, or ends its reader, moves to the workers of large ones and leaves no chunks', async () => {
  for (const fault of [
    new ExtractionError('processing_timeout', 'It took too long.'),
    new ExtractorCrashError('gone'),
  ]) {
    const id = await insert()
    const slow = pipelineOf({ blocks: () => paragraphs(100, () => Promise.reject(fault)) })
    expect(await slow.processSmall(jobOf(id))).toEqual({ moveTo: 'process-document' })
    expect(await load(id)).toMatchObject({ status: 'processing' })
    await pipelineOf({}).process(jobOf(id))
    expect(await load(id)).toMatchObject({ status: 'ready' })
    const [row] = await documents.loadProgressOf(organisationId, spaceId, [id])
    expect(await chunksOf(id)).toBe(row!.chunkCount)
  }
})
