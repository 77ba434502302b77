import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Chunk, chunkBlocks, type ExtractedBlock } from '../../src/documents/ingestion/index.ts'
import {
  createDocumentId,
  createOrganisationId,
  createUuid,
  type DocumentId,
  type OrganisationId,
  type SpaceId,
  silentLog,
  systemClock,
} from '../../src/platform/kernel/index.ts'
import {
  composeEmbeddingText,
  createMemoryEngine,
  createPostgresEngine,
  createSearchIndex,
  type Embedder,
  type SearchEngine,
  type SearchIndex,
} from '../../src/documents/retrieval/index.ts'
import { openDatabases } from '../../test/harness/statements.ts'

/** An index in a fresh embedded database (or on the server of --database-url), filled as ingestion fills it. */
export interface BenchIndex extends AsyncDisposable {
  index: SearchIndex
  embedder: Embedder
  organisationId: OrganisationId
  corpus: Awaited<ReturnType<typeof openDatabases>>['corpus']
  addDocument(
    this: BenchIndex,
    spaceId: SpaceId,
    name: string,
    chunks: readonly Chunk[],
    metadata?: object,
  ): Promise<DocumentId>
  /** Resolves when the background jobs of the index have nothing to do any more. */
  indexed(): Promise<void>
  /** Ends these jobs. */
  stopIndexing(): Promise<void>
}

const batchChunks = 64
const maintainEveryMs = 60_000
/** More than any measured size needs. */
const maximumBytes = 4 * 1024 ** 3

export async function createBenchIndex(embedder: Embedder, databaseUrl?: string): Promise<BenchIndex> {
  const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-'))
  const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
  const { corpus } = databases
  const engine =
    corpus.engine === 'embedded'
      ? createMemoryEngine({ database: corpus, maximumBytes })
      : createPostgresEngine({ database: corpus })
  const index = createSearchIndex({ database: corpus, engine })
  await index.embeddingVersions.prepare(embedder)
  const indexing = startIndexing(engine)
  const bench: BenchIndex = {
    index,
    embedder,
    organisationId: createOrganisationId(),
    corpus,
    async addDocument(spaceId, name, chunks, metadata) {
      // Of the object that is called: a copy with another engine has another index.
      const { index, organisationId } = this
      const documentId = createDocumentId()
      await corpus.execute(
        `insert into documents (id, organisation_id, space_id, name, format, mime_type, size_bytes, content_sha256, blob_key, metadata)
         values ($1, $2, $3, $4, 'txt', 'text/plain', 1, '\\x00', $5, $6::text::json)`,
        [documentId, organisationId, spaceId, name, createUuid(), metadata ? JSON.stringify(metadata) : null],
      )
      const run = await corpus.transaction((transaction) =>
        index.beginRun(transaction, { organisationId, spaceId, documentId }),
      )
      for (let start = 0; start < chunks.length; start += batchChunks) {
        const batch = chunks.slice(start, start + batchChunks)
        const vectors = await embedder.embed({
          texts: batch.map((chunk) => composeEmbeddingText({ ...chunk, documentName: name })),
          purpose: 'document',
          organisationId,
          spaceId,
          signal: AbortSignal.timeout(600_000),
        })
        await index.stageChunks({ run: run!, documentName: name, embedderId: embedder.id, chunks: batch, vectors })
      }
      await corpus.transaction(async (transaction) => {
        await index.publish(transaction, run!)
        await transaction.execute(`update documents set status = 'ready' where id = $1`, [documentId])
      })
      return documentId
    },
    indexed: indexing.finished,
    stopIndexing: indexing.stop,
    async [Symbol.asyncDispose]() {
      await indexing.stop()
      await index.close()
      await databases.close()
      fs.rmSync(dataFolder, { recursive: true, force: true })
    },
  }
  return bench
}

/** The two jobs of src/documents/ingestion/index-keeper.ts, without a queue. */
function startIndexing(engine: SearchEngine) {
  const stopped = new AbortController()
  const { signal } = stopped
  const createJob = (run: () => Promise<unknown>) => {
    let running: Promise<unknown> | undefined
    return () =>
      (running ??= run()
        .catch((error: unknown) => {
          if (!signal.aborted) console.error('a job of the index failed:', error)
        })
        .finally(() => (running = undefined)))
  }
  const indexNew = createJob(() => engine.indexNew({ signal }))
  const maintain = createJob(() => engine.maintain({ signal }))
  engine.onNewChunks(() => void indexNew())
  const timer = setInterval(() => {
    void indexNew()
    void maintain()
  }, maintainEveryMs)
  return {
    async finished() {
      await indexNew()
      await maintain()
    },
    async stop() {
      clearInterval(timer)
      engine.onNewChunks(() => {})
      stopped.abort()
      await Promise.all([indexNew(), maintain()])
    },
  }
}

export interface ChunkSize {
  targetTokens: number
  maximumTokens: number
  overlapTokens: number
}

/** The sizes that src/documents/ingestion/pipeline.ts uses. */
export const pipelineChunkSize: ChunkSize = { targetTokens: 350, maximumTokens: 500, overlapTokens: 30 }

export async function chunksOf(
  blocks: AsyncIterable<ExtractedBlock[]>,
  embedder: Embedder,
  size: ChunkSize,
): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of chunkBlocks(blocks, { ...size, countTokens: embedder.countTokens })) chunks.push(chunk)
  return chunks
}

/** A text as an extractor returns it: paragraphs, separated in the text by empty lines. */
export async function* paragraphsOf(text: string): AsyncGenerator<ExtractedBlock[]> {
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim())
  yield paragraphs.filter((paragraph) => paragraph !== '').map((paragraph) => ({ kind: 'paragraph', text: paragraph }))
}
