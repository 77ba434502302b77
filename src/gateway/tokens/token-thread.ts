import { Worker } from 'node:worker_threads'
import { FairShares, type Log } from '../../platform/kernel/index.ts'
import { createTokenCounter, type TokenCounter } from './token-counter.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Given to the thread at its start: the vocabulary where this process has loaded it before. */
export type TokenThreadData = Vocabulary | null

/** To the thread: texts to count. One batch at a time. */
export type ToTokenThread = string[]

/** From the thread: the vocabulary, once and first; then the counts of each batch. */
export type FromTokenThread = { type: 'vocabulary'; vocabulary: Vocabulary } | { type: 'counted'; counts: number[] }

interface Job {
  owner: string
  /** Texts that wait; the last batch is counted first. */
  batches: string[][]
  waitingUnits: number
  tokens: number
  finish(): void
}

interface TokenThreadOptions {
  program: URL
  log: Log
  /** UTF-16 units that wait. */
  maximumUnits: number
  timeLimitMs: number
  idleMs: number
}

/** The thread that counts tokens. It starts at the first call and ends when it has been idle. */
export class TokenThread {
  /** Counts in the calling thread; there once the thread has sent its vocabulary. */
  counter: TokenCounter | undefined
  private readonly options: TokenThreadOptions
  /** By organisation; the one whose turn is next comes first. */
  private readonly jobs = new Map<string, Set<Job>>()
  /** UTF-16 units that wait. */
  private readonly waiting: FairShares
  private vocabulary: Vocabulary | null = null
  private thread: Worker | undefined
  /** What the thread is counting. Its job may have ended meanwhile. */
  private inFlight: { job: Job; units: number } | undefined
  private idleTimer: NodeJS.Timeout | undefined

  constructor(options: TokenThreadOptions) {
    this.options = options
    this.waiting = new FairShares(options.maximumUnits)
  }

  get waitingUnits(): number {
    return this.waiting.total
  }

  /** Whether so many units fit. An organisation with text that waits may add more while it has less of it than is free. */
  hasRoom(units: number, owner: string): boolean {
    const { total, maximum } = this.waiting
    return total + units <= maximum && this.waiting.hasRoom(owner)
  }

  /** Takes the batches. Resolves within the time limit, with the tokens counted by then and the batches that were not. */
  async count(batches: string[][], units: number, owner: string): Promise<{ tokens: number; uncounted: string[][] }> {
    const finished = Promise.withResolvers<void>()
    const finish = () => {
      if (!this.remove(job)) return
      this.waiting.release(owner, job.waitingUnits)
      finished.resolve()
    }
    const job: Job = { owner, batches, waitingUnits: units, tokens: 0, finish }
    const timer = setTimeout(finish, this.options.timeLimitMs)
    const siblings = this.jobs.get(owner)
    if (siblings) siblings.add(job)
    else this.jobs.set(owner, new Set([job]))
    this.waiting.take(owner, units)
    this.sendNext()
    await finished.promise
    clearTimeout(timer)
    return { tokens: job.tokens, uncounted: job.batches.splice(0) }
  }

  async close(): Promise<void> {
    this.finishAll()
    await this.end()
  }

  private finishAll(): void {
    for (const jobs of this.jobs.values()) for (const job of jobs) job.finish()
  }

  /** False: it has ended. */
  private remove(job: Job): boolean {
    const siblings = this.jobs.get(job.owner)
    if (!siblings?.delete(job)) return false
    if (siblings.size === 0) this.jobs.delete(job.owner)
    return true
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
      this.finishAll()
    }
    worker.on('error', (error) => onEnd(error instanceof Error ? error.message : String(error)))
    worker.on('exit', (code) => onEnd(`exit code ${code}`))
    return worker
  }

  private take(counts: number[]): void {
    const { job, units } = this.inFlight!
    this.inFlight = undefined
    // Otherwise its time is over.
    if (this.jobs.get(job.owner)?.has(job)) {
      for (const count of counts) job.tokens += count
      this.waiting.release(job.owner, units)
      job.waitingUnits -= units
      job.batches.pop()
      if (job.batches.length === 0) job.finish()
    }
    this.sendNext()
  }

  /** One batch of each organisation in turn, of its job with the least left, so that a small text does not wait for a large one. */
  private takeTurn(): Job | undefined {
    for (const [owner, jobs] of this.jobs) {
      this.jobs.delete(owner)
      this.jobs.set(owner, jobs)
      return [...jobs].reduce((least, job) => (job.waitingUnits < least.waitingUnits ? job : least))
    }
    return undefined
  }

  private sendNext(): void {
    if (this.inFlight) return
    const next = this.takeTurn()
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
