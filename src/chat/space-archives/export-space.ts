import type { Readable } from 'node:stream'
import { ArchiveWriter } from '../../platform/archive/index.ts'
import {
  type ArchivedDocument,
  type ArchivedQuestion,
  type SpaceHeader,
  spaceArchiveLimits,
} from '../../contract/space-archives.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import type { BlobStore } from '../../documents/documents/index.ts'
import type { GoldenTransferStore } from '../golden-questions/index.ts'
import { AppError, describeError, type Log, version as porticoVersion } from '../../platform/kernel/index.ts'
import { archiveToolServer, type ToolServerStore } from '../space-tools/index.ts'
import type { Space } from '../spaces/index.ts'
import type { ExportedChunk, ExportedDocument, ExportedSpaceStore } from './exported-space.store.ts'
import { pathOf, spaceArchive } from './layout.ts'
import { type VectorForm, writeVectors } from './vector-bytes.ts'

export interface ExportDependencies {
  store: StoreOf<ExportedSpaceStore>
  blobs: Pick<BlobStore, 'open'>
  questions: StoreOf<Pick<GoldenTransferStore, 'loadIds' | 'loadMany'>>
  toolServers: StoreOf<Pick<ToolServerStore, 'list'>>
  log: Log
}

/**
 * Begins the export of a Space; resolves to the archive. A document that is deleted meanwhile is marked as removed in the archive; one that is
 * uploaded meanwhile may be missing. Abort `signal` when nobody reads the archive any more.
 */
export async function startExport(
  dependencies: ExportDependencies,
  space: Space,
  clientSignal: AbortSignal,
): Promise<Readable> {
  const active = await dependencies.store(space.organisationId).loadActiveVersion()
  const form: VectorForm | null = active && {
    dimensions: active.dimensions,
    values: active.storage === 'vector' ? 'float32' : 'float16',
  }
  const { name, instructions, model, settings } = space
  const tools = await dependencies.toolServers(space.organisationId).list(space.id)
  const header: SpaceHeader = {
    format: 1,
    portico: porticoVersion,
    exportedAt: new Date().toISOString(),
    space: { name, instructions, model, settings },
    // Versions without tools import only archives without them.
    ...(tools.length > 0 && { tools: tools.map(archiveToolServer) }),
    embedder: active && form && { id: active.embedderId, ...form },
  }
  const closed = new AbortController()
  const signal = AbortSignal.any([clientSignal, closed.signal])
  const writer = new ArchiveWriter(spaceArchive, header, signal)
  const stream = writer.stream()
  stream.once('close', () => closed.abort(new Error('nobody reads the archive any more')))
  const writing = new SpaceWriting(dependencies, space, writer, signal, active && form && { id: active.id, form })
  const startedMs = performance.now()
  void writing.run().then(
    (counts) =>
      dependencies.log.info({ spaceId: space.id, ...counts, durationMs: elapsed(startedMs) }, 'Space exported'),
    (error: unknown) => {
      dependencies.log.warn({ spaceId: space.id, error: describeError(error) }, 'the export of a Space did not end')
      writer.destroy(error as Error)
    },
  )
  return stream
}

const elapsed = (startedMs: number) => Math.round(performance.now() - startedMs)

class SpaceWriting {
  private readonly dependencies: ExportDependencies
  private readonly space: Space
  private readonly store: ExportedSpaceStore
  private readonly writer: ArchiveWriter
  private readonly signal: AbortSignal
  private readonly vectors: { id: number; form: VectorForm } | null
  /** Numbers of the documents by their ids. */
  private readonly numbers = new Map<string, number>()
  private chunks = 0

  constructor(
    dependencies: ExportDependencies,
    space: Space,
    writer: ArchiveWriter,
    signal: AbortSignal,
    vectors: { id: number; form: VectorForm } | null,
  ) {
    this.dependencies = dependencies
    this.space = space
    this.store = dependencies.store(space.organisationId)
    this.writer = writer
    this.signal = signal
    this.vectors = vectors
  }

  async run() {
    const scope = { organisationId: this.space.organisationId, spaceId: this.space.id }
    let after: string | null = null
    for (;;) {
      const page: ExportedDocument[] = await this.store.loadDocuments(scope, after)
      for (const document of page) await this.writeDocument(document)
      const last = page.at(-1)
      if (!last) break
      after = last.rowId
    }
    const goldenQuestions = await this.writeQuestions()
    const counts = { documents: this.numbers.size, chunks: this.chunks, goldenQuestions }
    await this.writer.finish(counts)
    return counts
  }

  private async writeDocument(document: ExportedDocument): Promise<void> {
    const number = this.numbers.size + 1
    if (number > spaceArchiveLimits.documents) {
      throw new AppError('conflict', `An archive holds at most ${spaceArchiveLimits.documents} documents.`)
    }
    this.signal.throwIfAborted()
    const blob = await this.dependencies.blobs.open(document.blobKey, this.signal).catch((error: unknown) => {
      this.dependencies.log.warn({ error: describeError(error) }, 'a file was not found for the export of its Space')
    })
    // Deleted since the page was read.
    if (!blob) return
    this.numbers.set(document.documentId, number)
    const { store, vectors } = this
    const hasChunks = vectors !== null && document.chunks > 0 && (await store.canExportChunks(document.rowId, vectors))
    await this.writeJson(pathOf({ document: number, kind: 'document' }), describe(document, hasChunks))
    await this.writer.addStream(pathOf({ document: number, kind: 'file' }), document.sizeBytes, blob)
    const written = hasChunks ? await this.writeChunks(number, document, vectors) : 0
    const isRemoved = hasChunks && written !== document.chunks
    await this.writeJson(pathOf({ document: number, kind: 'end' }), isRemoved ? { removed: true } : { chunks: written })
    if (!isRemoved) this.chunks += written
  }

  /** Returns how many chunks the document still had. */
  private async writeChunks(number: number, { rowId }: ExportedDocument, vectors: { id: number; form: VectorForm }) {
    let written = 0
    let after = -1
    let part = 0
    for (;;) {
      const page = await this.store.loadChunks(rowId, vectors, after)
      const last = page.at(-1)
      if (!last || page.some(({ vector }) => vector === null)) return written
      for (const chunks of cutParts(page)) {
        part++
        await this.writeLines(pathOf({ document: number, kind: 'chunks', part }), chunks.map(withoutVector))
        const bytes = writeVectors(
          vectors.form,
          chunks.map(({ vector }) => vector!),
        )
        await this.writer.addBytes(pathOf({ document: number, kind: 'vectors', part }), bytes)
      }
      written += page.length
      after = last.index
    }
  }

  private async writeQuestions(): Promise<number> {
    const questions = this.dependencies.questions(this.space.organisationId)
    const { questionsOfPart } = spaceArchiveLimits
    const ids = await questions.loadIds(this.space.id)
    let written = 0
    for (let start = 0; start < ids.length; start += questionsOfPart) {
      const page = await questions.loadMany(this.space.id, ids.slice(start, start + questionsOfPart))
      const archived = page.map(({ messages, expectedDocuments, expectedFacts, mustAbstain }): ArchivedQuestion => ({
        messages,
        expectedDocuments: expectedDocuments.map(({ id, name }) => ({ document: this.numbers.get(id) ?? null, name })),
        expectedFacts: [...expectedFacts],
        mustAbstain,
      }))
      await this.writeLines(pathOf({ kind: 'questions', part: start / questionsOfPart + 1 }), archived)
      written += page.length
    }
    return written
  }

  private writeJson(name: string, value: unknown): Promise<void> {
    return this.writer.addBytes(name, Buffer.from(`${JSON.stringify(value)}\n`))
  }

  private writeLines(name: string, values: readonly unknown[]): Promise<void> {
    return this.writer.addBytes(name, Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join('')))
  }
}

/** Usually one part. Chunks with the longest texts are as many as fit. */
function* cutParts(chunks: readonly ExportedChunk[]): Generator<ExportedChunk[]> {
  let part: ExportedChunk[] = []
  let bytes = 0
  for (const chunk of chunks) {
    const size = Buffer.byteLength(JSON.stringify(withoutVector(chunk))) + 1
    if (part.length > 0 && bytes + size > spaceArchiveLimits.partBytes) {
      yield part
      part = []
      bytes = 0
    }
    part.push(chunk)
    bytes += size
  }
  if (part.length > 0) yield part
}

function withoutVector({ vector: _vector, ...chunk }: ExportedChunk) {
  return chunk
}

function describe(document: ExportedDocument, hasChunks: boolean): ArchivedDocument {
  const { name, format, mimeType, apiVersion, sizeBytes, sha256, metadataJson, warnings, pageCount } = document
  return {
    name,
    format,
    charset: /charset=([\w.:+-]{1,40})/.exec(mimeType)?.[1] ?? null,
    apiVersion,
    sizeBytes,
    sha256,
    metadata: metadataJson,
    warnings: warnings ?? [],
    pageCount,
    hasChunks,
  }
}
