import { DatabaseError, sqlState } from './database-error.ts'
import type { QueryOptions, SqlValue } from './port.ts'
import { FairShares, Turns } from '../kernel/index.ts'

/** Longest duration of a statement without a specific limit. */
export const defaultStatementTimeoutMs = 30_000
/** Bounds on the use of a database server; the defaults of the configuration. */
export const defaultLimits = {
  maximumConnections: 10,
  connectionWaitMs: 10_000,
  statementTimeoutMs: defaultStatementTimeoutMs,
  backgroundStatementTimeoutMs: 120_000,
  lockTimeoutMs: 10_000,
  replicaWaitMs: 250,
}
export type ServerLimits = typeof defaultLimits

/** Most statements and transactions that wait for a connection; further ones are rejected. */
export const maximumWaiting = 10_000

export interface SqlResult {
  rows: unknown[]
  /** Affected or returned rows, from the command tag. */
  count: number
  command: string
}

export interface RunOptions {
  timeoutMs: number
  signal?: AbortSignal | undefined
  prepared?: boolean | undefined
  settings?: QueryOptions['settings']
}

/** One connection, reserved for one statement or one transaction. */
export interface SqlSession {
  /** Runs one statement, or a script of several where `parameters` is null. Calls run one after the other. */
  run(statement: string, parameters: readonly SqlValue[] | null, options: RunOptions): Promise<SqlResult>
  /** Marks the connection as unusable because its state is unknown; no later session receives it. */
  markBroken(): void
  /** Returns the connection after the running statement. */
  release(): void
}

/** Provides sessions: on the one connection of the embedded engine, or from the pool of a server. */
export interface SessionSource {
  /** `owner`: whose turn it takes. */
  acquire(owner: string, options?: Pick<QueryOptions, 'signal' | 'background' | 'direct'>): Promise<SqlSession>
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>
  onReconnect(callback: () => void): void
  close(): Promise<void>
}

export function connectionLost(detail: string): DatabaseError {
  return new DatabaseError(sqlState.connectionLost, `the connection to the database was lost: ${detail}`)
}

export function pastDeadline(timeoutMs: number): DatabaseError {
  return new DatabaseError(sqlState.cancelled, `the statement ran longer than ${timeoutMs} ms and was ended`)
}

export function noFreeConnection(waitMs: number): DatabaseError {
  return new DatabaseError(sqlState.tooManyWaiting, `no database connection became free within ${waitMs} ms`)
}

export function tooManyWaiting(): DatabaseError {
  return new DatabaseError(
    sqlState.tooManyWaiting,
    `more than ${maximumWaiting} statements wait for a database connection`,
  )
}

/** Runs calls one after the other, in the order of the calls. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work, work)
    last = turn
    return turn
  }
}

interface Waiter {
  grant(): void
  background: boolean
  sinceMs: number
}

export interface TurnOptions {
  signal?: AbortSignal | undefined
  /** Lets other work go first. */
  background?: boolean
  /** Longest wait; without it, as long as the signal allows. */
  waitMs?: number
}

/** Background work lets other work go first, but waits no longer than this for it. */
const maximumBackgroundDelayMs = 100
const hasPriority = ({ background, sinceMs }: Waiter) =>
  !background || performance.now() - sinceMs > maximumBackgroundDelayMs

/** What waits, by organisation. */
class WaitingTurns {
  readonly #shares = new FairShares(maximumWaiting)
  readonly #turns = new Turns<Waiter>()
  #last: (() => void) | undefined

  get size(): number {
    return this.#shares.total
  }

  /** Resolves in its turn. Throws where too many wait. */
  wait(owner: string, { signal, background = false, waitMs }: TurnOptions): Promise<void> {
    if (!this.#shares.hasRoom(owner)) throw tooManyWaiting()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const grant = () => {
        end()
        resolve()
      }
      const waiter: Waiter = { grant, background, sinceMs: performance.now() }
      const giveUp = (error: unknown) => {
        end()
        this.#turns.remove(owner, waiter)
        this.#shares.release(owner)
        reject(error as Error)
      }
      const onAbort = () => giveUp(signal!.reason)
      const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(noFreeConnection(waitMs)), waitMs)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#turns.add(owner, waiter)
      this.#shares.take(owner)
    })
  }

  /** Resolves after all others, except background work that still lets others go first. */
  waitLast(): Promise<void> {
    return new Promise((resolve) => (this.#last = resolve))
  }

  /** The grant of the next turn. */
  takeNext(): (() => void) | undefined {
    return this.#takeFirst(hasPriority) ?? this.#takeLast() ?? this.#takeFirst()
  }

  #takeFirst(isReady?: (waiter: Waiter) => boolean): (() => void) | undefined {
    const next = this.#turns.takeNext(isReady)
    if (next) this.#shares.release(next.owner)
    return next?.item.grant
  }

  #takeLast(): (() => void) | undefined {
    const last = this.#last
    this.#last = undefined
    return last
  }
}

/**
 * Gives the connections of a database to so many statements and transactions at a time. Organisations take turns, so that the many
 * statements of one delay a statement of another by one each.
 */
export function createTurnQueue(connections = 1) {
  const waiting = new WaitingTurns()
  let running = 0

  function takeFree(): boolean {
    if (running >= connections) return false
    running += 1
    return true
  }

  return {
    /** Statements and transactions that wait or run. */
    load: (): number => waiting.size + running,
    release(): void {
      const grant = waiting.takeNext()
      if (grant) grant()
      else running -= 1
    },
    /** The same as `take` for a caller that goes after all others, except background work that still lets others go first. Call it once. */
    async takeLast(): Promise<void> {
      if (!takeFree()) await waiting.waitLast()
    },
    /** Resolves when the caller may use a connection, in the turn of `owner`; it must call `release` once. Throws where too many wait. */
    async take(owner: string, options: TurnOptions = {}): Promise<void> {
      options.signal?.throwIfAborted()
      if (!takeFree()) await waiting.wait(owner, options)
    },
  }
}

type OnNotification = (payload: string) => void

/** The callbacks for the NOTIFY channels of one database. They outlive its connections. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions() {
  const byChannel = new Map<string, Set<OnNotification>>()
  return {
    /** True where the channel had no callback, so that LISTEN must be sent. */
    add(channel: string, onNotification: OnNotification): boolean {
      const callbacks = byChannel.get(channel) ?? new Set()
      byChannel.set(channel, callbacks)
      const isNew = callbacks.size === 0
      callbacks.add(onNotification)
      return isNew
    },
    remove(channel: string, onNotification: OnNotification): void {
      byChannel.get(channel)?.delete(onNotification)
    },
    /** All channels that were ever added: a new connection must send LISTEN for each of them. */
    channels: (): string[] => [...byChannel.keys()],
    deliver({ channel, payload = '' }: { channel: string; payload?: string | undefined }): void {
      for (const onNotification of byChannel.get(channel) ?? []) onNotification(payload)
    },
  }
}
