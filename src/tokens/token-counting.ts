import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Log } from '../kernel/index.ts'
import { estimateTokens } from './estimate-tokens.ts'
import { createTokenCounter, type TokenCounter } from './token-counter.ts'
import type { FromTokenThread, TokenThreadData, ToTokenThread } from './token-thread-messages.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Counts tokens without blocking the event loop. Small texts are counted at once, large ones in a thread, which starts at the first
 * call, shares the vocabulary (5 MB) with this one and ends when it has been idle. What is not counted within the time limit, or
 * does not fit into the queue, is estimated: a count always comes.
 */
export interface TokenCounting {
  /** Tokens of all texts together. */
  count(texts: readonly string[]): Promise<number>
  close(): Promise<void>
}

export interface TokenCountingLimits {
  /** Texts of at most this size are counted in the calling thread: 3 ms, 20 ms for the worst texts. */
  inlineUnits: number
  /** UTF-16 units that wait for the thread; more are estimated. Three of the largest requests. */
  waitingUnits: number
  /** From the call to its count. The thread counts 2 million units of prose a second, of the worst texts 500,000. */
  timeLimitMs: number
  /** The thread ends after this time without work and gives its memory back. */
  idleMs: number
}

const defaultLimits: TokenCountingLimits = {
  inlineUnits: 8_000,
  waitingUnits: 100_000_000,
  timeLimitMs: 5_000,
  idleMs: 60_000,
}

/** UTF-16 units that the thread counts in one go: half a second for the worst texts. Longer texts are cut, at a token each. */
const batchUnits = 250_000

interface Job {
  batches: string[][]
  waitingUnits: number
  tokens: number
  finish(): void
}

export function createTokenCounting({
  log,
  limits: given = {},
  program = new URL('./token-worker.ts', import.meta.url),
}: {
  log: Log
  limits?: Partial<TokenCountingLimits>
  /** Of the thread. Tests give one that fails. */
  program?: URL
}): TokenCounting {
  const limits = { ...defaultLimits, ...given }
  const jobs = new Set<Job>()
  let vocabulary: Vocabulary | null = null
  let counter: TokenCounter | undefined
  let thread: Worker | undefined
  /** What the thread is counting. Its job may have ended meanwhile. */
  let inFlight: { job: Job; units: number } | undefined
  let idleTimer: NodeJS.Timeout | undefined
  let closed = false

  function startThread(): Worker {
    const worker = new Worker(program, {
      name: 'tokens',
      workerData: vocabulary satisfies TokenThreadData,
      execArgv: [],
    })
    worker.on('message', (message: FromTokenThread) => {
      if (message.type === 'vocabulary') {
        vocabulary = message.vocabulary
        counter ??= createTokenCounter(vocabulary)
      } else take(message.counts)
    })
    const onEnd = (reason: string) => {
      if (thread !== worker) return
      thread = inFlight = undefined
      log.warn({ reason }, 'the thread that counts tokens has ended: its counts are estimated')
      for (const job of jobs) job.finish()
    }
    worker.on('error', (error) => onEnd(error instanceof Error ? error.message : String(error)))
    worker.on('exit', (code) => onEnd(`exit code ${code}`))
    return worker
  }

  function take(counts: number[]) {
    const { job, units } = inFlight!
    inFlight = undefined
    for (const count of counts) job.tokens += count
    job.waitingUnits -= units
    job.batches.pop()
    if (job.batches.length === 0) job.finish()
    sendNext()
  }

  /** The job with the least left comes first, so that a small text does not wait for a large one. */
  function sendNext() {
    if (inFlight) return
    let next: Job | undefined
    for (const job of jobs) if (!next || job.waitingUnits < next.waitingUnits) next = job
    if (!next) return rest()
    clearTimeout(idleTimer)
    thread ??= startThread()
    // Keeps the process alive while somebody waits, and only then.
    thread.ref()
    const batch = next.batches.at(-1)!
    inFlight = { job: next, units: unitsOf(batch) }
    thread.postMessage(batch satisfies ToTokenThread, [])
  }

  function rest() {
    thread?.unref()
    clearTimeout(idleTimer)
    idleTimer = setTimeout(() => void endThread(), limits.idleMs).unref()
  }

  async function endThread() {
    clearTimeout(idleTimer)
    const ended = thread
    thread = inFlight = undefined
    await ended?.terminate()
  }

  async function countInThread(batches: string[][], waitingUnits: number): Promise<number> {
    const finished = Promise.withResolvers<void>()
    const finish = () => {
      jobs.delete(job)
      finished.resolve()
    }
    const job: Job = { batches, waitingUnits, tokens: 0, finish }
    const timer = setTimeout(finish, limits.timeLimitMs)
    jobs.add(job)
    sendNext()
    await finished.promise
    clearTimeout(timer)
    if (job.batches.length === 0) return job.tokens
    log.warn(
      { units: waitingUnits, uncounted: job.waitingUnits },
      'tokens were estimated: counting would take too long',
    )
    return job.tokens + (await estimate(job.batches.splice(0)))
  }

  return {
    async count(texts) {
      const units = unitsOf(texts)
      if (counter && units <= limits.inlineUnits) return sum(texts, counter.count)
      if (units === 0) return 0
      const waitingUnits = sum([...jobs], (job) => job.waitingUnits)
      const batches = batchesOf(texts)
      if (!closed && waitingUnits + units <= limits.waitingUnits) return countInThread(batches, units)
      log.warn({ units, waitingUnits }, 'tokens were estimated: too much text waits to be counted')
      return estimate(batches)
    },
    async close() {
      closed = true
      for (const job of jobs) job.finish()
      await endThread()
    },
  }
}

async function estimate(batches: readonly string[][]): Promise<number> {
  let tokens = 0
  for (const batch of batches) {
    tokens += sum(batch, (text) => estimateTokens(text).estimate)
    await nextTurn()
  }
  return tokens
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = []
  let room = 0
  for (const text of texts) {
    for (let start = 0; start < text.length; start += batchUnits) {
      const part = text.slice(start, start + batchUnits)
      if (part.length > room) {
        batches.push([])
        room = batchUnits
      }
      batches.at(-1)!.push(part)
      room -= part.length
    }
  }
  return batches
}

function unitsOf(texts: readonly string[]): number {
  return sum(texts, (text) => text.length)
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  let total = 0
  for (const value of values) total += of(value)
  return total
}
