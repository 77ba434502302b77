import { createLedger, type LedgerService } from '../../src/billing/index.ts'
import type { Database } from '../../src/database/index.ts'
import { type Clock, silentLog, systemClock } from '../../src/kernel/index.ts'
import type { Chance } from './random.ts'

/** One simulated process: its ledger, and the ways in which it ends or becomes silent. */
export interface Instance {
  ledger: LedgerService
  /** Like kill -9: timers stop, statements in flight may or may not take effect, and no reply arrives. */
  kill(): void
  isKilled(): boolean
}

export interface InstanceOptions {
  database: Database
  /** Wall time of this process; it may jump. */
  now(): number
  chance: Chance
  holdWaitMs: number
}

export async function startInstance({ database, now, chance, holdWaitMs }: InstanceOptions): Promise<Instance> {
  let killed = false
  const timers: (() => void)[] = []
  const never = () => new Promise<never>(() => {})

  /** A statement of a killed process: half of those in flight reach the database, none gets a reply. */
  async function guard<Result>(run: () => Promise<Result>): Promise<Result> {
    if (killed) return never()
    const result = await run()
    return killed ? never() : result
  }

  const mortal: Database = {
    ...database,
    query: (...given) => guard(() => database.query(...given)) as never,
    execute: (...given) => guard(() => database.execute(...given)),
    transaction: (work, options) =>
      guard(() =>
        database.transaction(async (transaction) => {
          const result = await work(transaction)
          // Killed between the statements and the commit: the server rolls back the transaction of a lost client.
          if (killed && chance.happens(0.5)) throw new Error('the client is gone')
          return result
        }, options),
      ),
  }
  const clock: Clock = {
    ...systemClock,
    now,
    every(ms, task) {
      const stop = systemClock.every(ms, () => {
        if (!killed) task()
      })
      timers.push(stop)
      return stop
    },
  }
  const ledger = await createLedger({ database: mortal, clock, log: silentLog, holdWaitMs })
  return {
    ledger,
    kill() {
      killed = true
      for (const stop of timers) stop()
    },
    isKilled: () => killed,
  }
}
