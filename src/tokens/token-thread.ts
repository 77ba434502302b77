import { Worker } from 'node:worker_threads'
import type { Log } from '../kernel/index.ts'
import { createTokenCounter, type TokenCounter } from './token-counter.ts'
import type { FromTokenThread, TokenThreadData, ToTokenThread } from './token-thread-messages.ts'
import type { Vocabulary } from './vocabulary.ts'

interface Job {
  /** Texts that wait; the last batch is counted first. */
  batches: string[][]
  waitingUnits: number
  tokens: number
  finish(): void
}

export interface TokenThreadOptions {
  program: URL
  log: Log
  timeLimitMs: number
  idleMs: number
}

/** The thread that counts tokens. It starts at the first call and ends when it has been idle. */
export class TokenThread {
  /** Counts in the calling thread; there once the thread has sent its vocabulary. */
  counter: TokenCounter | undefined
  private readonly options: TokenThreadOptions
  private readonly jobs = new Set<Job>()
  private vocabulary: Vocabulary | null = null
  private thread: Worker | undefined
  /** What the thread is counting. Its job may have ended meanwhile. */
  private inFlight: { job: Job; units: number } | undefined
  private idleTimer: NodeJS.Timeout | undefined

  constructor(options: TokenThreadOptions) {
    this.options = options
  }

  waitingUnits(): number {
    return sum([...this.jobs], (job) => job.waitingUnits)
  }

  /** Takes the batches. Resolves within the time limit, with the tokens counted by then and the batches that were not. */
  async count(batches: string[][], units: number): Promise<{ tokens: number; uncounted: string[][] }> {
    const finished = Promise.withResolvers<void>()
    const finish = () => {
      this.jobs.delete(job)
      finished.resolve()
    }
    const job: Job = { batches, waitingUnits: units, tokens: 0, finish }
    const timer = setTimeout(finish, this.options.timeLimitMs)
    this.jobs.add(job)
    this.sendNext()
    await finished.promise
    clearTimeout(timer)
    return { tokens: job.tokens, uncounted: job.batches.splice(0) }
  }

  async close(): Promise<void> {
    for (const job of this.jobs) job.finish()
    await this.end()
  }

  private start(): Worker {
    const worker = new Worker(this.options.program, {
      name: 'tokens',
      workerData: this.vocabulary satisfies TokenThreadData,
      execArgv: [],
    })
    worker.on('message', (message: FromTokenThread) => {
      if (message.type === 'vocabulary') {
        this.vocabulary = message.vocabulary
        this.counter ??= createTokenCounter(message.vocabulary)
      } else this.take(message.counts)
    })
    const onEnd = (reason: string) => {
      if (this.thread !== worker) return
      this.thread = this.inFlight = undefined
      this.options.log.warn({ reason }, 'the thread that counts tokens has ended: its counts are estimated')
      for (const job of this.jobs) job.finish()
    }
    worker.on('error', (error) => onEnd(error instanceof Error ? error.message : String(error)))
    worker.on('exit', (code) => onEnd(`exit code ${code}`))
    return worker
  }

  private take(counts: number[]): void {
    const { job, units } = this.inFlight!
    this.inFlight = undefined
    for (const count of counts) job.tokens += count
    job.waitingUnits -= units
    job.batches.pop()
    if (job.batches.length === 0) job.finish()
    this.sendNext()
  }

  /** The job with the least left comes first, so that a small text does not wait for a large one. */
  private sendNext(): void {
    if (this.inFlight) return
    let next: Job | undefined
    for (const job of this.jobs) if (!next || job.waitingUnits < next.waitingUnits) next = job
    if (!next) return this.rest()
    clearTimeout(this.idleTimer)
    this.thread ??= this.start()
    // Keeps the process alive while a call waits, and only then.
    this.thread.ref()
    const batch = next.batches.at(-1)!
    this.inFlight = { job: next, units: unitsOf(batch) }
    this.thread.postMessage(batch satisfies ToTokenThread, [])
  }

  private rest(): void {
    this.thread?.unref()
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(() => void this.end(), this.options.idleMs).unref()
  }

  private async end(): Promise<void> {
    clearTimeout(this.idleTimer)
    const ended = this.thread
    this.thread = this.inFlight = undefined
    await ended?.terminate()
  }
}

export function unitsOf(texts: readonly string[]): number {
  return sum(texts, (text) => text.length)
}

export function sum<T>(values: readonly T[], of: (value: T) => number): number {
  let total = 0
  for (const value of values) total += of(value)
  return total
}
