import type { Database } from '../../../platform/database/index.ts'
import { makeTemporaryFolder } from '../../../../test/harness/temporary-folder.ts'
import { openTestDatabases, type TestDatabases, testServerUrl } from '../../../../test/harness/database.ts'
import {
  createDocumentId,
  createOrganisationId,
  createSpaceId,
  createUuid,
  type DocumentId,
  type OrganisationId,
  type SpaceId,
} from '../../../platform/kernel/index.ts'
import {
  composeEmbeddingText,
  createHashingEmbedder,
  createLanceEngine,
  createMemoryEngine,
  createPostgresEngine,
  createSearchIndex,
  type Embedder,
  type IndexedChunk,
  type IndexRun,
  isLanceInstalled,
  type SearchEngine,
  type SearchIndex,
} from '../index.ts'

/** A migrated database with an index, and short functions that index documents as ingestion does. */
export interface IndexFixture extends AsyncDisposable {
  databases: TestDatabases
  index: SearchIndex
  embedder: Embedder
  organisationId: OrganisationId
  spaceId: SpaceId
  /** A document row in `processing`, without chunks. */
  createDocument(document?: Partial<FixtureDocument>): Promise<FixtureDocument>
  /** Stages chunks without publishing them. */
  stage(document: FixtureDocument, texts: readonly string[], embedder?: Embedder): Promise<IndexRun>
  /** Publishes and sets `ready`, in one transaction, as the pipeline does. */
  publish(run: IndexRun): Promise<void>
  /** All of the above. */
  add(texts: readonly string[], document?: Partial<FixtureDocument>): Promise<FixtureDocument>
}

const postgres: EngineFactory = (database) => createPostgresEngine({ database })

/** The engines that the database of this run can have; a Space in memory and one that is scanned instead. LanceDB where it is installed. */
export const engines: [name: string, create: EngineFactory][] = [
  testServerUrl() === undefined
    ? ['by exact scan', (database) => createMemoryEngine({ database, maximumBytes: 0 })]
    : ['in PostgreSQL', postgres],
  ['in memory', (database) => createMemoryEngine({ database, maximumBytes: 2 ** 30, fromChunks: 1 })],
  ...(isLanceInstalled() ? [['in LanceDB', createEagerLanceEngine] as [string, EngineFactory]] : []),
]

/** Copies every document into a table before each search, which finds nothing in the database then. */
export function createEagerLanceEngine(database: Database): SearchEngine {
  const folder = makeTemporaryFolder('lance')
  const engine = createLanceEngine({ database, storage: { address: folder, options: {}, cacheBytes: 2 ** 24 } })
  const copy = () => engine.indexNew({ vectorIndexFromChunks: 1 })
  return {
    ...engine,
    async openSpace(scope, signal) {
      await copy()
      return engine.openSpace(scope, signal)
    },
    // Outside of the time limit of a search.
    warm: () => copy().then(() => 0),
  }
}

export type EngineFactory = (database: Database) => SearchEngine

export interface FixtureDocument {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  name: string
  url: string | null
  metadata: Record<string, unknown> | null
}

export async function createIndexFixture({
  embedder = createHashingEmbedder(),
  createEngine = postgres,
  ...given
}: { embedder?: Embedder; createEngine?: EngineFactory; databases?: TestDatabases } = {}): Promise<IndexFixture> {
  const databases = given.databases ?? (await openTestDatabases())
  const { corpus } = databases
  const index = createSearchIndex({ database: corpus, engine: createEngine(corpus) })
  await index.embeddingVersions.prepare(embedder)
  const organisationId = createOrganisationId()
  const spaceId = createSpaceId()

  const fixture: IndexFixture = {
    databases,
    index,
    embedder,
    organisationId,
    spaceId,
    async createDocument(given = {}) {
      const document = {
        id: createDocumentId(),
        organisationId,
        spaceId,
        name: 'file.txt',
        url: null,
        metadata: null,
        ...given,
      }
      await corpus.execute(
        `insert into documents (id, organisation_id, space_id, name, source_url, format, mime_type, size_bytes,
           content_sha256, blob_key, metadata) values ($1, $2, $3, $4, $5, 'txt', 'text/plain', 1, '\\x00', $6, $7::text::json)`,
        [
          document.id,
          document.organisationId,
          document.spaceId,
          document.name,
          document.url,
          createUuid(),
          document.metadata && JSON.stringify(document.metadata),
        ],
      )
      return document
    },
    async stage(document, texts, made = embedder) {
      const run = await corpus.transaction((transaction) =>
        index.beginRun(transaction, { ...document, documentId: document.id }),
      )
      if (!run) throw new Error('the document is gone or finished')
      const chunks = texts.map((text, position) => chunkOf(text, position))
      const vectors = await made.embed({
        texts: chunks.map((chunk) => composeEmbeddingText({ ...chunk, documentName: document.name })),
        purpose: 'document',
        organisationId: document.organisationId,
        spaceId: document.spaceId,
        signal: AbortSignal.timeout(60_000),
      })
      await index.stageChunks({ run, documentName: document.name, embedderId: made.id, chunks, vectors })
      return run
    },
    async publish(run) {
      await corpus.transaction(async (transaction) => {
        await index.publish(transaction, run)
        await transaction.execute(`update documents set status = 'ready' where id = $1`, [run.documentId])
      })
    },
    async add(texts, given) {
      const document = await fixture.createDocument(given)
      await fixture.publish(await fixture.stage(document, texts))
      return document
    },
    async [Symbol.asyncDispose]() {
      await index.close()
      await databases.drop()
    },
  }
  return fixture
}

export function chunkOf(text: string, index: number, headingPath: string[] = []): IndexedChunk {
  return {
    index,
    text,
    headingPath,
    tableHeader: null,
    tokens: text.split(/\s+/).length,
    pageFrom: null,
    pageTo: null,
    characterFrom: 0,
    characterTo: [...text].length,
    rowFrom: null,
    rowTo: null,
  }
}
