import {
  type Clock,
  createInstanceId,
  describeError,
  type InstanceId,
  type Log,
  withDeadline,
} from '../../platform/kernel/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { InstanceTimes } from './instance-times.ts'
import { type HeldJournal, type InstanceFacts, registerInstance, writeHeartbeat } from './instance.store.ts'

const registerAgainMs = 1_000
const confirmAgainMs = 250

export interface LedgerInstanceDeps {
  database: Database
  clock: Clock
  log: Log
  times: InstanceTimes
  /** Another instance has settled the holds of this one. */
  onFenced(id: InstanceId): void
  /** The process is registered under its next id. */
  onRenewed(): void
  /** Whether the database has answered a heartbeat. */
  noteDatabase(answers: boolean): void
  /** Of this process, in front of a server. It belongs to the first id: the process ends when it loses it. */
  journal?: HeldJournal | undefined
  facts?: InstanceFacts | undefined
  onJournalLost?(error: Error): void
}

/** This process among the ledger's instances. It gets a new id when another instance has presumed it dead. */
export class LedgerInstance {
  id: InstanceId = createInstanceId()
  private readonly deps: LedgerInstanceDeps
  private readonly stopped = new AbortController()
  private renewal: Promise<void> | undefined
  private confirmation: Promise<void> | undefined
  /** When the last heartbeat that the database took was sent. */
  private confirmed = { monotonicMs: -Infinity, wallMs: -Infinity }
  private loss: Error | undefined
  /** Monotonic time since which no heartbeat was late or failed; -Infinity: since the start. */
  private steadySinceMs = -Infinity

  constructor(deps: LedgerInstanceDeps) {
    this.deps = deps
  }

  async register(): Promise<void> {
    const sent = this.now()
    const { database, journal, facts } = this.deps
    await registerInstance(database, { instanceId: this.id, journal, facts })
    this.confirmed = sent
  }

  /** Presumed dead by another instance: start again as a new one, without leases. Open holds have been settled there. */
  renew(fenced: InstanceId): Promise<void> {
    if (this.deps.journal) return Promise.reject(this.loseJournal(fenced))
    if (fenced !== this.id) return this.renewal ?? Promise.resolve()
    this.renewal ??= this.registerAgain(fenced).finally(() => {
      this.renewal = undefined
    })
    return this.renewal
  }

  /** Also notices that the database is back when no call writes to it. */
  async beat(): Promise<void> {
    const { database, journal, times, noteDatabase } = this.deps
    try {
      const sent = this.now()
      const alive = await withDeadline(times.heartbeatTimeoutMs, (signal) =>
        writeHeartbeat(database, this.id, journal, signal),
      )
      if (alive) {
        if (sent.monotonicMs - this.confirmed.monotonicMs > times.steadyGapMs) this.steadySinceMs = sent.monotonicMs
        this.confirmed = sent
        noteDatabase(true)
      } else await this.renew(this.id)
    } catch (error) {
      noteDatabase(false)
      throw error
    }
  }

  /** Resolves when nobody else can have taken the journal of this process; undefined: nobody can. Rejects when another process or a release has. */
  confirm(): Promise<void> | undefined {
    if (this.loss) return Promise.reject(this.loss)
    const { monotonicMs, wallMs } = this.now()
    // The wall clock also counts the time that a machine was suspended. A jump of it costs one heartbeat.
    const ageMs = Math.max(monotonicMs - this.confirmed.monotonicMs, Math.abs(wallMs - this.confirmed.wallMs))
    if (ageMs < this.deps.times.confirmedForMs) return undefined
    this.confirmation ??= this.confirmByHeartbeat().finally(() => {
      this.confirmation = undefined
    })
    return this.confirmation
  }

  private async confirmByHeartbeat(): Promise<void> {
    for (;;) {
      try {
        await this.beat()
        return
      } catch (error) {
        if (this.loss || this.stopped.signal.aborted) throw error
        await this.deps.clock.sleep(confirmAgainMs, this.stopped.signal)
      }
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
    return nowMs - this.confirmed.monotonicMs <= this.deps.times.steadyGapMs ? nowMs - this.steadySinceMs : 0
  }

  private now() {
    const { clock } = this.deps
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.now() }
  }

  private loseJournal(fenced: InstanceId): Error {
    if (this.loss) return this.loss
    this.loss = new Error(
      `the journal ${this.deps.journal!.journalId} of this process was released, or another process has taken it over`,
    )
    this.deps.onFenced(fenced)
    this.deps.onJournalLost?.(this.loss)
    return this.loss
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
