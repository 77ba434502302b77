import { performance } from 'node:perf_hooks'
import { Turns } from './turns.ts'

/** How long steps, and all work of one turn of the event loop, should take. */
interface Lengths {
  sliceMs: number
  /**
   * Steps start work that comes back as events of sockets and files, which take no turns. The more time these took since the last phase, the
   * shorter the slice, so that steps begin no more than the event loop can follow.
   */
  turnMs: number
}

const ofOneOwner: Lengths = { sliceMs: 2, turnMs: 3 }
/** A call waits for about ten turns, since each answer of the system, the database and the provider waits for one. */
const ofSeveral: Lengths = { sliceMs: 0.5, turnMs: 1 }
/** So long after steps of two owners followed each other, the loop counts as shared. */
const sharedForMs = 100
/** So that steps make progress. */
const shortestSliceMs = 0.25
/**
 * Part of the other work that a slice takes at least: work that takes this long has another cause than steps, such as slow bodies that are read
 * in turns only after the steps of their requests.
 */
const shareOfOther = 1 / 4

/** Steps that run at once in one turn of the event loop. What a shared event lets continue enters before any of it has taken time. */
const maximumAtOnce = 32
/** Waiting steps that are resumed in one phase at most: each takes a callback, also after the end of the slice. */
const maximumBatch = 64

/**
 * While connections arrive, steps run in one of so many turns of the event loop, one each: libuv accepts one connection in a turn, so in turns
 * with slices of steps the thousandth client would wait for seconds.
 */
const turnsForConnections = 8
/** Steps wait no longer for connections: turns that are long have another cause, and steps make them hardly longer. */
const connectionsMs = 4

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
  /** The end of the last phase. */
  #endedLoop = -Infinity
  #endedMs = 0
  /** Of the present phase. */
  #sliceMs = 0
  #lastOwner: string | undefined
  /** When a step of another owner than the last one entered. */
  #changedMs = -Infinity
  /** Owners that have had no step in the present phase. */
  #round = 0
  /** The turn in which the last connection arrived. */
  #connectionLoop = -Infinity
  #turnsWithoutStep = 0
  /** The last phase in which steps could run. */
  #steppedMs = 0
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
    if (owner !== this.#lastOwner) this.#change(owner)
    return this.#waitingCount === 0 && this.#hasTime() ? undefined : this.wait(owner)
  }

  /** Waits for the next phase in any case: after a step that was long. */
  wait(owner: string): Promise<void> {
    if (owner !== this.#lastOwner) this.#change(owner)
    return new Promise((resolve) => {
      this.#waiting.add(owner, resolve)
      this.#waitingCount++
      if (!this.#isRunning) this.#extendBatch()
    })
  }

  connectionArrived(): void {
    this.#connectionLoop = this.#loopCount()
  }

  #change(owner: string): void {
    if (this.#lastOwner !== undefined) this.#changedMs = this.#nowMs()
    this.#lastOwner = owner
  }

  #lengths(nowMs: number): Lengths {
    return nowMs - this.#changedMs < sharedForMs ? ofSeveral : ofOneOwner
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
    return ++this.#atOnce <= maximumAtOnce && nowMs - this.#startedMs < this.#lengths(nowMs).sliceMs
  }

  #begin(): void {
    const loop = this.#loopCount()
    const nowMs = this.#nowMs()
    const otherMs = loop - this.#endedLoop === 1 ? nowMs - this.#endedMs : 0
    this.#isRunning = true
    this.#startedMs = nowMs
    const { sliceMs, turnMs } = this.#lengths(nowMs)
    this.#sliceMs = Math.max(
      Math.min(sliceMs, turnMs - otherMs),
      Math.min(ofOneOwner.sliceMs, otherMs * shareOfOther),
      shortestSliceMs,
    )
    this.#round = this.#waiting.owners
    const isArriving = this.#connectionLoop === loop
    const isForConnections =
      isArriving && nowMs - this.#steppedMs < connectionsMs && ++this.#turnsWithoutStep < turnsForConnections
    if (!isForConnections) {
      this.#turnsWithoutStep = 0
      this.#steppedMs = nowMs
    }
    if (isForConnections) this.#allowed = 0
    else this.#allowed = isArriving ? this.#round : maximumBatch
  }

  #end(): void {
    this.#isRunning = false
    this.#endedLoop = this.#loopCount()
    this.#endedMs = this.#nowMs()
    this.#extendBatch()
  }

  #extendBatch(): void {
    for (; this.#batch < Math.min(this.#waitingCount, maximumBatch); this.#batch++) this.#defer(this.#resume)
  }

  #resume = (): void => {
    if (!this.#isRunning) this.#begin()
    this.#batch--
    const usedMs = this.#nowMs() - this.#startedMs
    // The first step of each owner is not for the work that another one has started.
    if (
      this.#waitingCount > 0 &&
      this.#allowed > 0 &&
      usedMs < (this.#round > 0 ? ofOneOwner.sliceMs : this.#sliceMs)
    ) {
      this.#waitingCount--
      this.#allowed--
      this.#round--
      this.#waiting.takeNext()!.item()
    }
    if (this.#batch === 0) this.#end()
  }
}

/** There is one event loop in a thread, so its turns are not an argument. */
const turns = new LoopTurns()

/** See `LoopTurns.enter`. */
export function loopTurn(owner: string): Promise<void> | undefined {
  return turns.enter(owner)
}

/** See `LoopTurns.wait`. */
export function nextLoopTurn(owner: string): Promise<void> {
  return turns.wait(owner)
}

/** See `LoopTurns.connectionArrived`. */
export function connectionArrived(): void {
  turns.connectionArrived()
}
