import type { DocumentId, OrganisationId, SpaceId } from '../../../platform/kernel/index.ts'

/** A piece of a document, as ingestion makes it. */
export interface IndexedChunk {
  /** 0-based order in the document. */
  index: number
  /** What is shown and quoted. */
  text: string
  /** Headings above it, outermost first. */
  headingPath: string[]
  /** csv and tables: the header line, repeated in front of the text for embedding and for the model. */
  tableHeader: string | null
  tokens: number
  /** Exact position: pages and rows (1-based, inclusive), Unicode code point range in the extracted text. */
  pageFrom: number | null
  pageTo: number | null
  /** Where each page after `pageFrom`, up to `pageTo`, begins in the extracted text. Absent if the text is not one piece of it. */
  pageStarts?: number[]
  characterFrom: number
  characterTo: number
  rowFrom: number | null
  rowTo: number | null
}

/** One attempt to index one document. A newer run ends the older one, whose later writes are rejected. */
export interface IndexRun {
  runId: string
  organisationId: OrganisationId
  spaceId: SpaceId
  documentId: DocumentId
}

export interface ChunkBatch {
  run: IndexRun
  documentName: string
  /** The embedder of the vectors (`Embedder.id`). */
  embedderId: string
  chunks: readonly IndexedChunk[]
  /** One for each chunk, in the same order. */
  vectors: readonly Float32Array[]
}

/** The document was deleted, or a newer run has started: stop, and change nothing. */
export class IndexRunEndedError extends Error {
  constructor(documentId: string) {
    super(`the indexing run of document ${documentId} has ended: it was deleted or a newer run has started`)
    this.name = 'IndexRunEndedError'
  }
}

/** The text that a chunk's terms are made of: the document's name without its ending, headings, table header, text. */
export function searchableText(
  documentName: string,
  chunk: Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'>,
): string {
  const stem = documentName.replace(/\.[a-z0-9]{1,5}$/i, '')
  return [stem, ...chunk.headingPath, chunk.tableHeader ?? '', chunk.text].join('\n')
}

/** The text that a chunk's vector is made of: the document's name and headings, table header, text. */
export function composeEmbeddingText(
  chunk: Pick<IndexedChunk, 'headingPath' | 'tableHeader' | 'text'> & { documentName: string },
): string {
  const place = [chunk.documentName, ...chunk.headingPath].filter((part) => part !== '').join(' › ')
  return [place, chunk.tableHeader, chunk.text].filter((part) => part !== null && part !== '').join('\n')
}
