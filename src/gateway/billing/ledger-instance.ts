import type { OwnedDatabase } from '../../platform/database/index.ts'
import {
  type Clock,
  createInstanceId,
  describeError,
  type InstanceId,
  type Log,
  withDeadline,
} from '../../platform/kernel/index.ts'
import { type InstanceFacts, registerInstance, writeHeartbeat } from './instance.store.ts'

const registerAgainMs = 1_000

interface LedgerInstanceDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  times: InstanceTimes
  /** Another instance has settled the holds of this one. */
  onFenced(id: InstanceId): void
  /** The process is registered under its next id. */
  onRenewed(): void
  /** Whether the database has answered a heartbeat. */
  noteDatabase(answers: boolean): void
  facts?: InstanceFacts | undefined
}

/** This process among the ledger's instances. It gets a new id when another instance has presumed it dead. */
export class LedgerInstance {
  id: InstanceId = createInstanceId()
  private readonly deps: LedgerInstanceDeps
  private readonly stopped = new AbortController()
  private renewal: Promise<void> | undefined
  /** Monotonic time at which the last heartbeat that the database took was sent. */
  private confirmedMs = -Infinity
  /** Monotonic time since which no heartbeat was late or failed; -Infinity: since the start. */
  private steadySinceMs = -Infinity

  constructor(deps: LedgerInstanceDeps) {
    this.deps = deps
  }

  async register(): Promise<void> {
    const { database, clock, facts } = this.deps
    const sentMs = clock.monotonicMs()
    await registerInstance(database, { instanceId: this.id, facts })
    this.confirmedMs = sentMs
  }

  /** Presumed dead by another instance: start again as a new one, without leases. Open holds have been settled there. */
  renew(fenced: InstanceId): Promise<void> {
    if (fenced !== this.id) return this.renewal ?? Promise.resolve()
    this.renewal ??= this.registerAgain(fenced).finally(() => {
      this.renewal = undefined
    })
    return this.renewal
  }

  /** Also notices that the database is back when no call writes to it. */
  async beat(): Promise<void> {
    const { database, clock, times, noteDatabase } = this.deps
    // A statement of a call may renew this instance while the heartbeat is under way.
    const id = this.id
    try {
      const sentMs = clock.monotonicMs()
      const alive = await withDeadline(times.heartbeatTimeoutMs, (signal) => writeHeartbeat(database, id, signal))
      if (alive) {
        if (sentMs - this.confirmedMs > times.steadyGapMs) this.steadySinceMs = sentMs
        this.confirmedMs = sentMs
        noteDatabase(true)
      } else await this.renew(id)
    } catch (error) {
      noteDatabase(false)
      throw error
    }
  }

  /** Whether the silence of another instance shows that it is dead, and not that the database or this process was frozen. */
  isSteady(): boolean {
    return this.steadyForMs() >= this.deps.times.steadyAfterMs
  }

  /** The silence after which another instance has no open holds any more; null: its recovery had to wait, or may be under way. */
  staleAfterMs(): number | null {
    const { steadyAfterMs, expiryMs } = this.deps.times
    return this.steadyForMs() >= steadyAfterMs + expiryMs ? 2 * expiryMs : null
  }

  private steadyForMs(): number {
    const nowMs = this.deps.clock.monotonicMs()
    return nowMs - this.confirmedMs <= this.deps.times.steadyGapMs ? nowMs - this.steadySinceMs : 0
  }

  /** Ends a renewal that waits for the database. */
  stop(): void {
    this.stopped.abort()
  }

  private async registerAgain(fenced: InstanceId): Promise<void> {
    const { database, clock, log, times, facts, onFenced, onRenewed } = this.deps
    log.error({ instanceId: fenced }, 'another instance presumed this one dead; starting again with new leases')
    onFenced(fenced)
    let next = this.id
    while (!this.stopped.signal.aborted) {
      // One for each attempt: a registration that commits late must not bring an instance back that has ended.
      next = createInstanceId()
      try {
        await withDeadline(times.heartbeatTimeoutMs, (signal) =>
          registerInstance(database, { instanceId: next, facts }, signal),
        )
        break
      } catch (error) {
        log.error({ error: describeError(error) }, 'the ledger cannot register this instance')
        await clock.sleep(registerAgainMs, this.stopped.signal).catch(() => {})
      }
    }
    this.id = next
    onRenewed()
  }
}

/** How an instance shows that it is alive, and how others find out that it is not. In milliseconds. */
interface InstanceTimes {
  /** An instance without a heartbeat for this long is presumed dead: its calls are settled by policy and its leases are freed. */
  expiryMs: number
  /** Interval of heartbeats and of the maintenance of thresholds, leases and webhooks. */
  heartbeatEveryMs: number
  /** Longest wait for one heartbeat; well below the expiry, so that a hanging connection does not cost the leases. */
  heartbeatTimeoutMs: number
  /** Between two heartbeats at most, unless the database or this process was frozen. */
  steadyGapMs: number
  /** After a gap all instances look silent. Within this time those that are alive write a heartbeat: one that hangs ends before. */
  steadyAfterMs: number
}

/** Tests pass a shorter expiry. The other times keep their share of it, because their order keeps bills exact. */
export function instanceTimes(expiryMs = 10_000): InstanceTimes {
  return {
    expiryMs,
    heartbeatEveryMs: 0.1 * expiryMs,
    heartbeatTimeoutMs: 0.3 * expiryMs,
    steadyGapMs: 0.4 * expiryMs,
    steadyAfterMs: 0.5 * expiryMs,
  }
}
