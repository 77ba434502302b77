import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { FairShares, type Log } from '../../platform/kernel/index.ts'
import { createTokenCounter, type TokenCounter, type Vocabulary } from './token-counter.ts'
import type { JsonText } from '../../platform/bodies/index.ts'

/**
 * Token counts without a tokenizer run. Two figures come out: an estimate (what a crash bills) and a bound (what a hold covers). A
 * byte-level BPE never makes more tokens than UTF-8 bytes; runs of ASCII letters make far fewer, which is what the bound uses.
 * Checked against o200k and cl100k in estimate-tokens.test.ts.
 */
export interface TokenEstimate {
  estimate: number
  bound: number
}

/** Longest run of ASCII letters that the bound takes for a word; longer ones are noise (base64) and count 1 per letter. */
const wordLength = 14

/** Estimate and bound of one text, 10 ms for a million UTF-16 units. */
export function estimateTokens(text: string): TokenEstimate {
  let estimate = 0
  let bound = 0
  let run = 0
  let consonants = 0
  let longestConsonants = 0
  let spaces = 0
  for (let index = 0; index <= text.length; index++) {
    const unit = index < text.length ? text.charCodeAt(index) : 0
    if (spaces > 0 && unit !== 32) {
      bound += boundOfSpaces(spaces, unit)
      spaces = 0
    }
    if ((unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)) {
      run++
      // Sixth bit: lower case.
      consonants = isVowel(unit | 32) ? 0 : consonants + 1
      if (consonants > longestConsonants) longestConsonants = consonants
      continue
    }
    if (run > 0) {
      estimate += run <= 6 ? 1 : run / 5
      bound += boundOfLetters(run, longestConsonants)
      run = consonants = longestConsonants = 0
    }
    if (index === text.length) break
    if (unit === 32) {
      spaces++
    } else if (unit < 128) {
      estimate += 0.7
      bound += 1
    } else {
      // UTF-16 units above ASCII take 2 or 3 bytes (a surrogate pair 4, so 2 each).
      estimate += unit >= 0x3000 ? 0.9 : 0.5
      bound += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
    }
  }
  return { estimate: Math.ceil(estimate), bound: Math.ceil(bound) }
}

const sampleBytes = 2_048
const windowBytes = 256

/**
 * The same for a long text of a body, which is not decoded: the estimate is that of a sample, and the bound is its bytes of UTF-8, a third more
 * than that of prose. Takes 15 µs.
 */
export function estimateLongText(text: JsonText): TokenEstimate {
  const bound = text.maximumTextBytes
  const sample = text.sample(sampleBytes, windowBytes)
  const estimate = Math.ceil((estimateTokens(sample.text).estimate * text.bytes) / sample.bytes)
  return { estimate: Math.min(estimate, bound), bound }
}

/** A text with more units than this is sampled. */
const sampledUnits = 4_096
const sampledWindows = sampleBytes / windowBytes

/**
 * The same for JSON, such as definitions of tools: that of a long one is the estimate of a sample, and its bytes of UTF-8 bound it.
 */
export function estimateJson(json: string): TokenEstimate {
  if (json.length <= sampledUnits) return estimateTokens(json)
  const distance = json.length / sampledWindows
  let estimate = 0
  for (let window = 0; window < sampledWindows; window++) {
    const start = Math.floor(window * distance + (distance - windowBytes) / 2)
    estimate += estimateTokens(json.slice(start, start + windowBytes)).estimate
  }
  const bound = Buffer.byteLength(json)
  return { estimate: Math.min(Math.ceil((estimate * json.length) / sampleBytes), bound), bound }
}

/** One bit for each letter: a, e, i, o, u and y. */
const vowels = [...'aeiouy'].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) - 97)), 0)

function isVowel(lowerCaseUnit: number): boolean {
  return ((vowels >> (lowerCaseUnit - 97)) & 1) === 1
}

/** Words of a language make few tokens; letters at random, known by three consonants in a row, may make one each. */
function boundOfLetters(run: number, longestConsonants: number): number {
  return run <= 3 || run > wordLength || longestConsonants >= 3 ? run : 1.5 + run / 2
}

/** One space merges with the following word or sign, never with a digit; earlier spaces make a separate token. */
function boundOfSpaces(count: number, next: number): number {
  const melts = next > 32 && next < 127 && !(next >= 48 && next <= 57)
  return (count === 1 ? 0 : count / 2) + (melts ? 0.5 : 1)
}

/**
 * Counts tokens without blocking the event loop. Small texts are counted at once, large ones in a thread, which starts at the first
 * call, shares the vocabulary (5 MB) with this one and ends when it has been idle. Organisations take turns in it. What is not counted within the time limit, or
 * does not fit into the queue, is estimated: a count always comes.
 */
export type TokenCounting = ReturnType<typeof createTokenCounting>

interface TokenCountingLimits {
  /** Texts of at most this size are counted in the calling thread: 3 ms, 20 ms for the worst texts. */
  inlineUnits: number
  /**
   * UTF-16 units that wait for the thread; more are estimated, and of an organisation of which more waits than is free. Three of the largest
   * requests.
   */
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

export function createTokenCounting({
  log,
  limits: given = {},
  program = new URL('./token-worker.ts', import.meta.url),
}: {
  log: Log
  limits?: Partial<TokenCountingLimits>
  /** Of the thread. Tests give one that fails. */
  program?: URL
}) {
  const limits = { ...defaultLimits, ...given }
  const { waitingUnits: maximumUnits, timeLimitMs, idleMs } = limits
  const thread = new TokenThread({ program, log, maximumUnits, timeLimitMs, idleMs })
  let closed = false
  return {
    /** Tokens of all texts together. `owner`: the organisation whose turns in the thread they take. */
    async count(texts: readonly string[], owner: string): Promise<number> {
      const units = unitsOf(texts)
      const { counter } = thread
      if (counter && units <= limits.inlineUnits) return sum(texts, counter.count)
      if (units === 0) return 0
      const batches = batchesOf(texts)
      if (closed || !thread.hasRoom(units, owner)) {
        log.warn(
          { units, waitingUnits: thread.waitingUnits },
          'tokens were estimated: too much text waits to be counted',
        )
        return estimate(batches)
      }
      const { tokens, uncounted } = await thread.count(batches, units, owner)
      if (uncounted.length === 0) return tokens
      const uncountedUnits = sum(uncounted, unitsOf)
      log.warn({ units, uncounted: uncountedUnits }, 'tokens were estimated: counting would take too long')
      return tokens + (await estimate(uncounted))
    },
    close(): Promise<void> {
      closed = true
      return thread.close()
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
class TokenThread {
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

function unitsOf(texts: readonly string[]): number {
  return sum(texts, (text) => text.length)
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  let total = 0
  for (const value of values) total += of(value)
  return total
}
