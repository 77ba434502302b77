import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, testServerUrl, type TestDatabases } from '../../../test/harness/database.ts'
import type { TestDatabase } from '../../../test/harness/statements.ts'
import type { Queryable } from '../../platform/database/index.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import type { Hold } from './port.ts'
import { writeDeadlineMs } from './write-queue.ts'
import { answered, callOf, organisationWith, skippingClock } from './testing/ledger-fixture.ts'

/** Statements that commit after the ledger has given them up, as on a server that freezes and continues. */

let databases: TestDatabases
let shared: TestDatabase
/** Longer than a client waits for a write. */
const overdueMs = writeDeadlineMs + 1_000

beforeAll(async () => {
  databases = await openTestDatabases()
  shared = { ...databases.control, engine: 'postgres' }
})
afterAll(() => databases.drop())

/** A batch of the ledger that is on its way to the database. */
interface FrozenBatch {
  reached: Promise<void>
  /** It commits, and nobody gets its answer. `meanwhile` runs between its end and the commit. */
  commit(meanwhile?: () => Promise<void>): Promise<void>
  /** The ledger learns that its connection is lost. */
  lose(): void
}

/** A database of which single batches freeze. */
function createFreezing() {
  let freezing: { take(run: (on: Queryable) => Promise<unknown>): Promise<never> } | undefined
  const database: TestDatabase = {
    ...shared,
    for: () => database,
    query<Row>(...given: Parameters<TestDatabase['query']>): Promise<Row[]> {
      if (!freezing || !given[0].includes('ledger_write_batch')) return shared.query<Row>(...given)
      const { take } = freezing
      freezing = undefined
      return take((on) => on.query(given[0], given[1]))
    },
  }
  return {
    database,
    /** The next batch freezes. */
    freeze(): FrozenBatch {
      const reached = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<never>()
      let run: (on: Queryable) => Promise<unknown>
      const frozen: FrozenBatch = {
        reached: reached.promise,
        commit: (meanwhile) =>
          shared.transaction(async (transaction) => {
            await run(transaction)
            await meanwhile?.()
          }),
        lose: () => answer.reject(Object.assign(new Error('connection lost'), { code: '08006' })),
      }
      freezing = {
        take(statement) {
          run = statement
          reached.resolve()
          return answer.promise
        },
      }
      return frozen
    },
  }
}

const promptAndOutput = answered(100, 500)

/** What is frozen, and what its client has asked for by then. */
const kinds = {
  'a hold': async (ledger: LedgerService, freeze: () => FrozenBatch) => {
    const frozen = freeze()
    const hold = await ledger.hold(callOf(organisationWith('1')))
    hold.makeDurable().catch(() => {})
    await frozen.reached
    return { hold, frozen, isAnswered: false }
  },
  'a hold whose answer is here': async (ledger: LedgerService, freeze: () => FrozenBatch) => {
    const call = await kinds['a hold'](ledger, freeze)
    call.hold.settle(promptAndOutput).catch(() => {})
    return { ...call, isAnswered: false }
  },
  'a hold with its settlement': async (ledger: LedgerService, freeze: () => FrozenBatch) => {
    const frozen = freeze()
    const hold = await ledger.hold(callOf(organisationWith('1')))
    hold.settle(promptAndOutput).catch(() => {})
    await frozen.reached
    return { hold, frozen, isAnswered: true }
  },
  growth: async (ledger: LedgerService, freeze: () => FrozenBatch) => {
    const hold = await ledger.hold(callOf(organisationWith('1'), { stream: true }))
    await hold.makeDurable()
    const frozen = freeze()
    const growth = hold.grant(8_000)
    if (growth !== true) growth.catch(() => {})
    await frozen.reached
    return { hold, frozen, isAnswered: true }
  },
  'a settlement': async (ledger: LedgerService, freeze: () => FrozenBatch) => {
    const hold = await ledger.hold(callOf(organisationWith('1')))
    await hold.makeDurable()
    const frozen = freeze()
    hold.settle(promptAndOutput).catch(() => {})
    await frozen.reached
    return { hold, frozen, isAnswered: true }
  },
}

interface Stage {
  ledger: LedgerService
  frozen: FrozenBatch
  /** Resolves when the call is over for its client. */
  finish(): Promise<void>
  /** Another instance settles what this one has left open. */
  takeOver(): Promise<void>
}

/** When the frozen statement commits. */
const moments = {
  'before it is repeated': async ({ frozen, finish }: Stage) => {
    await frozen.commit()
    frozen.lose()
    await finish()
  },
  // The embedded engine runs one transaction at a time.
  ...(testServerUrl() !== undefined && {
    'while it is repeated': async ({ frozen, finish }: Stage) => {
      const finished = Promise.withResolvers<void>()
      await frozen.commit(async () => {
        frozen.lose()
        finish().then(finished.resolve, finished.reject)
        const blocked =
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%ledger_write_batch%'"
        await expect.poll(() => databases.corpus.query(blocked)).not.toEqual([])
      })
      await finished.promise
    },
  }),
  'after it was repeated': async ({ frozen, finish }: Stage) => {
    frozen.lose()
    await finish()
    await frozen.commit()
  },
  'after the end of its instance': async ({ ledger, frozen, finish }: Stage) => {
    frozen.lose()
    await finish()
    await ledger.close()
    await frozen.commit()
  },
  'before another instance takes over': async ({ frozen, finish, takeOver }: Stage) => {
    await frozen.commit()
    await takeOver()
    frozen.lose()
    await finish()
  },
  'after another instance has taken over': async ({ frozen, finish, takeOver }: Stage) => {
    await takeOver()
    await frozen.commit()
    frozen.lose()
    await finish()
  },
}

interface Seen {
  isRefused: boolean
  ending: string
  billedPicoUsd: bigint
}

/** What the client of a hold gets: its answer, or an error. */
async function seenBy(hold: Hold): Promise<Seen> {
  const durable = await hold.durable.then(
    () => true,
    () => false,
  )
  const { ending, billedPicoUsd } = await hold.settle(promptAndOutput)
  return { isRefused: !durable || ending !== 'completed', ending, billedPicoUsd }
}

describe.each(Object.entries(kinds))('%s that commits late', (kind, begin) => {
  test.each(Object.entries(moments))(
    `%s: an answer is billed once, a refused call is not, and nothing stays held`,
    async (moment, run) => {
      const { database, freeze } = createFreezing()
      const clock = skippingClock()
      const ledger = await createLedger({ database, clock, log: silentLog })
      const other = await createLedger({ database: shared, clock: systemClock, log: silentLog })
      try {
        const { hold, frozen, isAnswered } = await begin(ledger, freeze)
        clock.pass(overdueMs)
        let seen: Seen | undefined
        const seeing = seenBy(hold).then((result) => (seen = result))
        await run({
          ledger,
          frozen,
          finish: async () => void (await seeing),
          async takeOver() {
            await shared.execute(
              "update ledger_instances set heartbeat_at = now() - interval '1 hour' where instance_id = $1",
              [ledger.instanceId()],
            )
            await other.maintain()
          },
        })
        const [entry] = await shared.query<{ ending: string; billed: bigint }>(
          'select ending, billed_pico_usd as billed from ledger_entries where request_id = $1',
          [hold.requestId],
        )
        expect(seen!.billedPicoUsd).toBe(entry?.billed ?? 0n)
        const isTakenOver = entry?.ending === 'crashed'
        if (!isTakenOver) expect(seen!.billedPicoUsd > 0n).toBe(!seen!.isRefused)
        if (!moment.includes('another instance'))
          expect({ kind, isRefused: seen!.isRefused }).toEqual({ kind, isRefused: !isAnswered })
        await ledger.close()
        expect(await shared.query('select from ledger_holds where request_id = $1', [hold.requestId])).toEqual([])
      } finally {
        await Promise.all([ledger.close(), other.close()])
      }
    },
  )
})

test('the audit has no finding after all of them', async () => {
  const ledger = await createLedger({ database: shared, clock: systemClock, log: silentLog })
  try {
    expect((await ledger.audit()).findings).toEqual([])
  } finally {
    await ledger.close()
  }
})
