import {
  type ArchivedDocument,
  archivedChunkSchema,
  archivedDocumentSchema,
  archivedEndSchema,
  spaceArchiveLimits,
} from '../../contract/space-archives.ts'
import {
  type BlobStore,
  cleanName,
  type DocumentStore,
  type NamedDocument,
  type NewDocument,
  readMetadata,
  storedMediaType,
  WatchedFile,
} from '../../documents/documents/index.ts'
import { createDocumentId, type DocumentId, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'
import type { ChunkBatch, IndexedChunk, IndexRun } from '../../documents/retrieval/index.ts'
import { badArchive, type PartPath } from './layout.ts'
import { checkPart, readBytes, readLines, readValueOf } from './read-part.ts'
import { bytesPerVector, readVectors, type VectorForm } from './vector-bytes.ts'

/** What an import does with the chunks of a document, through the index as ingestion does. */
export interface ChunkImport {
  beginRun(document: Omit<IndexRun, 'runId'>): Promise<IndexRun>
  stage(batch: ChunkBatch): Promise<void>
  /** Makes the document ready. */
  publish(
    run: IndexRun,
    document: { name: string; pageCount: number | null; warnings: ArchivedDocument['warnings'] },
  ): Promise<void>
}

export interface DocumentImportDependencies {
  documents: Pick<DocumentStore, 'insertImported' | 'remove'>
  blobs: Pick<BlobStore, 'put' | 'delete'>
  chunks: ChunkImport
  detectFormat: (file: {
    fileName: string
    head: Uint8Array
  }) => { supported: true; mimeType: string } | { supported: false; reason: string }
  maximumUploadBytes: number
}

interface Target {
  organisationId: OrganisationId
  spaceId: SpaceId
  /** null: the chunks of the archive are not used. */
  vectors: (VectorForm & { id: string }) | null
  signal: AbortSignal
}

interface OpenDocument {
  number: number
  archived: ArchivedDocument
  name: string
  id: DocumentId
  isStored: boolean
  run: IndexRun | null
  part: number
  /** Chunks whose vectors follow. */
  waiting: IndexedChunk[]
  chunks: number
  lastIndex: number
}

/** Characters of the chunks that are staged together: their analysis keeps the event loop for a few milliseconds at most. */
const charactersPerStage = 64 * 1024

/** The documents of an archive, part by part in their order. Every id is new; `find` has those of the numbers of the archive. */
export class DocumentImport {
  private readonly dependencies: DocumentImportDependencies
  private readonly target: Target
  private readonly byNumber = new Map<number, NamedDocument>()
  private open: OpenDocument | undefined
  private lastNumber = 0
  chunks = 0
  processing = 0

  constructor(dependencies: DocumentImportDependencies, target: Target) {
    this.dependencies = dependencies
    this.target = target
  }

  /** Of the archive, those that were removed included. */
  get read(): number {
    return this.lastNumber
  }

  get documents(): number {
    return this.byNumber.size
  }

  /** Undefined: it was removed while the archive was written, or has no number in it. */
  find(number: number): NamedDocument | undefined {
    return this.byNumber.get(number)
  }

  async take(
    name: string,
    path: Exclude<PartPath, { kind: 'questions' }>,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ) {
    if (path.kind === 'document') return this.begin(name, path.document, await this.readSmall(name, size, content))
    const { open } = this
    if (open?.number !== path.document) throw badArchive(`${name} is not in its place`)
    if (path.kind === 'file') return this.storeFile(name, open, size, content)
    if (!open.isStored) throw badArchive(`${name} is before the file of its document`)
    if (path.kind === 'end') return this.end(name, open, await this.readSmall(name, size, content))
    if (!open.archived.hasChunks) throw badArchive(`${name} belongs to a document without chunks`)
    if (path.kind === 'chunks') return this.takeChunks(name, open, path.part, size, content)
    return this.takeVectors(name, open, path.part, size, content)
  }

  /** Throws where the last document is not complete. */
  finish(): void {
    if (this.open) throw badArchive(`document ${this.open.number} has no end`)
  }

  private begin(name: string, number: number, bytes: Buffer): void {
    this.finish()
    if (number !== this.lastNumber + 1 || number > spaceArchiveLimits.documents) {
      throw badArchive(`${name} is not in its place; an archive has at most ${spaceArchiveLimits.documents} documents`)
    }
    this.lastNumber = number
    const archived = readValueOf(name, archivedDocumentSchema, bytes)
    this.open = {
      number,
      archived,
      name: checkPart(name, () => cleanName(archived.name, 'name')),
      id: createDocumentId(),
      isStored: false,
      run: null,
      part: 0,
      waiting: [],
      chunks: 0,
      lastIndex: -1,
    }
  }

  /** The file goes to the blob store as it arrives; its format is detected again. */
  private async storeFile(
    name: string,
    open: OpenDocument,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { blobs, documents, chunks, maximumUploadBytes } = this.dependencies
    const { organisationId, spaceId, vectors, signal } = this.target
    const { archived, id } = open
    if (open.isStored) throw badArchive(`${name} occurs twice`)
    if (size !== archived.sizeBytes) throw badArchive(`${name} has ${size} bytes instead of ${archived.sizeBytes}`)
    if (size > maximumUploadBytes)
      throw badArchive(`${name} has ${size} bytes; the limit of a document is ${maximumUploadBytes}`)
    const metadata = archived.metadata === null ? null : checkPart(name, () => readMetadata(archived.metadata!))
    const blobKey = `${organisationId}/${spaceId}/${id}`
    const file = new WatchedFile()
    await blobs.put(blobKey, watch(file, content), signal)
    try {
      const { sha256, head } = file.finish()
      if (Buffer.from(sha256).toString('hex') !== archived.sha256)
        throw badArchive(`the SHA-256 of ${name} is not the one of its document`)
      const detected = this.dependencies.detectFormat({ fileName: `file.${archived.format}`, head })
      if (!detected.supported) throw badArchive(`${name}: ${detected.reason.replace(/\.$/, '')}`)
      const document: Omit<NewDocument, 'uploadKey' | 'fingerprint'> = {
        id,
        organisationId,
        spaceId,
        name: open.name,
        metadata,
        format: archived.format,
        mimeType: storedMediaType(detected.mimeType, archived.charset ?? undefined),
        apiVersion: archived.apiVersion,
        sizeBytes: size,
        contentSha256: sha256,
        blobKey,
      }
      await documents.insertImported(document)
    } catch (error) {
      await blobs.delete(blobKey).catch(() => {})
      throw error
    }
    open.isStored = true
    if (archived.hasChunks && vectors) open.run = await chunks.beginRun({ organisationId, spaceId, documentId: id })
  }

  private async takeChunks(
    name: string,
    open: OpenDocument,
    part: number,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ) {
    if (open.waiting.length > 0 || part !== open.part + 1) throw badArchive(`${name} is not in its place`)
    open.part = part
    const { partBytes, chunksOfPart, chunkTextBytes } = spaceArchiveLimits
    const bytes = await readBytes(name, size, content, partBytes)
    const chunks = await readLines(name, archivedChunkSchema, bytes, chunksOfPart)
    for (const [at, chunk] of chunks.entries()) {
      const place = `${name}:${at + 1}`
      if (chunk.index !== open.lastIndex + 1) throw badArchive(`${place}: the index is not ${open.lastIndex + 1}`)
      open.lastIndex = chunk.index
      if (chunk.characterTo < chunk.characterFrom) throw badArchive(`${place}: characterTo is less than characterFrom`)
      const texts = [chunk.text, chunk.headingPath.join(''), chunk.tableHeader ?? '']
      if (texts.some((text) => Buffer.byteLength(text) > chunkTextBytes)) {
        throw badArchive(`${place}: a text has more than ${chunkTextBytes} bytes`)
      }
    }
    open.waiting = chunks
  }

  private async takeVectors(
    name: string,
    open: OpenDocument,
    part: number,
    size: number,
    content: AsyncIterable<Uint8Array>,
  ) {
    const { waiting, run } = open
    if (waiting.length === 0 || part !== open.part) throw badArchive(`${name} is not in its place`)
    open.waiting = []
    open.chunks += waiting.length
    const form = this.target.vectors
    // Another embedder is configured: the vectors are of no use, and the document is processed again.
    if (!form || !run) return skip(content)
    const expected = waiting.length * bytesPerVector(form)
    if (size !== expected) throw badArchive(`${name} has ${size} bytes; ${waiting.length} vectors have ${expected}`)
    const vectors = readVectors(form, await readBytes(name, size, content, expected))
    if (!vectors) throw badArchive(`${name} has a value that is not a finite number`)
    for (const [from, to] of stages(waiting)) {
      await this.dependencies.chunks.stage({
        run,
        documentName: open.name,
        embedderId: form.id,
        chunks: waiting.slice(from, to),
        vectors: vectors.slice(from, to),
      })
    }
  }

  private async end(name: string, open: OpenDocument, bytes: Buffer): Promise<void> {
    const end = readValueOf(name, archivedEndSchema, bytes)
    this.open = undefined
    if ('removed' in end) {
      await this.dependencies.documents.remove(this.target.organisationId, open.id)
      return
    }
    const isWhole =
      open.waiting.length === 0 && open.chunks === end.chunks && end.chunks > 0 === open.archived.hasChunks
    if (!isWhole) throw badArchive(`${name} states ${end.chunks} chunks, and the archive has ${open.chunks}`)
    this.byNumber.set(open.number, { id: open.id, name: open.name })
    const { pageCount, warnings } = open.archived
    if (open.run) {
      await this.dependencies.chunks.publish(open.run, { name: open.name, pageCount, warnings })
      this.chunks += open.chunks
    } else this.processing++
  }

  private readSmall(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<Buffer> {
    return readBytes(name, size, content, spaceArchiveLimits.lineBytes)
  }
}

async function skip(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of content);
}

/** Ranges of the chunks that are staged together. */
function* stages(chunks: readonly IndexedChunk[]): Generator<[from: number, to: number]> {
  let from = 0
  let characters = 0
  for (const [at, chunk] of chunks.entries()) {
    const length = chunk.text.length + (chunk.tableHeader?.length ?? 0)
    if (at > from && characters + length > charactersPerStage) {
      yield [from, at]
      from = at
      characters = 0
    }
    characters += length
  }
  yield [from, chunks.length]
}

async function* watch(file: WatchedFile, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    file.take(chunk)
    yield chunk
  }
}
