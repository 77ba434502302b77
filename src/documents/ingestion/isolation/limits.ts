import type { OutputLimits } from '../extractors/extractor.ts'
import type { DocumentFormat } from '../extraction.ts'

/** What one extraction may use. All grow with the size of the input, as normal work does. */
export interface ExtractionLimits extends OutputLimits {
  /** Processor time of the child process. */
  timeLimitMs: number
  /** Resident memory of the child process. */
  memoryLimitBytes: number
  /** Default of the setting `ingestion.maximumChunks`. */
  maximumChunks: number
}

const mebibyte = 1024 * 1024

const packed: ReadonlySet<DocumentFormat> = new Set(['pdf', 'docx', 'xlsx', 'pptx', 'eml', 'image'])

/** The same for the recognition of pages: the engine, its data and the picture. */
export const recognitionMemoryBytes = 256 * mebibyte

/** Heap of the child's JavaScript, in MiB. PDFium's memory comes on top, and `memoryLimitBytes` bounds both. */
export const childHeapMebibytes = 512

/**
 * The limits by size. Sources of the figures: 41 pages take 0.1 s and 130 MB on one slow core (bench/ingest.ts), so the base
 * leaves a factor of a hundred; 1,000 pages, a million columns or cells take 230 to 350 MB; a docx unpacks to 5 to 20 times its size, a bomb to a thousand times.
 */
export function defaultLimits(format: DocumentFormat, sizeBytes: number): ExtractionLimits {
  const sizeMebibytes = sizeBytes / mebibyte
  return {
    timeLimitMs: Math.min(600_000, 30_000 + 5_000 * sizeMebibytes),
    memoryLimitBytes: Math.round(512 * mebibyte + 4 * Math.min(sizeBytes, 256 * mebibyte)),
    maximumPages: 20_000,
    // Text cannot be longer than the file where nothing is packed; packed formats get room.
    maximumCharacters: packed.has(format)
      ? Math.min(200_000_000, 20_000_000 + 20 * sizeBytes)
      : Math.max(1_000_000, sizeBytes * 2),
    maximumBlocks: 1_000_000 + Math.ceil(sizeBytes / 4),
    maximumChunks: 100_000,
    maximumUnpackedBytes: Math.min(512 * mebibyte, 64 * mebibyte + 60 * sizeBytes),
  }
}
