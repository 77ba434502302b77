import { Readable } from 'node:stream'
import { readArchive } from '../../platform/archive/index.ts'
import { goldenLimits } from '../../contract/golden-questions.ts'
import {
  type ArchivedQuestion,
  archivedQuestionSchema,
  type ImportedSpaceBody,
  spaceArchiveLimits,
  type SpaceHeader,
} from '../../contract/space-archives.ts'
import { type GoldenQuestion, makeGoldenQuestion } from '../golden-questions/index.ts'
import {
  AppError,
  type Clock,
  createSpaceId,
  describeError,
  type Log,
  type OrganisationId,
  type SpaceId,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Embedder } from '../../documents/retrieval/index.ts'
import { restoreToolServer, type ToolServer } from '../space-tools/index.ts'
import type { Space, Spaces } from '../spaces/index.ts'
import { type DocumentImportDependencies, DocumentImport } from './import-documents.ts'
import { badArchive, parsePath, spaceArchive } from './layout.ts'
import { checkPart, readBytes, readLines } from './read-part.ts'
import type { SpaceImportStore } from './space-imports.store.ts'

export interface ImportDependencies extends DocumentImportDependencies {
  store: SpaceImportStore
  spaces: Pick<Spaces, 'make' | 'whenCurrent' | 'wakeRemovals'>
  processImported(organisationId: OrganisationId, spaceId: SpaceId): Promise<void>
  embedder: () => Pick<Embedder, 'id' | 'dimensions'>
  maximumImportBytes: number
  clock: Clock
  log: Log
}

export interface ImportRequest {
  organisationId: OrganisationId
  name: string | undefined
  model: string | undefined
  source: AsyncIterable<Uint8Array>
  actor: Actor
  signal: AbortSignal
}

/** Another instance removes what an import has stored when its process has not renewed for this time. */
export const importLeaseMs = 120_000
const renewEveryMs = 20_000

/**
 * Imports an archive as it arrives. The Space appears, unpublished, when the last byte is verified and everything is stored; until then nothing
 * shows it. Throws AppError; what was stored is then removed in the background, also after a kill.
 */
export async function importSpace(
  dependencies: ImportDependencies,
  request: ImportRequest,
): Promise<ImportedSpaceBody> {
  const { store, clock, log, spaces } = dependencies
  const id = createSpaceId()
  const startedMs = performance.now()
  await store.begin(id, request.organisationId, clock.now(), clock.now() + importLeaseMs)
  const lost = new AbortController()
  const stopRenewing = clock.every(renewEveryMs, () => {
    store.renew(id, clock.now() + importLeaseMs).then(
      (renewed) => renewed || lost.abort(interrupted()),
      (error: unknown) => log.warn({ error: describeError(error) }, 'the import of a Space could not be renewed'),
    )
  })
  const signal = AbortSignal.any([request.signal, lost.signal])
  try {
    const running = new SpaceImport(dependencies, { ...request, signal }, id)
    const { manifest } = await readArchive(
      Readable.from(limited(request.source, dependencies.maximumImportBytes, signal), { objectMode: false }),
      spaceArchive,
      running,
    )
    const imported = await running.complete(manifest)
    await spaces.whenCurrent()
    log.info({ ...imported, durationMs: Math.round(performance.now() - startedMs) }, 'Space imported')
    return imported
  } catch (error) {
    await store.abandon(id, clock.now()).catch(() => {})
    spaces.wakeRemovals()
    // A connection that ends shows itself as an error of the stream as well.
    throw signal.aborted ? signal.reason : error
  } finally {
    stopRenewing()
  }
}

async function* limited(
  source: AsyncIterable<Uint8Array>,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    signal.throwIfAborted()
    bytes += chunk.length
    if (bytes > limit)
      throw new AppError('request_too_large', `The archive must have at most ${limit} bytes.`, { param: 'archive' })
    yield chunk
  }
}

function interrupted(): AppError {
  return new AppError(
    'overloaded',
    'The import took too long and was given up. Nothing of it was kept; try again later.',
    { retryAfterSeconds: 60, internal: 'the lease of the import was lost' },
  )
}

/** Receives the parts of the archive. */
class SpaceImport {
  private readonly dependencies: ImportDependencies
  private readonly request: ImportRequest
  private readonly id: SpaceId
  private space: Space | undefined
  private toolServers: ToolServer[] = []
  private documents: DocumentImport | undefined
  private embedding: ImportedSpaceBody['embedding'] = 'none'
  private readonly questions: ArchivedQuestion[] = []
  private questionParts = 0

  constructor(dependencies: ImportDependencies, request: ImportRequest, id: SpaceId) {
    this.dependencies = dependencies
    this.request = request
    this.id = id
  }

  header({ space, tools = [], embedder }: SpaceHeader): void {
    const { spaces } = this.dependencies
    const own = this.dependencies.embedder()
    const { organisationId, name = space.name, model = space.model, signal } = this.request
    const made = spaces.make(this.id, { ...space, name, model, organisationId })
    this.space = made
    if (new Set(tools.map((server) => server.name)).size < tools.length)
      throw badArchive('two tool servers have one name')
    this.toolServers = tools.map((server) => restoreToolServer(made, server, this.dependencies.clock.now()))
    const isSame = embedder?.id === own.id && embedder.dimensions === own.dimensions
    this.embedding = !embedder ? 'none' : isSame ? 'kept' : 'again'
    const vectors = isSame ? embedder : null
    this.documents = new DocumentImport(this.dependencies, { organisationId, spaceId: this.id, vectors, signal })
  }

  folder(name: string): never {
    throw badArchive(`${name} is a folder; an archive of a Space has only files`)
  }

  async file(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.request.signal.throwIfAborted()
    const path = parsePath(name)!
    if (path.kind === 'questions') return this.takeQuestions(name, path.part, size, content)
    if (this.questionParts > 0) throw badArchive(`${name} is behind the golden questions`)
    await this.documents!.take(name, path, size, content)
  }

  /** Everything of the archive is read and verified. */
  async complete(manifest: { documents: number; chunks: number; goldenQuestions: number }): Promise<ImportedSpaceBody> {
    const space = this.space!
    const documents = this.documents!
    documents.finish()
    const questions = this.makeQuestions(space)
    if (manifest.documents !== documents.read) {
      throw badArchive(`the manifest states ${manifest.documents} documents, and the archive has ${documents.read}`)
    }
    if (manifest.goldenQuestions !== questions.length) {
      throw badArchive(
        `the manifest states ${manifest.goldenQuestions} golden questions, and the archive has ${questions.length}`,
      )
    }
    // Jobs that begin before the Space is there do no harm: should it not appear, they are cancelled with their documents.
    await this.dependencies.processImported(space.organisationId, space.id)
    const counts = {
      documents: documents.documents,
      processing: documents.processing,
      chunks: documents.chunks,
      goldenQuestions: questions.length,
      embedding: this.embedding,
    }
    this.request.signal.throwIfAborted()
    const content = { questions, toolServers: this.toolServers }
    const isComplete = await this.dependencies.store.complete(space, content, {
      actor: this.request.actor,
      facts: counts,
    })
    if (!isComplete) throw interrupted()
    return { spaceId: space.id, name: space.name, ...counts }
  }

  private async takeQuestions(
    name: string,
    part: number,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    this.documents!.finish()
    if (part !== this.questionParts + 1) throw badArchive(`${name} is not in its place`)
    this.questionParts = part
    const { partBytes, questionsOfPart } = spaceArchiveLimits
    const bytes = await readBytes(name, size, content, partBytes)
    this.questions.push(...(await readLines(name, archivedQuestionSchema, bytes, questionsOfPart)))
    const maximum = goldenLimits.questionsPerSpace
    if (this.questions.length > maximum) throw badArchive(`${name}: a Space has at most ${maximum} golden questions`)
  }

  /** Expected documents get their new ids; those that are not in the archive are left out. */
  private makeQuestions(space: Space): GoldenQuestion[] {
    const nowMs = this.dependencies.clock.now()
    return this.questions.map(({ expectedDocuments, ...content }, index) => {
      const documents = expectedDocuments.flatMap(({ document }) =>
        document === null ? [] : (this.documents!.find(document) ?? []),
      )
      const unique = [...new Map(documents.map((document) => [document.id, document])).values()]
      return checkPart(`golden question ${index + 1}`, () =>
        makeGoldenQuestion(space, { ...content, expectedDocuments: unique }, nowMs + index),
      )
    })
  }
}
