import { createLedger, type LedgerService } from '../../src/billing/index.ts'
import type { Database } from '../../src/database/index.ts'
import { type Clock, silentLog, systemClock } from '../../src/kernel/index.ts'
import type { Chance } from './random.ts'

/** One running process of the simulation: its ledger, and the ways in which it ends or falls silent. */
export interface Instance {
  ledger: LedgerService
  /** As kill -9: timers stop, statements on their way may or may not take effect, no answer arrives any more. */
  kill(): void
  isKilled(): boolean
}

export interface InstanceOptions {
  database: Database
  /** Wall time of this process; jumps. */
  now(): number
  chance: Chance
  holdWaitMs: number
}

export async function startInstance({ database, now, chance, holdWaitMs }: InstanceOptions): Promise<Instance> {
  let killed = false
  const timers: (() => void)[] = []
  const never = () => new Promise<never>(() => {})

  /** A statement of a process that dies: half of those on their way reach the database, none is answered. */
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
          // Dying between the statements and the commit: the server rolls back what a lost client had begun.
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
