import type { DocumentFailureCode } from '../../documents/index.ts'
import type { TextCounterSource } from '../../../gateway/tokens/index.ts'
import type { Chunk, DocumentFormat, ExtractionSummary, ExtractionWarning } from '../extraction.ts'
import type { KeptPage } from '../ocr/recogniser.ts'
import type { ExtractionLimits } from './limits.ts'

/** How extracted text becomes chunks; the same for all files of a pool. Travels to a child as its argument. */
export interface ChunkingSettings {
  counter: TextCounterSource
  targetTokens: number
  maximumTokens: number
  overlapTokens: number
}

/** How pictures of text are read. */
export interface RecognitionRequest {
  languages: readonly string[]
  isDeferred: boolean
  /** Pages that an interrupted run has read. */
  keptPages: readonly KeptPage[]
}

/** Messages from the pool to a child, one extraction at a time. */
export type ToChild =
  | {
      type: 'extract'
      filePath: string
      format: DocumentFormat
      sizeBytes: number
      declaredEncoding?: string | undefined
      readsEmbedded?: boolean | undefined
      recognition?: (RecognitionRequest & { isRemote: boolean }) | undefined
      limits: ExtractionLimits
      /** Chunks before this one are counted and not sent. */
      fromChunk: number
      credits: number
    }
  /** The consumer has taken a batch: the child may send another one. */
  | { type: 'more' }
  /** The answer to `picture`. */
  | { type: 'text'; text: string | null }

export interface Progress {
  pagesDone: number
  pagesTotal: number | null
  /** Pages that were read from their pictures. */
  pagesRecognised: number
}

/** Messages from a child to the pool. */
export type FromChild =
  | { type: 'ready' }
  | { type: 'chunks'; chunks: Chunk[]; progress: Progress | null }
  | { type: 'progress'; progress: Progress }
  /** A page was read from its picture; null: a picture or page of a file in the file, which is read again after an interruption. */
  | { type: 'recognised'; page: KeptPage | null }
  /** A piece of a picture file in base64. */
  | { type: 'picturePiece'; base64: string }
  /** The picture file of the pieces, whose text the operator's service reads; the child waits for it. */
  | { type: 'picture'; mimeType: string; languages: readonly string[] }
  | { type: 'done'; summary: ExtractionSummary; residentBytes: number }
  /** The file's fault. `tainted`: the process must not read another file. */
  | {
      type: 'failed'
      code: DocumentFailureCode
      message: string
      detail: string
      tainted: boolean
      warnings: ExtractionWarning[]
    }
  /** A fault of the service. */
  | { type: 'broken'; detail: string }

/** Batches that a child may send ahead of the consumer. */
export const batchCredits = 4

/** The child's file descriptor of the pipe that ties its life to the pool's process; on it the watchdog writes why it kills. */
export const lifelineDescriptor = 4
export const memoryMark = 'memory'
export const timeMark = 'time'
