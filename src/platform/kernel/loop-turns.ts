import { performance } from 'node:perf_hooks'
import { Turns } from './turns.ts'

/**
 * Longest time that steps of work take in one phase of the event loop. A call of another owner waits for about ten phases, since each answer
 * of the system, the database and the provider waits for one.
 */
const sliceMs = 2
/** Steps that run at once in one turn of the event loop. What a shared event lets continue enters before any of it has taken time. */
const maximumAtOnce = 32
/** Waiting steps that are resumed in one phase at most: each takes a callback, also after the end of the slice. */
const maximumBatch = 64

/**
 * While connections arrive, steps run in one of so many turns of the event loop, one each: libuv accepts one connection in a turn, so in turns
 * with slices of steps the thousandth client would wait for seconds.
 */
const turnsForConnections = 8

interface LoopTurnsOptions {
  nowMs?: () => number
  /** Counts the turns of the event loop. */
  loopCount?: () => number
  /** Calls back in the next phase for it; microtasks run between two callbacks. */
  defer?: (callback: () => void) => void
}

/**
 * Shares the event loop of a thread between owners. Many short steps of one owner that become ready at once, such as the arrivals of a thousand requests
 * or the chunks of their streams, then delay a step of another one by one step each, not by all of them.
 */
export class LoopTurns {
  readonly #nowMs: () => number
  readonly #loopCount: () => number
  readonly #defer: (callback: () => void) => void
  readonly #waiting = new Turns<() => void>()
  #waitingCount = 0
  /** Callbacks of the batch that are still to come. */
  #batch = 0
  /** The phase of the batch has begun; what waits from then on is for the next one. */
  #isRunning = false
  #loop = -1
  #startedMs = 0
  #atOnce = 0
  /** The turn in which the last connection arrived. */
  #connectionLoop = -Infinity
  #turnsWithoutStep = 0
  /** Steps that the present phase may still resume. */
  #allowed = 0

  constructor({
    nowMs = () => performance.now(),
    loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount,
    defer = (callback) => void setImmediate(callback),
  }: LoopTurnsOptions = {}) {
    this.#nowMs = nowMs
    this.#loopCount = loopCount
    this.#defer = defer
  }

  /** Called before a step. Undefined: it may run at once. Otherwise it waits for the promise, which never rejects. */
  enter(owner: string): Promise<void> | undefined {
    if (this.#waitingCount === 0 && this.#hasTime()) return undefined
    return new Promise((resolve) => {
      this.#waiting.add(owner, resolve)
      this.#waitingCount++
      if (!this.#isRunning) this.#extendBatch()
    })
  }

  connectionArrived(): void {
    this.#connectionLoop = this.#loopCount()
  }

  #hasTime(): boolean {
    const loop = this.#loopCount()
    // The request of a connection is read in the turn after it, in which the next connection may arrive.
    if (loop - this.#connectionLoop <= 1) return false
    const nowMs = this.#nowMs()
    if (loop !== this.#loop) {
      this.#loop = loop
      this.#startedMs = nowMs
      this.#atOnce = 0
    }
    return ++this.#atOnce <= maximumAtOnce && nowMs - this.#startedMs < sliceMs
  }

  #stepsAllowed(): number {
    const isArriving = this.#connectionLoop === this.#loopCount()
    if (isArriving && ++this.#turnsWithoutStep < turnsForConnections) return 0
    this.#turnsWithoutStep = 0
    return isArriving ? 1 : maximumBatch
  }

  #extendBatch(): void {
    for (; this.#batch < Math.min(this.#waitingCount, maximumBatch); this.#batch++) this.#defer(this.#resume)
  }

  #resume = (): void => {
    if (!this.#isRunning) {
      this.#isRunning = true
      this.#startedMs = this.#nowMs()
      this.#allowed = this.#stepsAllowed()
    }
    this.#batch--
    if (this.#waitingCount > 0 && this.#allowed > 0 && this.#nowMs() - this.#startedMs < sliceMs) {
      this.#waitingCount--
      this.#allowed--
      this.#waiting.takeNext()!.item()
    }
    if (this.#batch > 0) return
    this.#isRunning = false
    this.#extendBatch()
  }
}

/** There is one event loop in a thread, so its turns are not an argument. */
const turns = new LoopTurns()

/** See `LoopTurns.enter`. */
export function loopTurn(owner: string): Promise<void> | undefined {
  return turns.enter(owner)
}

/** See `LoopTurns.connectionArrived`. */
export function connectionArrived(): void {
  turns.connectionArrived()
}
