import { type Clock, describeError, type Log, sharedOwner } from '../../platform/kernel/index.ts'
import type { Database, OwnedDatabase } from '../../platform/database/index.ts'
import { countOldInstallationEntries, isInstallationBackfilled } from './installation-usage.store.ts'
import type { Refusal } from './port.ts'
import {
  addRefusals,
  countOldEntries,
  countQueued,
  hasQueued,
  isBackfilled,
  type RefusedCalls,
  tidy,
} from './usage-counting.store.ts'
import { closableBefore, closeSpan, findSpanTable } from './usage-spans.store.ts'
import { slotMs } from './usage-tables.ts'

/** Entries that are counted in one transaction. Few on the embedded engine, whose one connection is occupied meanwhile. */
const entriesPerRound = { embedded: 2_000, postgres: 8_000 }
/** Rounds of one run of the timer; the next run continues. */
const roundsPerRun = 50
/** A report waits for at most this many rounds; then it shows what is counted. */
const roundsPerReport = 20
/** Old entries that are counted in one transaction. */
const oldEntriesPerRound = 2_000
/** Longest time of one run for old entries, and for spans. */
const oldEntriesMs = 500
const spansMs = 500
const flushRefusalsEveryMs = 10_000
const tidyEveryMs = 60_000
/** Different kinds of refused calls in memory; when there are more, they are written early. */
const maximumKinds = 5_000
/** Wait for the instance that is counting, when a report asks for what is queued. */
const waitForOtherMs = 25

/** Keeps the tables of usage reports current. One instance at a time counts; every instance takes part. */
export class UsageCounting {
  private readonly deps: { database: Database; clock: Clock; log: Log }
  private readonly shared: OwnedDatabase
  private backfilled = false
  private installationBackfilled = false
  /** Spans that end before this day are closed. */
  private closedBefore = ''
  private running: Promise<void> | undefined
  private refused = new Map<string, RefusedCalls>()
  private flushedMs: number
  private tidiedMs: number

  constructor(deps: { database: Database; clock: Clock; log: Log }) {
    this.deps = deps
    this.shared = deps.database.for(sharedOwner)
    this.flushedMs = this.tidiedMs = deps.clock.monotonicMs()
  }

  /** What the timer does every second. */
  async run(): Promise<void> {
    const { clock } = this.deps
    await this.count(roundsPerRun)
    await this.countOld()
    await this.countOldOfInstallation()
    await this.closeSpans()
    const nowMs = clock.monotonicMs()
    if (nowMs - this.flushedMs >= flushRefusalsEveryMs) await this.flush()
    if (nowMs - this.tidiedMs >= tidyEveryMs) {
      this.tidiedMs = nowMs
      await tidy(this.shared)
    }
  }

  /** Counts what is queued now, within a bounded time, in the turns of the organisation that asks. */
  async catchUp(owner: string): Promise<void> {
    const { clock } = this.deps
    const database = this.deps.database.for(owner)
    await this.running?.catch(() => {})
    for (let round = 0; round < roundsPerReport && (await hasQueued(database)); round += 1) {
      const { locked } = await countQueued(database, entriesPerRound[database.engine])
      if (!locked) await clock.sleep(waitForOtherMs)
    }
  }

  /** False while entries from before an upgrade are still being counted. */
  async isComplete(): Promise<boolean> {
    this.backfilled ||= await isBackfilled(this.shared)
    return this.backfilled
  }

  /** The same of the sums of the whole installation. */
  async isInstallationComplete(): Promise<boolean> {
    this.installationBackfilled ||= await isInstallationBackfilled(this.shared)
    return this.installationBackfilled
  }

  /** In memory until the next flush: a crash loses at most the refusals of the last 10 seconds. */
  noteRefused({ organisationId, surface, model, code }: Refusal): void {
    const atMs = Math.floor(this.deps.clock.now() / slotMs) * slotMs
    const known = model ?? ''
    const kind = `${organisationId} ${atMs} ${surface} ${code} ${known}`
    const calls = this.refused.get(kind)
    if (calls) calls.requests += 1
    else if (this.refused.size < maximumKinds) {
      this.refused.set(kind, { organisationId, atMs, model: known, surface, code, requests: 1 })
    }
  }

  /** Writes the refused calls. What cannot be written is kept for the next flush. */
  async flush(): Promise<void> {
    const { clock } = this.deps
    this.flushedMs = clock.monotonicMs()
    const { refused } = this
    if (refused.size === 0) return
    this.refused = new Map()
    try {
      await addRefusals(this.shared, [...refused.values()])
    } catch (error) {
      for (const [kind, calls] of refused) {
        const newer = this.refused.get(kind)
        this.refused.set(kind, { ...calls, requests: calls.requests + (newer?.requests ?? 0) })
      }
      throw error
    }
  }

  /** At the end of the process. The queue stays for the next start. */
  async close(): Promise<void> {
    await this.flush().catch((error: unknown) => {
      this.deps.log.error({ error: describeError(error) }, 'the refused calls could not be counted')
    })
  }

  private async count(rounds: number): Promise<void> {
    this.running = this.countRounds(rounds).finally(() => {
      this.running = undefined
    })
    await this.running
  }

  private async countRounds(rounds: number): Promise<void> {
    if (!(await hasQueued(this.shared))) return
    for (let round = 0; round < rounds; round += 1) {
      const { more, locked } = await countQueued(this.shared, entriesPerRound[this.shared.engine])
      if (!more || !locked) return
    }
  }

  /** For half of the time at most, so that old entries are counted next to the service's work. */
  private async countOld(): Promise<void> {
    const { clock, log } = this.deps
    const startMs = clock.monotonicMs()
    while (!(await this.isComplete()) && clock.monotonicMs() - startMs < oldEntriesMs) {
      const { done, locked } = await countOldEntries(this.shared, oldEntriesPerRound)
      if (done) log.info({}, 'usage reports are complete: all entries from before the upgrade are counted')
      if (!locked) return
    }
  }

  /** For half of the time at most. */
  private async countOldOfInstallation(): Promise<void> {
    const { clock } = this.deps
    const startMs = clock.monotonicMs()
    while (!(await this.isInstallationComplete()) && clock.monotonicMs() - startMs < oldEntriesMs) {
      const { locked } = await countOldInstallationEntries(this.shared, oldEntriesPerRound)
      if (!locked) return
    }
  }

  /** After old entries: until then, every span would change again. For half of the time at most. */
  private async closeSpans(): Promise<void> {
    const { clock } = this.deps
    const before = closableBefore(clock.now())
    if (before <= this.closedBefore || !(await this.isComplete())) return
    const startMs = clock.monotonicMs()
    while (clock.monotonicMs() - startMs < spansMs) {
      const { done, locked } = await closeSpan(this.shared, await findSpanTable(this.shared), before)
      if (done) this.closedBefore = before
      if (done || !locked) return
    }
  }
}
