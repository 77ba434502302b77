import {
  type Clock,
  createInstanceId,
  describeError,
  type InstanceId,
  type Log,
  withDeadline,
} from '../kernel/index.ts'
import type { Database } from '../database/index.ts'
import { registerInstance, writeHeartbeat } from './instance.store.ts'

/** Longest wait for one heartbeat; well below the expiry of an instance, so that a hanging connection does not cost the leases. */
const heartbeatTimeoutMs = 3_000
const registerAgainMs = 1_000

export interface LedgerInstanceDeps {
  database: Database
  clock: Clock
  log: Log
  /** Another instance has settled the holds of this one. */
  onFenced(id: InstanceId): void
  /** The process is registered under its next id. */
  onRenewed(): void
  /** Whether the database has answered a heartbeat. */
  noteDatabase(answers: boolean): void
}

/** This process among the ledger's instances. It gets a new id when another instance has presumed it dead. */
export class LedgerInstance {
  id: InstanceId = createInstanceId()
  private readonly deps: LedgerInstanceDeps
  private readonly stopped = new AbortController()
  private renewal: Promise<void> | undefined

  constructor(deps: LedgerInstanceDeps) {
    this.deps = deps
  }

  register(): Promise<void> {
    return registerInstance(this.deps.database, this.id)
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
    const { database, noteDatabase } = this.deps
    try {
      const alive = await withDeadline(heartbeatTimeoutMs, (signal) => writeHeartbeat(database, this.id, signal))
      if (alive) noteDatabase(true)
      else await this.renew(this.id)
    } catch (error) {
      noteDatabase(false)
      throw error
    }
  }

  /** Ends a renewal that waits for the database. */
  stop(): void {
    this.stopped.abort()
  }

  private async registerAgain(fenced: InstanceId): Promise<void> {
    const { database, clock, log, onFenced, onRenewed } = this.deps
    log.error({ instanceId: fenced }, 'another instance presumed this one dead; starting again with new leases')
    onFenced(fenced)
    const next = createInstanceId()
    while (!this.stopped.signal.aborted) {
      try {
        await withDeadline(heartbeatTimeoutMs, (signal) => registerInstance(database, next, signal))
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
