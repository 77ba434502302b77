import { ExtractionError, type ExtractedBlock, type ExtractionWarning } from '../extraction.ts'
import type { KeptPage } from '../ocr/recogniser.ts'
import type { ReadPicture } from '../ocr/remote-recogniser.ts'

/** Bounds on the output of one file. Every one ends in an ExtractionError that names it. */
export interface OutputLimits {
  /** Pages of a pdf. */
  maximumPages: number
  /** UTF-16 units of extracted text. */
  maximumCharacters: number
  maximumBlocks: number
  /** Bytes of all the parts of a zip container (docx, xlsx) that are unpacked. */
  maximumUnpackedBytes: number
}

/** How pictures of text are read. */
export interface Recognition {
  /** Codes such as `deu`; none: the language is found. */
  languages: readonly string[]
  /** The file waits for a worker with more time: the extraction ends with `processing_timeout` at the first picture. */
  isDeferred: boolean
  /** Pages that an interrupted run has read. */
  keptPages: readonly KeptPage[]
  /** The operator's service for it; absent: the engine in this process. */
  readPicture?: ReadPicture | undefined
  /** Called for each page that was read from its picture; null: of a file in the file. `isKept`: by an earlier run. */
  recognised(page: KeptPage | null, isKept: boolean): void
  /** Its time does not count as that of the extraction. */
  withMoreTime<T>(work: () => Promise<T>): Promise<T>
}

/** Where a file is that other files contain. */
export interface Nesting {
  /** 1 for a file in the file itself. */
  depth: number
  /** Of all files in the file. */
  totals: {
    files: number
    bytes: number
    /** Pages and pictures whose text was recognised. */
    recognised: number
    /** Names of those that were not read, because of their types. */
    skipped: string[]
    /** Names of those that are damaged or too large. */
    unread: string[]
  }
}

/** What an extractor reports about its run, apart from the blocks. */
export interface ExtractionReport {
  progress(pagesDone: number, pagesTotal: number | null): void
  /** Repeated warnings with the same code and message become one with all their pages. */
  warn(warning: ExtractionWarning): void
}

export interface ExtractorInput {
  filePath: string
  /** The bytes of a part of a file, which are read instead of it. */
  content?: Buffer | undefined
  sizeBytes: number
  limits: OutputLimits
  report: ExtractionReport
  /** The charset that the upload stated; text formats only. */
  declaredEncoding?: string | undefined
  /** Files and pictures in the file are read too; version 1 of the interface only names them. */
  readsEmbedded?: boolean | undefined
  /** The files around this one. Absent for the file itself. */
  nesting?: Nesting | undefined
  /** Absent: pictures of text are not read. */
  recognition?: Recognition | undefined
}

/**
 * Reads one file into batches of blocks in reading order. Block texts are already clean (see clean-text.ts). Throws
 * ExtractionError for the file's faults; any other error is ours.
 */
export type Extractor = (input: ExtractorInput) => AsyncIterable<ExtractedBlock[]>

/** Batches are handed on at about this many characters, so that memory and messages stay small. */
const batchCharacters = 64 * 1024

/** Longest text of one block that the streaming extractors build before they start another. */
export const maximumBlockCharacters = 32 * 1024

/** Gathers blocks into batches of about `batchCharacters`. */
export interface BlockBatch {
  /** True when the batch should be handed on. */
  add(block: ExtractedBlock): boolean
  take(): ExtractedBlock[]
}

export function createBlockBatch(): BlockBatch {
  let blocks: ExtractedBlock[] = []
  let characters = 0
  return {
    add(block) {
      if (block.text !== '') {
        blocks.push(block)
        // 64 stands for the fields around the text, so that many tiny blocks make a batch too.
        characters += block.text.length + 64
      }
      return characters >= batchCharacters
    },
    take() {
      const taken = blocks
      blocks = []
      characters = 0
      return taken
    },
  }
}

export function corruptFile(what: string, cause?: unknown): ExtractionError {
  return new ExtractionError(
    'corrupt_file',
    `${what} Open it in the program that made it, save it again and upload the new file.`,
    { cause },
  )
}
