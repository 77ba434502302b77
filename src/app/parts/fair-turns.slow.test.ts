import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { newDocument } from '../../../test/harness/document-rows.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { type BlobStore, createDocumentStore } from '../../documents/documents/index.ts'
import { createPipeline } from '../../documents/ingestion/index.ts'
import { createHashingEmbedder, createPostgresEngine, createSearchIndex } from '../../documents/retrieval/index.ts'
import { chunkOf } from '../../documents/retrieval/testing/index-fixture.ts'
import { createJobQueue } from '../../platform/jobs/index.ts'
import { createOrganisationId, createSpaceId, type OrganisationId, silentLog } from '../../platform/kernel/index.ts'
import { workOnDocuments } from './document-work.ts'

/**
 * How much of an organisation's work runs before the documents of another one are read. Queue, pipeline, workers and index are real; each batch of chunks
 * takes a second of a clock that moves with the work, so that the seconds are work on one core and not time of the machine.
 */

type Extractors = Parameters<typeof createPipeline>[0]['extractors']

let databases: TestDatabases
beforeAll(async () => void (databases = await openTestDatabases()))
afterAll(() => databases?.drop())

const embedder = createHashingEmbedder()
const kibibyte = 1024
const smallFile = { sizeBytes: 4 * kibibyte, batches: 1 }
const text600 = { sizeBytes: 600 * kibibyte, batches: 7 }
const largeFile = { sizeBytes: 20_000 * kibibyte, batches: 400 }

function openService() {
  const clock = createFakeClock()
  const database = databases.corpus
  const jobs = createJobQueue({ database, clock, log: silentLog, random: () => 0 })
  const index = createSearchIndex({ database, engine: createPostgresEngine({ database }) })
  const documents = createDocumentStore({ database, jobs, removeFromIndex: index.deleteDocument })
  const batchesOf = new Map<string, number>()
  /** The Space of each batch, in the order of work. */
  const work: string[] = []
  let afterBatch = async () => {}
  const pipeline = createPipeline({
    database,
    documents,
    index,
    clock,
    blobs: { withFile: (key, _signal, use) => use(key) } as Pick<BlobStore, 'withFile'> as BlobStore,
    extractors: {
      extract: ({ filePath, fromChunk = 0 }) => ({
        chunks: chunksFrom(fromChunk, batchesOf.get(filePath)!),
        summary: Promise.resolve({ pages: null, warnings: [] }),
      }),
    } as Partial<Extractors> as Extractors,
    embedder: () => ({
      ...embedder,
      async embed(request) {
        await clock.advance(1_000)
        work.push(request.spaceId!)
        await afterBatch()
        return embedder.embed(request)
      },
    }),
    log: silentLog,
    observer: { processed() {} },
  })
  const check = { run: () => Promise.reject(new Error('nothing is imported')), giveUp: async () => {} }
  return {
    jobs,
    work,
    prepare: () => index.embeddingVersions.prepare(embedder),
    onBatch: (then: () => Promise<void>) => (afterBatch = then),
    /** Resolves to the document's Space, which has no other. */
    async upload(organisationId: OrganisationId, { sizeBytes, batches }: typeof smallFile) {
      const document = newDocument({ organisationId, spaceId: createSpaceId(), sizeBytes })
      batchesOf.set(document.blobKey, batches)
      await documents.insert(document)
      return document.spaceId
    },
    start: () => workOnDocuments(jobs, { pipeline, check, workers: 2 }),
  }
}

async function* chunksFrom(fromChunk: number, count: number) {
  for (let index = fromChunk; index < count; index++) yield [chunkOf(`Paragraph ${index}.`, index)]
}

it('a small file is read within 10 s of work and a text of 600 KB within 30 s, whatever another organisation uploads', async () => {
  const [busy, other] = [createOrganisationId(), createOrganisationId()]
  const { jobs, work, prepare, onBatch, upload, start } = openService()
  await prepare()
  for (let count = 0; count < 10; count++) await upload(busy, largeFile)
  for (let count = 0; count < 40; count++) await upload(busy, smallFile)
  let arrived = Infinity
  let spaces: string[] = []
  onBatch(async () => {
    if (arrived < Infinity || work.length < 30) return
    arrived = work.length
    spaces = [await upload(other, smallFile), await upload(other, text600)]
  })
  start()
  // Twice as much work as the text may wait for, after the first 30 batches.
  await expect.poll(() => work.length, { timeout: 60_000 }).toBeGreaterThan(90)
  await jobs.close()
  const batches = spaces.map((space) => work.flatMap((of, at) => (of === space ? [at + 1 - arrived] : [])))
  expect(batches.map(({ length }) => length)).toEqual([smallFile.batches, text600.batches])
  expect(batches[0]!.at(-1)).toBeLessThanOrEqual(10)
  expect(batches[1]!.at(-1)).toBeLessThanOrEqual(30)
}, 120_000)
