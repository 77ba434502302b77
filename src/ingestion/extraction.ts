import type { DocumentFailureCode } from '../documents/index.ts'

export type { DocumentFormat } from '../documents/index.ts'

/**
 * What an extractor hands to the chunker: blocks in reading order, streamed, so that memory stays flat. Text is NFC, without
 * control characters other than line feed and tab.
 */
export type ExtractedBlock = {
  kind: 'heading' | 'paragraph' | 'list_item' | 'table_row' | 'code' | 'quote' | 'footnote'
  text: string
  /** Headings: 1..6. */
  level?: number
  /** table_row: the header cells of its table, so that each chunk can carry them; absent where the table has none. */
  header?: string[]
  /** table_row: 1-based row in its table or file, header not counted. */
  row?: number
  /** 1-based page (pdf). */
  page?: number
}

export interface ExtractionSummary {
  pages: number | null
  /** Pages or parts that could not be read while the rest could: said in the document's metadata for the console. */
  warnings: { page: number | null; message: string }[]
}

/** The file's fault: ends in `failed` with this code and a sentence that says what to do. Never retried. */
export class ExtractionError extends Error {
  readonly code: DocumentFailureCode
  constructor(code: DocumentFailureCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ExtractionError'
    this.code = code
  }
}

/** A piece of a document as it is embedded, indexed and cited. */
export type { IndexedChunk as Chunk } from '../retrieval/index.ts'
