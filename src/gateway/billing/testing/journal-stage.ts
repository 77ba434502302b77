import fs from 'node:fs'
import path from 'node:path'
import { makeTestFolder, openTestDatabases, type TestDatabases } from '../../../../test/harness/database.ts'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import { silentLog, systemClock } from '../../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from '../ledger.ts'
import type { JournalOptions } from '../prepare-writer.ts'
import { answered, callOf, organisationWith } from './ledger-fixture.ts'

/** Applied only when something waits for it. */
export const later = { projectionDelayMs: 3_600_000 }

/** Ledgers with a journal over the real SQL, one after the other. */
export class JournalStage {
  readonly control: TestDatabase
  /** Of the journal; new for each test. */
  folder = ''
  private readonly databases: TestDatabases
  private readonly ledgers: LedgerService[] = []
  private entriesBefore = 0n

  /** One process has the database to itself, also on a server: the SQL is the same. */
  private constructor(databases: TestDatabases) {
    this.databases = databases
    this.control = { ...databases.control, engine: 'embedded' }
  }

  static async open(): Promise<JournalStage> {
    return new JournalStage(await openTestDatabases())
  }

  drop(): Promise<void> {
    return this.databases.drop()
  }

  async beginTest(): Promise<void> {
    this.entriesBefore = await this.loadEntryCount()
    this.folder = path.join(makeTestFolder(), 'journal')
  }

  async endTest(): Promise<void> {
    await Promise.all(this.ledgers.splice(0).map((ledger) => ledger.close()))
    await this.control.execute('delete from ledger_journal_rejects')
    fs.rmSync(path.dirname(this.folder), { recursive: true, force: true })
  }

  async openLedger(
    changes: Partial<JournalOptions> = {},
    database = this.control,
    clock = systemClock,
  ): Promise<LedgerService> {
    const journal = { mode: 'local' as const, folder: this.folder, ...changes }
    const ledger = await createLedger({ database, clock, log: silentLog, journal })
    this.ledgers.push(ledger)
    return ledger
  }

  /**
   * A ledger that dies with its next statement, and the way to let it die: no statement and no close reaches the database. It has no
   * timers, because what they write would reach it at a time that the machine decides.
   */
  async openMortal(changes: Partial<JournalOptions> = {}) {
    let isDead = false
    const { control, folder } = this
    const never = () => new Promise<never>(() => {})
    const mortal: TestDatabase = {
      ...control,
      for: () => mortal,
      query: (...given) => (isDead ? never() : control.query(...given)),
      execute: (...given) => (isDead ? never() : control.execute(...given)),
      transaction: (...given) => (isDead ? never() : control.transaction(...given)),
    }
    const clock = { ...systemClock, every: () => () => {} }
    const journal = { mode: 'local' as const, folder, ...later, ...changes }
    const ledger = await createLedger({ database: mortal, clock, log: silentLog, journal })
    return {
      ledger,
      kill() {
        isDead = true
      },
    }
  }

  /** Of this test. */
  async countEntries(): Promise<bigint> {
    return (await this.loadEntryCount()) - this.entriesBefore
  }

  private async loadEntryCount(): Promise<bigint> {
    return (await this.control.query<{ count: bigint }>('select count(*) from ledger_entries'))[0]!.count
  }
}

export async function settledCall(ledger: LedgerService, organisation = organisationWith('10'), output = 40) {
  const hold = await ledger.hold(callOf(organisation))
  await hold.durable
  return hold.settle(answered(90, output))
}
