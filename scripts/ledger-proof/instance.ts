import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import {
  createLedger,
  type Hold,
  type HoldRequest,
  type JournalFiles,
  type LedgerService,
} from '../../src/gateway/billing/index.ts'
import { journalFiles } from '../../src/gateway/billing/journal/journal-format.ts'
import type { TestDatabase } from '../../test/harness/statements.ts'
import { type Clock, silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import type { Chance } from './random.ts'

/** One simulated process: its ledger, and the ways in which it ends or becomes silent. */
export interface Instance {
  ledger: LedgerService
  /**
   * Opens a hold and adds to `readAtMs` what the ledger reads from the clock until it has decided. It reads again when it decides again,
   * and the clock may have jumped in between: in the period of each reading it has been given the budget of the request.
   */
  hold(request: HoldRequest, readAtMs: number[]): Promise<Hold>
  /**
   * Like kill -9: timers stop, statements in flight may or may not take effect, a write of the journal ends at any byte, and no reply
   * arrives. Resolves when the process no longer changes files.
   */
  kill(): Promise<void>
  isKilled(): boolean
}

export interface InstanceOptions {
  database: TestDatabase
  /** Wall time of this process; it may jump. */
  now(): number
  chance: Chance
  holdWaitMs: number
  /** Receives the statements that commit after the instance has given them up; without it, there are none. */
  late?: Promise<unknown>[]
  journal?: { mode: 'local'; folder: string } | undefined
}

/** Small, so that a run fills, applies and reuses many. */
const segmentBytes = 64 * 1024
/** Share of the batches whose connection is lost and that commit later: before or after they are repeated, which takes 50 ms. */
const lateShare = 0.03
const longestDelayMs = 200

export async function startInstance({
  database,
  now,
  chance,
  holdWaitMs,
  late,
  journal,
}: InstanceOptions): Promise<Instance> {
  let killed = false
  const timers: (() => void)[] = []
  const never = () => new Promise<never>(() => {})

  /** A statement of a killed process: half of those in flight reach the database, none gets a reply. */
  async function guard<Result>(run: () => Promise<Result>): Promise<Result> {
    if (killed) return never()
    const [settled] = await Promise.allSettled([run()])
    // Neither a result nor an error arrives at a killed process.
    if (killed) return never()
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }

  /** Loses the connections of some batches, which take effect at a later time, also when the process is dead by then. */
  function send(...given: Parameters<TestDatabase['query']>): Promise<unknown[]> {
    const isBatch = /ledger_write_batch|ledger_apply_calls/.test(given[0])
    if (!late || !isBatch || !chance.happens(lateShare)) return database.query(...given)
    const commit = () => database.query(given[0], given[1])
    late.push(systemClock.sleep(chance.integer(0, longestDelayMs)).then(commit))
    return Promise.reject(Object.assign(new Error('connection lost'), { code: '08006' }))
  }

  const mortal: TestDatabase = {
    ...database,
    for: () => mortal,
    query: (...given) => guard(() => send(...given)) as never,
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
  const decisions = new AsyncLocalStorage<{ readAtMs: number[]; isOver: boolean }>()
  const clock: Clock = {
    ...systemClock,
    now() {
      const atMs = now()
      const decision = decisions.getStore()
      // What a decision has started may read the clock later, and then for something else.
      if (decision && !decision.isOver && !killed) decision.readAtMs.push(atMs)
      return atMs
    },
    every(ms, task) {
      const stop = systemClock.every(ms, () => {
        if (!killed) task()
      })
      timers.push(stop)
      return stop
    },
  }
  const changes = new Set<Promise<void>>()
  /** A change of a file by a killed process: one in flight is complete or, for a write, cut off. None gets a reply. */
  async function change(run: () => Promise<void>): Promise<void> {
    if (killed) return never()
    const running = run().finally(() => changes.delete(running))
    changes.add(running)
    await running
    return killed ? never() : undefined
  }
  const write: JournalFiles['write'] = (descriptor, bytes, position) =>
    change(async () => {
      // A turn in which the process may be killed.
      await new Promise((resolve) => setImmediate(resolve))
      const written = killed ? chance.integer(0, bytes.length) : bytes.length
      await journalFiles.write(descriptor, bytes.subarray(0, written), position)
    })
  const files: JournalFiles = {
    segmentFlags: fs.constants.O_RDWR,
    append: (...given) => write(...given).then(() => files.sync(given[0])),
    write,
    // Nothing here ends a machine, so the page cache is as good as a disk.
    sync: () => change(() => new Promise((resolve) => setImmediate(resolve))),
    writeMark: (...given) => change(() => journalFiles.writeMark(...given)),
    rename: (...given) => change(() => journalFiles.rename(...given)),
    remove: (file) => change(() => journalFiles.remove(file)),
    syncFolder: () => change(() => Promise.resolve()),
  }
  const ledger = await createLedger({
    database: mortal,
    clock,
    log: silentLog,
    holdWaitMs,
    ...(journal && { journal: { ...journal, files, segmentBytes, projectionDelayMs: chance.integer(0, 30) } }),
  })
  return {
    ledger,
    async hold(request, readAtMs) {
      const decision = { readAtMs, isOver: false }
      try {
        return await decisions.run(decision, () => ledger.hold(request))
      } finally {
        decision.isOver = true
      }
    },
    async kill() {
      killed = true
      for (const stop of timers) stop()
      await Promise.allSettled(changes)
    },
    isKilled: () => killed,
  }
}
