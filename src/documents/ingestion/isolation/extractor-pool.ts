import type { ExtractionRequest, ExtractionServices } from './extraction-run.ts'
import { tmpdir } from 'node:os'
import { type Clock, describeError, systemClock } from '../../../platform/kernel/index.ts'
import type { Chunk, ExtractionSummary } from '../extraction.ts'
import { MemoryPressureError, runExtraction } from './extraction-run.ts'
import { startExtractorChild, type ExtractorChild } from './extractor-child.ts'
import { defaultLimits, type ExtractionLimits } from './limits.ts'
import { chooseToEnd, type HeldMemory, residentBytesOf } from './memory-shares.ts'
import type { ChunkingSettings } from './protocol.ts'

export interface ExtractorPoolOptions extends ExtractionServices {
  /** Most child processes, and so files that are read at once. Each takes about 140 MB at rest. */
  size: number
  chunking: ChunkingSettings
  /** Folders that children may read files from, the temporary folder included where files are put there first. */
  readableFolders?: readonly string[]
  /** Resident memory of a child by its process id; default: from /proc. */
  residentBytesOf?: (pid: number) => number
  /** Replaces single limits; the others follow the size of each file. */
  limits?: Partial<ExtractionLimits>
  clock?: Clock
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

export type ExtractorPool = ReturnType<typeof createExtractorPool>

/** A child is replaced after this many files, or when it holds this much memory at rest: WebAssembly memory never shrinks. */
const maximumFilesPerChild = 500
const maximumRestingBytes = 400 * 1024 * 1024
/** A child without a file for this long ends: the next file then waits about a second for a new one. */
const maximumIdleMs = 60_000
const checkIdleEveryMs = 10_000
/**
 * Resident memory of all children together: what each takes for a usual file, and one file of large needs. While they take more, files
 * of large needs are read one after the other.
 */
const usualBytes = 160 * 1024 * 1024
const largeFileBytes = 192 * 1024 * 1024
/** A child with less is never ended while it reads. */
const smallBytes = 192 * 1024 * 1024
const checkMemoryEveryMs = 100
/** Starts that may fail in a row before waiting extractions are rejected. */
const maximumFailedStarts = 3

interface Slot {
  child: ExtractorChild
  files: number
  isReading: boolean
  /** Ends its extraction; absent where it must not end early. */
  move: AbortController | undefined
  isUp: boolean
  /** Since when it waits for a file, by the monotonic clock. */
  idleSinceMs: number
}

interface Waiter {
  give(slot: Slot): void
  fail(error: Error): void
}

/**
 * Reads files in child processes, so that a hostile file ends its child and nothing else. Children start when a file waits for one, and
 * end when no file needs them.
 */
export function createExtractorPool(options: ExtractorPoolOptions) {
  const { counter } = options.chunking
  const readable = options.readableFolders ?? [tmpdir()]
  const folders = [...readable, ...(counter.kind === 'tokenizer' ? [counter.folder] : [])]
  const children = new ChildPool(folders, options)

  return {
    /** Starts when its chunks are read, as soon as a child is free. */
    extract(request: ExtractionRequest): Extraction {
      const { promise: summary, resolve, reject } = Promise.withResolvers<ExtractionSummary>()
      // The reader of the chunks receives the failure.
      summary.catch(() => {})
      async function* chunks() {
        let isComplete = false
        try {
          resolve(yield* readFile(children, options, request))
          isComplete = true
        } catch (error) {
          isComplete = true
          reject(error)
          throw error
        } finally {
          if (!isComplete) reject(new Error('the extraction was left before its end'))
        }
      }
      return { chunks: chunks(), summary }
    },
    /** Starts all children and resolves when they are up. Extractions need not wait for it. */
    warm: () => children.warm(),
    /** Process ids of the living children. */
    processIds: (): number[] => children.processIds(),
    /** Processes, those that read a file, and extractions that wait for one. */
    load: () => children.load(),
    /** Ends running extractions and all children. */
    close: () => children.close(),
  }
}

async function* readFile(
  children: ChildPool,
  options: ExtractorPoolOptions,
  request: ExtractionRequest,
): AsyncGenerator<Chunk[], ExtractionSummary> {
  const stop = request.signal ? AbortSignal.any([request.signal, children.closing]) : children.closing
  const slot = await children.acquire(stop)
  slot.move = request.mayMove ? new AbortController() : undefined
  const signal = slot.move ? AbortSignal.any([stop, slot.move.signal]) : stop
  if (request.isLong) children.startSpare()
  const limits = { ...defaultLimits(request.format, request.sizeBytes), ...options.limits, ...request.limits }
  let isHealthy = false
  request.onStart?.()
  try {
    const { summary, residentBytes } = yield* runExtraction(slot.child, { ...request, signal }, limits, options)
    isHealthy = residentBytes < maximumRestingBytes
    return summary
  } catch (error) {
    // The file is at fault and the child reported it: the child can read the next file.
    isHealthy = (error as { childIsSound?: boolean }).childIsSound === true
    throw error
  } finally {
    children.release(slot, isHealthy)
  }
}

/** The child processes, and the queue of extractions that wait for one of them. */
class ChildPool {
  private readonly folders: string[]
  private readonly options: ExtractorPoolOptions
  private readonly slots = new Set<Slot>()
  private readonly idle: Slot[] = []
  private readonly waiters: Waiter[] = []
  private readonly closer = new AbortController()
  private readonly clock: Clock
  private failedStarts = 0

  constructor(folders: string[], options: ExtractorPoolOptions) {
    this.folders = folders
    this.options = options
    this.clock = options.clock ?? systemClock
    const stops = [
      this.clock.every(checkIdleEveryMs, () => this.endIdle()),
      this.clock.every(checkMemoryEveryMs, () => this.limitMemory()),
    ]
    this.closing.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true })
  }

  /** Aborted when the pool closes. */
  get closing(): AbortSignal {
    return this.closer.signal
  }

  processIds(): number[] {
    return [...this.slots].flatMap(({ child }) => child.pid ?? [])
  }

  load() {
    const slots = [...this.slots]
    return {
      processes: slots.length,
      busy: slots.filter(({ isReading }) => isReading).length,
      waiting: this.waiters.length,
    }
  }

  private start() {
    if (this.closing.aborted) return
    let child: ExtractorChild
    try {
      child = startExtractorChild(this.folders, this.options.chunking)
    } catch (error) {
      // A readable folder is away. Thrown, it would leave a waiter behind that takes a child for ever.
      this.retryStart(describeError(error))
      return
    }
    const slot: Slot = { child, files: 0, isReading: false, move: undefined, isUp: false, idleSinceMs: 0 }
    this.slots.add(slot)
    this.holdProcess()
    child.ready.then(
      () => {
        slot.isUp = true
        this.failedStarts = 0
        this.offer(slot)
        this.startForWaiters()
      },
      () => {},
    )
    void child.exited.then(({ code, signal, errorOutput }) => {
      this.slots.delete(slot)
      const at = this.idle.indexOf(slot)
      if (at !== -1) this.idle.splice(at, 1)
      if (this.closing.aborted) return
      this.options.log.debug({ code, signal }, 'an extraction process ended')
      if (slot.isUp) this.startForWaiters()
      else this.retryStart(errorOutput)
    })
  }

  /** A child that reads no other file until it is released. */
  async acquire(signal: AbortSignal): Promise<Slot> {
    const slot = await this.freeSlot(signal)
    slot.files += 1
    slot.isReading = true
    this.holdProcess()
    return slot
  }

  release(slot: Slot, isHealthy: boolean) {
    slot.isReading = false
    slot.move = undefined
    this.holdProcess()
    if (isHealthy && slot.files < maximumFilesPerChild) this.offer(slot)
    else slot.child.kill()
  }

  async warm(): Promise<void> {
    while (this.slots.size < this.options.size) this.start()
    await Promise.all(
      [...this.slots].map(async ({ child }) => {
        child.setBusy(true)
        await child.ready.finally(() => child.setBusy(false))
      }),
    )
  }

  async close(): Promise<void> {
    this.closer.abort(new Error('the extraction processes are shutting down'))
    const exits = [...this.slots].map(({ child }) => child.exited)
    for (const { child } of this.slots) {
      child.setBusy(true)
      child.kill()
    }
    await Promise.all(exits)
  }

  /** One child for each waiting extraction, those that are starting included, up to the pool's size. */
  private startForWaiters() {
    // A failed start is repeated after a pause.
    if (this.failedStarts > 0) return
    let starting = [...this.slots].filter(({ isUp }) => !isUp).length
    for (; starting < this.waiters.length && this.slots.size < this.options.size; starting++) this.start()
  }

  /** One child that waits for a file, or will do so soon, as far as the pool's size allows. */
  startSpare() {
    const isReady = this.idle.length > 0 || [...this.slots].some(({ isUp }) => !isUp)
    if (!isReady && this.failedStarts === 0 && this.slots.size < this.options.size) this.start()
  }

  private endIdle() {
    const sinceMs = this.clock.monotonicMs() - maximumIdleMs
    for (const slot of this.idle.filter(({ idleSinceMs }) => idleSinceMs <= sinceMs)) {
      this.endChild(slot)
    }
  }

  private limitMemory() {
    const { size, log, residentBytesOf: bytesOf = residentBytesOf } = this.options
    if (this.slots.size < 2) return
    let maximumBytes = size * usualBytes + largeFileBytes
    const held: HeldMemory<Slot>[] = []
    for (const slot of this.slots) {
      const bytes = slot.child.pid === undefined ? 0 : bytesOf(slot.child.pid)
      const { isReading, isUp, move } = slot
      if (isUp) held.push({ child: slot, bytes, isReading, mayMove: move !== undefined })
      else maximumBytes -= bytes
    }
    for (const slot of chooseToEnd(held, maximumBytes, smallBytes)) {
      log.info({ isReading: slot.isReading }, 'an extraction process ends because all together take too much memory')
      if (slot.isReading) slot.move?.abort(new MemoryPressureError('extraction processes take too much memory'))
      else this.endChild(slot)
    }
  }

  /** Ends a child without a file. */
  private endChild(slot: Slot) {
    const at = this.idle.indexOf(slot)
    if (at !== -1) this.idle.splice(at, 1)
    slot.child.kill()
  }

  /** Children keep this process alive only while one of them reads or an extraction waits for one. */
  private holdProcess() {
    for (const { child, isReading } of this.slots) child.setBusy(isReading || this.waiters.length > 0)
  }

  /** Retries without end, with growing pauses: memory or process ids can become available again. */
  private retryStart(errorOutput: string) {
    this.failedStarts += 1
    const { failedStarts, waiters } = this
    this.options.log.error(
      { failedStarts, errorOutput: errorOutput.slice(-1000) },
      'an extraction process did not start',
    )
    if (failedStarts >= maximumFailedStarts)
      for (const waiter of waiters.slice()) waiter.fail(new Error('extraction processes do not start'))
    const pauseMs = Math.min(30_000, 200 * 2 ** failedStarts)
    const timer = setTimeout(() => this.start(), pauseMs)
    if (waiters.length === 0) timer.unref()
  }

  private offer(slot: Slot) {
    const waiter = this.waiters.shift()
    if (waiter) return waiter.give(slot)
    slot.idleSinceMs = this.clock.monotonicMs()
    this.idle.push(slot)
  }

  private freeSlot(signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    // The one that waits for the shortest time, so that others become superfluous.
    const free = this.idle.pop()
    if (free) return Promise.resolve(free)
    if (this.failedStarts >= maximumFailedStarts) return Promise.reject(new Error('extraction processes do not start'))
    return new Promise((resolve, reject) => {
      const onAbort = () => waiter.fail(signal.reason as Error)
      const leaveQueue = () => {
        signal.removeEventListener('abort', onAbort)
        const at = this.waiters.indexOf(waiter)
        if (at !== -1) this.waiters.splice(at, 1)
        this.holdProcess()
      }
      const waiter: Waiter = {
        give(slot) {
          leaveQueue()
          resolve(slot)
        },
        fail(error) {
          leaveQueue()
          reject(error)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.waiters.push(waiter)
      this.startForWaiters()
      this.holdProcess()
    })
  }
}
