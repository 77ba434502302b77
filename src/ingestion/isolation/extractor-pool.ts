import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Log } from '../../kernel/index.ts'
import type { Chunk, DocumentFormat, ExtractionSummary } from '../extraction.ts'
import { runExtraction } from './extraction-run.ts'
import { startExtractorChild, type ExtractorChild } from './extractor-child.ts'
import { defaultLimits, type ExtractionLimits } from './limits.ts'
import type { ChunkingSettings } from './protocol.ts'

export interface ExtractorPoolOptions {
  /** Child processes, and so files that are read at once. Each takes about 100 MB at rest. */
  size: number
  chunking: ChunkingSettings
  /** Folders that children may read files from, the temporary folder included where files are put there first. */
  readableFolders?: readonly string[]
  /** Replaces single limits; the others follow the size of each file. */
  limits?: Partial<ExtractionLimits>
  log: Log
}

export interface ExtractionRequest {
  filePath: string
  format: DocumentFormat
  sizeBytes: number
  /** Bounds below those of the file's size. */
  limits?: Partial<ExtractionLimits> | undefined
  /** The charset that the upload stated; text formats only. */
  declaredEncoding?: string | undefined
  /** Ends the extraction at once, whatever it is doing. */
  signal?: AbortSignal
  /** Called now and then for formats that know their pages. */
  onProgress?(pagesDone: number, pagesTotal: number | null): void
}

export interface Extraction {
  /**
   * Batches of chunks in reading order, of at most 64 chunks; the child waits while the consumer is busy. Read it once. Throws
   * ExtractionError for the file's faults, the signal's reason, or another Error for ours. Leaving the loop early ends the
   * extraction.
   */
  chunks: AsyncIterable<Chunk[]>
  /** Resolves after the last batch; rejects with what the chunks threw. */
  summary: Promise<ExtractionSummary>
}

export interface ExtractorPool {
  /** Starts when its chunks are asked for, as soon as a child is free. */
  extract(request: ExtractionRequest): Extraction
  /** Resolves when all children are up. Extractions need not wait for it. */
  ready(): Promise<void>
  /** Process ids of the living children. */
  processIds(): number[]
  /** Ends running extractions and all children. */
  close(): Promise<void>
}

/** A child is replaced after this many files, or when it holds this much memory at rest: WebAssembly memory never shrinks. */
const maximumFilesPerChild = 500
const maximumRestingBytes = 400 * 1024 * 1024
/** Starts that may fail in a row before those who wait are told. */
const maximumFailedStarts = 3

interface Slot {
  child: ExtractorChild
  files: number
  isReading: boolean
}

interface Waiter {
  give(slot: Slot): void
  fail(error: Error): void
}

/** Keeps warm child processes in which files are read, so that a hostile file ends its child and nothing else. */
export function createExtractorPool(options: ExtractorPoolOptions): ExtractorPool {
  const { log, size } = options
  const { counter } = options.chunking
  const readable = options.readableFolders ?? [tmpdir()]
  const folders = [...readable, ...(counter.kind === 'tokenizer' ? [counter.folder] : [])].map((folder) =>
    realpathSync(folder),
  )
  const slots = new Set<Slot>()
  const idle: Slot[] = []
  const waiters: Waiter[] = []
  const closing = new AbortController()
  let failedStarts = 0

  /** Children keep this process alive while one of them reads or somebody waits for one, and never else. */
  function holdProcess() {
    for (const { child, isReading } of slots) child.setBusy(isReading || waiters.length > 0)
  }

  function start() {
    if (closing.signal.aborted) return
    const slot: Slot = { child: startExtractorChild(folders, options.chunking), files: 0, isReading: false }
    slots.add(slot)
    holdProcess()
    let isUp = false
    slot.child.ready.then(
      () => {
        isUp = true
        failedStarts = 0
        offer(slot)
      },
      () => {},
    )
    void slot.child.exited.then(({ code, signal, errorOutput }) => {
      slots.delete(slot)
      const at = idle.indexOf(slot)
      if (at !== -1) idle.splice(at, 1)
      if (closing.signal.aborted) return
      log.debug({ code, signal }, 'an extraction process ended')
      if (!isUp) startFailed(errorOutput)
      else start()
    })
  }

  /** Tries again with growing pauses, for ever: what is missing (memory, process ids) may come back. */
  function startFailed(errorOutput: string) {
    failedStarts += 1
    log.error({ failedStarts, errorOutput: errorOutput.slice(-1000) }, 'an extraction process did not start')
    if (failedStarts >= maximumFailedStarts)
      for (const waiter of waiters.slice()) waiter.fail(new Error('extraction processes do not start'))
    const pauseMs = Math.min(30_000, 200 * 2 ** failedStarts)
    const timer = setTimeout(start, pauseMs)
    if (waiters.length === 0) timer.unref()
  }

  function offer(slot: Slot) {
    const waiter = waiters.shift()
    if (waiter) waiter.give(slot)
    else idle.push(slot)
  }

  function acquire(signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    const free = idle.shift()
    if (free) return Promise.resolve(free)
    if (failedStarts >= maximumFailedStarts) return Promise.reject(new Error('extraction processes do not start'))
    return new Promise((resolve, reject) => {
      const onAbort = () => waiter.fail(signal.reason as Error)
      const settle = () => {
        signal.removeEventListener('abort', onAbort)
        const at = waiters.indexOf(waiter)
        if (at !== -1) waiters.splice(at, 1)
        holdProcess()
      }
      const waiter: Waiter = {
        give(slot) {
          settle()
          resolve(slot)
        },
        fail(error) {
          settle()
          reject(error)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiters.push(waiter)
      holdProcess()
    })
  }

  async function* read(request: ExtractionRequest): AsyncGenerator<Chunk[], ExtractionSummary> {
    const signal = request.signal ? AbortSignal.any([request.signal, closing.signal]) : closing.signal
    const slot = await acquire(signal)
    const limits = { ...defaultLimits(request.format, request.sizeBytes), ...options.limits, ...request.limits }
    slot.files += 1
    slot.isReading = true
    holdProcess()
    let keep = false
    try {
      const { summary, residentBytes } = yield* runExtraction(slot.child, { ...request, signal }, limits, log)
      keep = residentBytes < maximumRestingBytes && slot.files < maximumFilesPerChild
      return summary
    } catch (error) {
      // The file's fault, told by a child that is well: it may go on.
      keep = (error as { childIsSound?: boolean }).childIsSound === true && slot.files < maximumFilesPerChild
      throw error
    } finally {
      slot.isReading = false
      holdProcess()
      if (keep) offer(slot)
      else slot.child.kill()
    }
  }

  for (let index = 0; index < size; index += 1) start()

  return {
    extract(request) {
      const { promise: summary, resolve, reject } = Promise.withResolvers<ExtractionSummary>()
      // The reader of the chunks receives the failure.
      summary.catch(() => {})
      async function* chunks() {
        let isSettled = false
        try {
          resolve(yield* read(request))
          isSettled = true
        } catch (error) {
          isSettled = true
          reject(error)
          throw error
        } finally {
          if (!isSettled) reject(new Error('the extraction was left before its end'))
        }
      }
      return { chunks: chunks(), summary }
    },
    async ready() {
      await Promise.all(
        [...slots].map(async ({ child }) => {
          child.setBusy(true)
          await child.ready.finally(() => child.setBusy(false))
        }),
      )
    },
    processIds: () => [...slots].flatMap(({ child }) => child.pid ?? []),
    async close() {
      closing.abort(new Error('the extraction processes are shutting down'))
      const exits = [...slots].map(({ child }) => child.exited)
      for (const { child } of slots) {
        child.setBusy(true)
        child.kill()
      }
      await Promise.all(exits)
    },
  }
}
