import { residentBytes } from '../../../platform/kernel/memory.ts'
import { createTextCounter } from '../../../gateway/tokens/index.ts'
import { chunkBlocks } from '../chunking/chunk-blocks.ts'
import { type Chunk, ExtractionError } from '../extraction.ts'
import { createFileExtractor } from '../extractors/extract-file.ts'
import type { KeptPage } from '../ocr/recogniser.ts'
import type { ReadPicture } from '../ocr/remote-recogniser.ts'
import { createWarningList } from '../warning-list.ts'
import { recognitionMemoryBytes } from './limits.ts'
import type { ChunkingSettings, FromChild, Progress, ToChild } from './protocol.ts'
import { startWatchdog } from './start-watchdog.ts'

/**
 * The program of a child process: reads one file at a time and sends its chunks. It has no secrets in its environment, may
 * read only the folders it was given, and can neither write files, open connections nor start processes (see extractor-child.ts).
 */
const progressEveryMs = 200
/**
 * Processor time that the recognition of one page may take, apart from the file's. A page of dense text takes 3 to 8 s; the first one
 * may be read in every installed language.
 */
const recognitionMs = 120_000
/** A page drawn at 200 dots per inch has 0.1 to 3 MiB. */
const maximumPictureBytes = 12 * 1024 * 1024
/** A larger message would hold up the process that receives it. */
const pieceBytes = 192 * 1024

const watchdog = startWatchdog()
const extractor = createFileExtractor()
const { counter, ...chunkSizes } = JSON.parse(process.argv[2]!) as ChunkingSettings
const countTokens = createTextCounter(counter)
// Awaited below, once the watchdog runs.
countTokens.catch(() => {})
let credits = 0
let creditArrived: () => void = () => {}
let textArrived: (text: string | null) => void = () => {}

process.on('message', (message: ToChild) => {
  if (message.type === 'more') {
    credits += 1
    creditArrived()
  } else if (message.type === 'text') textArrived(message.text)
  else void run(message)
})

void watchdog.online.then(() => {
  void Promise.all([extractor.warmUp(), countTokens]).then(
    () => send({ type: 'ready' }),
    (error: unknown) => {
      process.stderr.write(String(error))
      process.exit(1)
    },
  )
})

async function run(job: ToChild & { type: 'extract' }) {
  credits = job.credits
  watchdog.setMemoryLimit(job.limits.memoryLimitBytes)
  watchdog.setTimeLimit(job.limits.timeLimitMs)
  send(await extract(job))
  watchdog.setMemoryLimit(Infinity)
  watchdog.setTimeLimit(Infinity)
}

async function extract(job: ToChild & { type: 'extract' }): Promise<FromChild> {
  const { filePath, format, sizeBytes, declaredEncoding, readsEmbedded, limits } = job
  let pagesRecognised = 0
  const recognition = job.recognition && {
    ...job.recognition,
    recognised(page: KeptPage | null, isKept: boolean) {
      pagesRecognised += 1
      if (!isKept) send({ type: 'recognised', page })
    },
    readPicture: job.recognition.isRemote ? readPicture : undefined,
    withMoreTime<T>(work: () => Promise<T>) {
      watchdog.setMemoryLimit(limits.memoryLimitBytes + recognitionMemoryBytes)
      return watchdog.withMoreTime(recognitionMs, work)
    },
  }
  const warnings = createWarningList()
  let progress: Progress | null = null
  let saidAt = performance.now()
  const report = {
    progress(pagesDone: number, pagesTotal: number | null) {
      progress = { pagesDone, pagesTotal, pagesRecognised }
      if (performance.now() - saidAt < progressEveryMs) return
      saidAt = performance.now()
      send({ type: 'progress', progress })
    },
    warn: warnings.add,
  }
  try {
    const blocks = extractor.extract(format, {
      filePath,
      sizeBytes,
      declaredEncoding,
      readsEmbedded,
      recognition,
      limits,
      report,
    })
    const batches = inBatches(chunkBlocks(blocks, { ...chunkSizes, countTokens: await countTokens }), job)
    for await (const chunks of batches) {
      if (credits === 0) await new Promise<void>((resolve) => (creditArrived = resolve))
      credits -= 1
      send({ type: 'chunks', chunks, progress })
    }
    const pages = (progress as Progress | null)?.pagesTotal ?? null
    return { type: 'done', summary: { pages, warnings: warnings.toArray() }, residentBytes: residentBytes() }
  } catch (error) {
    const failed = failure(error)
    return failed.type === 'failed' ? { ...failed, warnings: warnings.toArray() } : failed
  }
}

/** Pages are recognised one after the other. */
function readPicture({ bytes, ...picture }: Parameters<ReadPicture>[0]): Promise<string | null> {
  if (bytes.length > maximumPictureBytes) return Promise.resolve(null)
  return new Promise((resolve) => {
    textArrived = resolve
    for (let at = 0; at < bytes.length; at += pieceBytes)
      send({ type: 'picturePiece', base64: bytes.toString('base64', at, at + pieceBytes) })
    send({ type: 'picture', ...picture })
  })
}

/**
 * Batches of one message each: small enough that the pool's process reads one in a few milliseconds, and as many chunks as
 * embedding models take at once.
 */
const batchChunks = 64
const batchCharacters = 128 * 1024

async function* inBatches(
  chunks: AsyncIterable<Chunk>,
  { limits: { maximumChunks }, fromChunk }: ToChild & { type: 'extract' },
): AsyncGenerator<Chunk[]> {
  let batch: Chunk[] = []
  let characters = 0
  let count = 0
  for await (const chunk of chunks) {
    if (++count > maximumChunks)
      throw new ExtractionError(
        'too_complex',
        `The file makes more than ${maximumChunks} passages for search. Split it into smaller files.`,
      )
    if (count <= fromChunk) continue
    batch.push(chunk)
    characters += chunk.text.length + (chunk.tableHeader?.length ?? 0)
    if (batch.length < batchChunks && characters < batchCharacters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

type Failure = Omit<FromChild & { type: 'failed' }, 'warnings'> | (FromChild & { type: 'broken' })

function failure(error: unknown): Failure {
  const cause = error instanceof Error ? error.cause : undefined
  const detail = [error, cause].filter(Boolean).map(String).join(': ').slice(0, 500)
  if (error instanceof ExtractionError) {
    const tainted = cause instanceof Error && cause.name === 'RuntimeError'
    return { type: 'failed', code: error.code, message: error.message, detail, tainted }
  }
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return {
      type: 'failed',
      code: 'too_complex',
      message: 'The file nests deeper than it can be read. Flatten it and upload it again.',
      detail,
      tainted: false,
    }
  if (error instanceof Error && /allocat|out of memory|Invalid (string|array) length/i.test(error.message))
    return {
      type: 'failed',
      code: 'out_of_memory',
      message: 'The file needs more memory than one file may use. Split it into smaller files.',
      detail,
      tainted: true,
    }
  return { type: 'broken', detail: error instanceof Error ? (error.stack ?? detail) : detail }
}

function send(message: FromChild) {
  process.send?.(message)
}
