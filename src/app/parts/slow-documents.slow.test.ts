import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { newDocument } from '../../../test/harness/document-rows.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import {
  type BlobStore,
  createDocumentStore,
  type DocumentStore,
  processSlowDocumentJob,
} from '../../documents/documents/index.ts'
import { checkImportedJob, createPipeline } from '../../documents/ingestion/index.ts'
import { createJobQueue, type JobQueue } from '../../platform/jobs/index.ts'
import {
  createDocumentId,
  createOrganisationId,
  createSpaceId,
  type DocumentId,
  type OrganisationId,
  raceSignal,
  silentLog,
  systemClock,
} from '../../platform/kernel/index.ts'
import {
  createHashingEmbedder,
  createPostgresEngine,
  createSearchIndex,
  type SearchIndex,
} from '../../documents/retrieval/index.ts'
import { chunkOf } from '../../documents/retrieval/testing/index-fixture.ts'
import { workOnDocuments } from './document-work.ts'

/** Documents that take long to read, in the queues of a service with one worker of large documents. */

type Pipeline = Parameters<typeof createPipeline>[0]

let databases: TestDatabases
let jobs: JobQueue
let index: SearchIndex
let documents: DocumentStore
const embedder = createHashingEmbedder()
const [slow, other] = [createOrganisationId(), createOrganisationId()]
const clock = createFakeClock()
/** The files that are read now. */
const reading: string[] = []
const slowFileIsRead = Promise.withResolvers<void>()
let checks = 0
const checkEnds = Promise.withResolvers<void>()
/** Pages that were recognised, such as `scan-40 7`. */
const recognised: string[] = []

/**
 * The file `slow` gives nothing until its promise resolves; one such as `scan-40` has as many pages to recognise, which takes 4 s for each; others
 * give one chunk at once.
 */
const extractors = {
  extract({ filePath, fromChunk = 0, signal, onStart, recognition, onRecognised }) {
    async function readPages(pages: number, name: string) {
      const kept = new Set(recognition?.keptPages.map(({ page }) => page))
      for (let page = 1; page <= pages; page++) {
        if (kept.has(page)) continue
        await clock.sleep(4_000, signal)
        recognised.push(`${name} ${page}`)
        onRecognised?.({ page, lines: [], confidence: 90, languages: ['eng'], height: 100, dotsPerInch: 200 })
      }
    }
    async function* chunks() {
      reading.push(filePath)
      onStart?.()
      try {
        if (filePath.startsWith('slow')) await raceSignal(slowFileIsRead.promise, signal!)
        const [scan, pages] = /^scan-(\d+)/.exec(filePath) ?? []
        if (scan && fromChunk === 0) await readPages(Number(pages), scan)
      } finally {
        reading.splice(reading.indexOf(filePath), 1)
      }
      if (fromChunk === 0) yield [chunkOf('One line.', 0)]
    }
    return { chunks: chunks(), summary: Promise.resolve({ pages: null, warnings: [] }) }
  },
} as Partial<Pipeline['extractors']> as Pipeline['extractors']

beforeAll(async () => {
  databases = await openTestDatabases()
  const { corpus: database } = databases
  index = createSearchIndex({ database, engine: createPostgresEngine({ database }) })
  await index.embeddingVersions.prepare(embedder)
  jobs = createJobQueue({ database, clock: systemClock, log: silentLog })
  documents = createDocumentStore({ database, jobs, removeFromIndex: index.deleteDocument })
  const pipeline = createPipeline({
    database,
    documents,
    blobs: { withFile: (key, _signal, use) => use(key) } as Pick<BlobStore, 'withFile'> as BlobStore,
    extractors,
    index,
    embedder: () => embedder,
    recognition: () => ({ ocr: 'auto', ocrLanguages: [] }),
    clock,
    log: silentLog,
    observer: { processed() {} },
  })
  const run = () => {
    checks++
    return checkEnds.promise
  }
  workOnDocuments(jobs, { pipeline, check: { run, giveUp: async () => {} }, workers: 2 })
})
afterAll(async () => {
  await jobs?.close()
  await databases?.drop()
})

async function upload(
  name: string,
  organisationId: OrganisationId,
  sizeBytes: number,
  format: 'txt' | 'pdf' = 'txt',
): Promise<DocumentId> {
  const id = createDocumentId()
  const mimeType = format === 'txt' ? 'text/plain' : 'application/pdf'
  const given = { id, organisationId, spaceId: createSpaceId(), name, format, mimeType, sizeBytes }
  await documents.insert(newDocument({ ...given, blobKey: `${name}-${id}` }))
  return id
}

const isReady = (id: DocumentId) => async () => (await documents.loadForProcessing('', id))?.status === 'ready'
const until = (condition: () => boolean | Promise<boolean>) => vi.waitUntil(condition, { timeout: 20_000 })
const [large, small] = [10_000_000, 100]

it('leaves its worker to large and small documents of others, and ends when it is read', async () => {
  const slowId = await upload('slow', slow, large)
  await until(() => reading.length === 1)
  const ids = [await upload('large', other, large), await upload('small', other, small)]
  await until(isReady(ids[1]!))
  expect(await isReady(ids[0]!)()).toBe(false)
  await until(async () => {
    await clock.advance(11_000)
    return isReady(ids[0]!)()
  })
  // It is read again by the worker of slow documents, next to which large ones have their place.
  await until(() => reading.length === 1)
  const [job] = await databases.corpus.query<{ kind: string }>(`select kind from job where key like $1`, [`%${slowId}`])
  expect(job?.kind).toBe(processSlowDocumentJob)
  await until(isReady(await upload('large', other, large)))
  slowFileIsRead.resolve()
  await until(isReady(slowId))
})

it('interrupts a long scan between its pages for the scan of another organisation, and reads no page twice', async () => {
  const moved = async (id: DocumentId) => {
    const [job] = await databases.corpus.query<{ kind: string }>(`select kind from job where key like $1`, [`%${id}`])
    return job?.kind === processSlowDocumentJob
  }
  const passes = (condition: () => Promise<boolean>) =>
    vi.waitUntil(
      async () => {
        await clock.advance(1_000)
        return condition()
      },
      { timeout: 60_000, interval: 5 },
    )
  const long = await upload('scan-60', slow, large, 'pdf')
  await until(() => reading.length === 1)
  // Each one moves to the worker of slow documents because the next one waits.
  const short = await upload('scan-12', other, large, 'pdf')
  await passes(() => moved(long))
  await until(() => reading.length === 2)
  const third = await upload('large', createOrganisationId(), large)
  await passes(isReady(third))
  expect(await moved(short)).toBe(true)
  await passes(isReady(short))
  const pagesOf = (scan: string) => recognised.filter((page) => page.startsWith(`${scan} `))
  // Slices of about four pages, in turns.
  expect(pagesOf('scan-60').length).toBeLessThan(40)
  await passes(isReady(long))
  expect(pagesOf('scan-60')).toEqual(Array.from({ length: 60 }, (_, index) => `scan-60 ${index + 1}`))
  expect(pagesOf('scan-12')).toEqual(Array.from({ length: 12 }, (_, index) => `scan-12 ${index + 1}`))
  expect(await databases.corpus.query('select page from recognised_pages')).toEqual([])
})

it('leaves them to others while an imported document is compared with its file', async () => {
  const key = `${checkImportedJob}:${createDocumentId()}`
  const fairnessKeys = { organisationId: slow, spaceId: createSpaceId() }
  await databases.corpus.transaction((transaction) =>
    jobs.enqueue(transaction, { kind: checkImportedJob, key, payload: {}, fairnessKeys }),
  )
  await until(() => checks === 1)
  const ids = [await upload('large', other, large), await upload('small', other, small)]
  for (const id of ids) await until(isReady(id))
  expect(await jobs.exists(key)).toBe(true)
  checkEnds.resolve()
  await until(async () => !(await jobs.exists(key)))
})
