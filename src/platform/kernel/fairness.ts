import { performance } from 'node:perf_hooks'

/**
 * How owners, mostly organisations, share what is bounded: turns of what waits (`Turns`), shares of an amount
 * (`FairShares`), work with places and turns (`createFairTurns`), and turns at the event loop (`LoopTurns`);
 * `createTimeSlices` lets requests run between the steps of document work.
 */

/** What waits, by owner: owners take turns, and the items of one keep their order. */
export class Turns<Item> {
  /** The owner whose turn is next comes first. */
  readonly #queues = new Map<string, Item[]>()

  add(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)
    if (queue) queue.push(item)
    else this.#queues.set(owner, [item])
  }

  /** Removes the next item that is ready. The next turn of its owner comes after those of the others. */
  takeNext(isReady?: (item: Item) => boolean): { owner: string; item: Item } | undefined {
    for (const [owner, queue] of this.#queues) {
      const place = isReady ? queue.findIndex(isReady) : 0
      if (place >= 0) return this.#take(owner, queue, place)
    }
    return undefined
  }

  /** The same among some owners, by how many of their items wait. */
  takeNextOf(isMeant: (owner: string, waiting: number) => boolean): { owner: string; item: Item } | undefined {
    for (const [owner, queue] of this.#queues) if (isMeant(owner, queue.length)) return this.#take(owner, queue, 0)
    return undefined
  }

  #take(owner: string, queue: Item[], place: number): { owner: string; item: Item } {
    const item = place === 0 ? queue.shift()! : queue.splice(place, 1)[0]!
    // One owner alone keeps its place.
    if (queue.length === 0 || this.#queues.size > 1) this.#queues.delete(owner)
    if (queue.length > 0) this.#queues.set(owner, queue)
    return { owner, item }
  }

  /** The item must be there. */
  remove(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)!
    queue.splice(queue.indexOf(item), 1)
    if (queue.length === 0) this.#queues.delete(owner)
  }
}

/** Owner of what is for no single organisation: it takes its share and its turns like one more. */
export const sharedOwner = ''

/**
 * Counts what each owner uses of a bounded amount. An owner may take more while it uses less than is free (dynamic thresholds with α = 1,
 * Choudhury and Hahne 1998): one alone gets half, two busy ones get a third each, and something is always free for the next one.
 */
export class FairShares {
  readonly maximum: number
  private readonly used = new Map<string, number>()
  private sum = 0

  constructor(maximum: number) {
    this.maximum = maximum
  }

  /** Of all owners. */
  get total(): number {
    return this.sum
  }

  /** Owners that use something. */
  get owners(): number {
    return this.used.size
  }

  /** What the owner with the most uses. */
  get most(): number {
    return Math.max(0, ...this.used.values())
  }

  usedBy(owner: string): number {
    return this.used.get(owner) ?? 0
  }

  hasRoom(owner: string): boolean {
    return this.usedBy(owner) < this.maximum - this.sum
  }

  /** Counts without a check: work that has begun is never refused. */
  take(owner: string, amount = 1): void {
    this.sum += amount
    this.used.set(owner, this.usedBy(owner) + amount)
  }

  release(owner: string, amount = 1): void {
    this.sum -= amount
    const rest = this.usedBy(owner) - amount
    if (rest > 0) this.used.set(owner, rest)
    else this.used.delete(owner)
  }
}

interface Waiter {
  owner: string
  start(): void
}

interface FairTurnsOptions {
  /** Pieces of work that run at the same time. An owner may run one more while it runs fewer than are free. */
  places?: number
  /** Pieces of work that wait, of all owners. One more of an owner may wait while it has fewer waiting than are free. */
  maximumWaiting: number
  /** The error of an owner of which too much waits. */
  tooMany(): Error
}

/** Bounded work of several owners, which take turns: the many pieces of work of one delay another by one piece each. */
export function createFairTurns({ places = 1, maximumWaiting, tooMany }: FairTurnsOptions) {
  const running = new FairShares(places)
  const waitingShares = new FairShares(maximumWaiting)
  const waiting = new Turns<Waiter>()

  function enter(owner: string, signal: AbortSignal): Promise<void> {
    if (running.hasRoom(owner)) {
      running.take(owner)
      return Promise.resolve()
    }
    if (!waitingShares.hasRoom(owner)) throw tooMany()
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.remove(owner, waiter)
        waitingShares.release(owner)
        reject(signal.reason as Error)
      }
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter = { owner, start }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(owner, waiter)
      waitingShares.take(owner)
    })
  }

  function end(owner: string): void {
    running.release(owner)
    for (;;) {
      const next = waiting.takeNext((waiter) => running.hasRoom(waiter.owner))
      if (!next) return
      waitingShares.release(next.owner)
      running.take(next.owner)
      next.item.start()
    }
  }

  return {
    /** Throws `tooMany` where too much of the owner waits already, and the signal's reason where it aborts before the turn. */
    async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      await enter(owner, signal)
      try {
        return await work()
      } finally {
        end(owner)
      }
    },
  }
}

/**
 * Longest time that steps of work take in one phase of the event loop. A call of another owner waits for about ten phases, since each answer
 * of the system, the database and the provider waits for one; a turn without steps takes about as long.
 */
const sliceMs = 0.25
/**
 * So many waiting steps or new connections of an owner are few. An owner of which few steps wait gets a second slice of the phase, so that its
 * calls wait for one phase at each step.
 */
const few = 8
/** Steps that run at once in one turn of the event loop. What a shared event lets continue enters before any of it has taken time. */
const maximumAtOnce = 32
/** Waiting steps that are resumed in one phase at most. */
const maximumBatch = 64

/**
 * While connections arrive, each turn of the event loop has one step, and an owner of more than a few of them has one in so many turns: libuv
 * accepts one connection in a turn, so in turns with slices of steps the thousandth client would wait for seconds.
 */
const turnsForConnections = 8

interface LoopTurnsOptions {
  nowMs?: () => number
  /** Counts the turns of the event loop. */
  loopCount?: () => number
  /** Calls back in the next phase for it. */
  defer?: (callback: () => void) => void
  /** Calls back in the same phase, when nothing is left to do for what was resumed. */
  proceed?: (callback: () => void) => void
}

const resolved = Promise.resolve()

/**
 * Shares the event loop of a thread between owners. Many short steps of one owner that become ready at once, such as the arrivals of a thousand requests
 * or the chunks of their streams, then delay a step of another one by one step each, not by all of them.
 */
export class LoopTurns {
  readonly #nowMs: () => number
  readonly #loopCount: () => number
  readonly #defer: (callback: () => void) => void
  readonly #proceed: (callback: () => void) => void
  readonly #waiting = new Turns<(hasWaited: boolean) => void>()
  #waitingCount = 0
  /** A phase has begun and resumes what waits. */
  #isRunning = false
  #loop = -1
  #startedMs = 0
  #atOnce = 0
  /** The turn in which the last connection arrived. */
  #connectionLoop = -Infinity
  #turnsOfArrival = 0
  /** Connections whose first requests are of an owner, since turns without new connections. */
  readonly #arrivals = new Map<string, number>()
  /** Owners that have had their step of these turns. */
  readonly #served = new Set<string>()
  #isArriving = false
  /** Steps that the present phase may still resume. */
  #allowed = 0

  constructor({
    nowMs = () => performance.now(),
    loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount,
    defer = (callback) => void setImmediate(callback),
    // Node.js runs all microtasks before the next tick. Immediates for all that wait would mostly find the slice used.
    proceed = (callback) => void resolved.then(() => process.nextTick(callback)),
  }: LoopTurnsOptions = {}) {
    this.#nowMs = nowMs
    this.#loopCount = loopCount
    this.#defer = defer
    this.#proceed = proceed
  }

  /**
   * Called before a step. Undefined: it may run at once. Otherwise it waits for the promise, which never rejects. `isFirst`: the step is the
   * first request of a connection.
   */
  enter(owner: string, isFirst = false): Promise<void> | undefined {
    if (this.#waitingCount === 0 && this.#hasTime()) return undefined
    return new Promise((resolve) => this.#wait(owner, () => resolve(), isFirst))
  }

  /** The same without a promise: calls `step` at once or in its turn. It must not throw. */
  run(owner: string, step: (hasWaited: boolean) => void, isFirst = false): void {
    if (this.#waitingCount === 0 && this.#hasTime()) step(false)
    else this.#wait(owner, step, isFirst)
  }

  #wait(owner: string, step: (hasWaited: boolean) => void, isFirst: boolean): void {
    if (isFirst) this.#arrivals.set(owner, (this.#arrivals.get(owner) ?? 0) + 1)
    this.#waiting.add(owner, step)
    if (this.#waitingCount++ === 0 && !this.#isRunning) this.#defer(this.#beginPhase)
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

  #beginPhase = (): void => {
    this.#isRunning = true
    this.#startedMs = this.#nowMs()
    this.#isArriving = this.#connectionLoop === this.#loopCount()
    // What waits from now on is for the next phase.
    this.#allowed = this.#isArriving ? 1 : Math.min(this.#waitingCount, maximumBatch)
    if (!this.#isArriving) this.#arrivals.clear()
    if (!this.#isArriving || ++this.#turnsOfArrival > turnsForConnections) {
      this.#turnsOfArrival = 1
      this.#served.clear()
    }
    this.#resume()
  }

  #next(elapsedMs: number) {
    if (this.#isArriving) return this.#waiting.takeNextOf((owner) => !this.#served.has(owner) || !this.#isMany(owner))
    if (elapsedMs < sliceMs) return this.#waiting.takeNext()
    return elapsedMs < 2 * sliceMs ? this.#waiting.takeNextOf((_owner, waiting) => waiting <= few) : undefined
  }

  #isMany(owner: string): boolean {
    return (this.#arrivals.get(owner) ?? 0) > few
  }

  #resume = (): void => {
    const next = this.#allowed > 0 ? this.#next(this.#nowMs() - this.#startedMs) : undefined
    if (next) {
      this.#waitingCount--
      this.#allowed--
      if (this.#isArriving) this.#served.add(next.owner)
      try {
        next.item(true)
      } finally {
        this.#proceed(this.#resume)
      }
      return
    }
    this.#isRunning = false
    if (this.#waitingCount > 0) this.#defer(this.#beginPhase)
  }
}

/** There is one event loop in a thread, so its turns are not an argument. */
const turns = new LoopTurns()

/** See `LoopTurns.enter`. */
export function loopTurn(owner: string, isFirst = false): Promise<void> | undefined {
  return turns.enter(owner, isFirst)
}

/** See `LoopTurns.run`. */
export function runInTurn(owner: string, step: (hasWaited: boolean) => void, isFirst = false): void {
  turns.run(owner, step, isFirst)
}

/** See `LoopTurns.connectionArrived`. */
export function connectionArrived(): void {
  turns.connectionArrived()
}

/** Longest time that document work blocks the event loop at once; requests wait for a few of these at most. */
const documentSliceMs = 8

/**
 * For loops whose steps are each short: `await slice()` before a step lets the event loop run when the last pause was `documentSliceMs`
 * ago, and costs nothing else otherwise.
 */
export function createTimeSlices(): () => Promise<void> | void {
  let startMs = performance.now()
  return () => {
    if (performance.now() - startMs < documentSliceMs) return
    return new Promise((resolve) => {
      setImmediate(() => {
        startMs = performance.now()
        resolve()
      })
    })
  }
}
