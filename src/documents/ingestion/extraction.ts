import type { DocumentWarning } from '../../contract/documents.ts'
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
  /** table_row: its cells, only where one of them holds the character that separates cells in `text`. */
  cells?: string[]
  /** table_row: 1-based row in its table or file, header not counted. */
  row?: number
  /** 1-based page (pdf). */
  page?: number
}

export interface ExtractionSummary {
  pages: number | null
  /** Parts that could not be read while the rest could, and guesses; bounded by warning-list.ts. */
  warnings: ExtractionWarning[]
}

/** Something of the file that could not be read, or that was guessed. Its codes: `documentWarningCodes` of the contract. */
export type ExtractionWarning = DocumentWarning

/** The file's fault: ends in `failed` with this code and a sentence with the next step. Never retried. */
export class ExtractionError extends Error {
  readonly code: DocumentFailureCode
  /** What was known before it failed. */
  readonly warnings: readonly ExtractionWarning[]
  constructor(
    code: DocumentFailureCode,
    message: string,
    { warnings = [], ...options }: { cause?: unknown; warnings?: readonly ExtractionWarning[] } = {},
  ) {
    super(message, options)
    this.name = 'ExtractionError'
    this.code = code
    this.warnings = warnings
  }
}

/** A piece of a document as it is embedded, indexed and cited. */
export type { IndexedChunk as Chunk } from '../retrieval/index.ts'
