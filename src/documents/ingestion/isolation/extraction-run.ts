import type { Log } from '../../../platform/kernel/index.ts'
import { type Chunk, ExtractionError, type ExtractionSummary } from '../extraction.ts'
import type { ExtractorChild } from './extractor-child.ts'
import type { ChildExit } from './isolated-child.ts'
import type { ExtractionLimits } from './limits.ts'
import { batchCredits, type FromChild, type RecognitionRequest } from './protocol.ts'
import type { RecognitionService } from '../ocr/recognition-service.ts'
import type { KeptPage } from '../ocr/recogniser.ts'
import type { DocumentFormat } from '../extraction.ts'

export interface ExtractionRequest {
  filePath: string
  format: DocumentFormat
  sizeBytes: number
  /** Bounds below those of the file's size. */
  limits?: Partial<ExtractionLimits> | undefined
  /** Number of the first chunk that is wanted; those before it are read again but not returned. Default: 0. */
  fromChunk?: number | undefined
  /** The charset that the upload stated; text formats only. */
  declaredEncoding?: string | undefined
  /** Files in the file are read too, and not only named. */
  readsEmbedded?: boolean | undefined
  /** How pictures of text are read; absent: not at all. */
  recognition?: RecognitionRequest | undefined
  /** Ends the extraction at once. */
  signal?: AbortSignal
  /** The file may be read for long: a further child starts meanwhile, so that the next file need not wait for its start. */
  isLong?: boolean
  /** The file can be read later: its extraction may end with MemoryPressureError while all children together need too much memory. */
  mayMove?: boolean
  /** Called when a child begins to read: before it, the extraction waits for a free child. */
  onStart?(): void
  /** Called now and then for formats that know their pages. */
  onProgress?(pagesDone: number, pagesTotal: number | null, pagesRecognised: number): void
  /** Called for each page that was read from its picture, before its chunks come; null: of a file in the file. */
  onRecognised?(page: KeptPage | null): void
}

/** A child ended for a reason other than the file (killed from outside, a bug): a retry can succeed. */
export class ExtractorCrashError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ExtractorCrashError'
  }
}

/** The children of the pool need too much memory together, and this one more than its share. */
export class MemoryPressureError extends Error {}

export interface ExtractionServices {
  /** Reads pictures of text; default: the engine in the child, if it is installed. */
  recognitionService?: RecognitionService | undefined
  log: Log
}

interface Finished {
  summary: ExtractionSummary
  residentBytes: number
}

/** Signals by which a process ends through its own fault while it reads a file. */
const crashSignals = new Set(['SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGBUS', 'SIGFPE', 'SIGTRAP'])

/** Reads one file in a child that is free. The caller decides afterwards whether the child is kept. */
export async function* runExtraction(
  child: ExtractorChild,
  request: ExtractionRequest & { signal: AbortSignal },
  limits: ExtractionLimits,
  { log, recognitionService: service }: ExtractionServices,
): AsyncGenerator<Chunk[], Finished> {
  const deadline = createDeadline(longestRunMs(limits), () => child.kill())
  const ended = new AbortController()
  const end = (error: Error) => {
    inbox.fail(error)
    child.kill()
  }
  const inbox = createInbox(child, request, {
    onProgress: () => deadline.extend(),
    onPicture(bytes, { mimeType, languages }) {
      service!.recognise({ bytes, mimeType }, languages, ended.signal).then(
        (text) => child.send({ type: 'text', text }),
        (error: Error) => ended.signal.aborted || end(error),
      )
    },
  })
  const onAbort = () => end(request.signal.reason as Error)
  request.signal.addEventListener('abort', onAbort, { once: true })
  try {
    request.signal.throwIfAborted()
    const { filePath, format, sizeBytes, declaredEncoding, readsEmbedded } = request
    const recognition = request.recognition && { ...request.recognition, isRemote: service !== undefined }
    // Infinity is not JSON.
    const fromChunk = Math.min(request.fromChunk ?? 0, Number.MAX_SAFE_INTEGER)
    const file = { filePath, format, sizeBytes, declaredEncoding, readsEmbedded, recognition }
    child.send({ type: 'extract', ...file, limits, fromChunk, credits: batchCredits })
    for (;;) {
      // While batches wait here unread, the child may be blocked, so its time does not count.
      if (inbox.size() < batchCredits) deadline.run()
      const next = await inbox.take()
      deadline.pause()
      if (next.type === 'exit') throw exitError(next.exit, deadline.isOver(), limits, log)
      if (next.type === 'done') return next
      if (next.type === 'failed') throw failedError(next, log)
      if (next.type === 'broken') throw new ExtractorCrashError(next.detail)
      yield next.chunks
      child.send({ type: 'more' })
    }
  } finally {
    ended.abort()
    deadline.pause()
    inbox.close()
    request.signal.removeEventListener('abort', onAbort)
  }
}

type Arrival = Extract<FromChild, { type: 'chunks' | 'done' | 'failed' | 'broken' }> | { type: 'exit'; exit: ChildExit }

/** What has come from the child and was not yet taken: at most as many batches as credits were given. */
function createInbox(
  child: ExtractorChild,
  request: ExtractionRequest,
  {
    onProgress,
    onPicture,
  }: {
    onProgress: () => void
    onPicture: (bytes: Buffer<ArrayBuffer>, message: FromChild & { type: 'picture' }) => void
  },
) {
  const arrivals: Arrival[] = []
  let pieces: Buffer[] = []
  let waiting: { resolve(arrival: Arrival): void; reject(error: Error): void } | null = null
  let failure: Error | null = null

  function arrive(arrival: Arrival) {
    if (waiting) {
      waiting.resolve(arrival)
      waiting = null
    } else arrivals.push(arrival)
  }
  child.listen(
    (message) => {
      if (message.type === 'ready') return
      const progress = message.type === 'progress' || message.type === 'chunks' ? message.progress : null
      if (message.type === 'progress' || message.type === 'recognised') onProgress()
      if (progress) request.onProgress?.(progress.pagesDone, progress.pagesTotal, progress.pagesRecognised)
      switch (message.type) {
        case 'progress':
          break
        case 'recognised':
          request.onRecognised?.(message.page)
          break
        case 'picturePiece':
          pieces.push(Buffer.from(message.base64, 'base64'))
          break
        case 'picture':
          onPicture(Buffer.concat(pieces), message)
          pieces = []
          break
        default:
          arrive(message)
      }
    },
    (exit) => arrive({ type: 'exit', exit }),
  )

  return {
    size: () => arrivals.length,
    take(): Promise<Arrival> {
      if (failure) return Promise.reject(failure)
      const next = arrivals.shift()
      if (next) return Promise.resolve(next)
      return new Promise((resolve, reject) => (waiting = { resolve, reject }))
    },
    fail(error: Error) {
      failure = error
      waiting?.reject(error)
      waiting = null
    },
    close: () => child.stopListening(),
  }
}

/** A child that has not used its processor time in ten times as long hangs: a folder does not answer, or the machine is far too busy. */
const longestRunMs = ({ timeLimitMs }: ExtractionLimits) => Math.max(600_000, 10 * timeLimitMs)

/** A clock that can be paused: it runs only while the child has work to do. */
function createDeadline(limitMs: number, onOver: () => void) {
  let leftMs = limitMs
  let startedAt: number | null = null
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const clock = {
    run() {
      if (startedAt !== null || isOver) return
      startedAt = performance.now()
      timer = setTimeout(() => {
        isOver = true
        onOver()
      }, leftMs)
    },
    pause() {
      if (startedAt === null) return
      leftMs = Math.max(0, leftMs - (performance.now() - startedAt))
      startedAt = null
      clearTimeout(timer)
    },
    /** Starts again: there is progress. */
    extend() {
      const isRunning = startedAt !== null
      clock.pause()
      leftMs = limitMs
      if (isRunning) clock.run()
    },
    isOver: () => isOver,
  }
  return clock
}

function failedError(message: FromChild & { type: 'failed' }, log: Log): ExtractionError {
  log.debug({ code: message.code, detail: message.detail }, 'a file could not be read')
  const error = new ExtractionError(message.code, message.message, { warnings: message.warnings })
  return Object.assign(error, { childIsSound: !message.tainted })
}

function exitError(exit: ChildExit, isLate: boolean, limits: ExtractionLimits, log: Log): Error {
  const { code, signal, errorOutput } = exit
  if (exit.outOfTime)
    return new ExtractionError(
      'processing_timeout',
      `Reading the file took more than ${Math.ceil(limits.timeLimitMs / 1000)} seconds of processor time and was stopped. Split it into smaller files, or save it again in the program that made it.`,
    )
  if (isLate) return new ExtractorCrashError('an extraction process hung')
  log.warn({ code, signal, errorOutput: errorOutput.slice(-2000) }, 'an extraction process ended while it read a file')
  if (exit.outOfMemory)
    return new ExtractionError(
      'out_of_memory',
      'Reading the file took more memory than one file may use. Split it into smaller files.',
    )
  if (signal && crashSignals.has(signal))
    return new ExtractionError(
      'corrupt_file',
      'The file is damaged in a way that stops its reader. Open it in the program that made it, save it again and upload the new file.',
    )
  return new ExtractorCrashError(`an extraction process ended unexpectedly (${signal ?? code})`)
}
