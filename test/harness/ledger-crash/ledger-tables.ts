import { expect } from 'vitest'
import { openDatabases } from '../statements.ts'
import { silentLog, systemClock } from '../../../src/platform/kernel/index.ts'
import type { DatabasePlace } from '../database.ts'

/** The ledger in the database, read without the service. Money in picoUsd. */
export interface LedgerTables {
  entries: LedgerEntry[]
  openHolds: number
  instances: number
  periods: { organisationId: string; ceiling: bigint; settled: bigint; committed: bigint }[]
}

export interface LedgerEntry {
  requestId: string
  organisationId: string
  ending: string
  estimated: boolean
  promptTokens: number
  completionTokens: number
  billed: bigint
  writtenOff: bigint
}

/** No other process may have the embedded database open. */
export async function readLedgerTables(place: DatabasePlace): Promise<LedgerTables> {
  const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog })
  try {
    const { control } = databases
    const [counts] = await control.query<{ holds: bigint; instances: bigint }>(
      'select (select count(*) from ledger_holds) as holds, (select count(*) from ledger_instances) as instances',
    )
    const entries = await control.query<Omit<LedgerEntry, 'promptTokens' | 'completionTokens'> & Tokens>(
      `select request_id as "requestId", organisation_id as "organisationId", ending, estimated, prompt_tokens as prompt,
         completion_tokens as completion, billed_pico_usd as billed, written_off_pico_usd as "writtenOff" from ledger_entries`,
    )
    return {
      entries: entries.map(({ prompt, completion, ...entry }) => ({
        ...entry,
        promptTokens: Number(prompt),
        completionTokens: Number(completion),
      })),
      openHolds: Number(counts!.holds),
      instances: Number(counts!.instances),
      periods: await control.query(
        `select p.organisation_id as "organisationId", max(p.ceiling_pico_usd) as ceiling,
           (max(p.settled_pico_usd) + coalesce(sum(l.settled_pico_usd), 0))::int8 as settled,
           max(p.committed_pico_usd) as committed
         from ledger_periods p left join ledger_leases l using (organisation_id, period)
         group by p.organisation_id, p.period`,
      ),
    }
  } finally {
    await databases.close()
  }
}

/** Waits until so many instances are known: one that is stopped or killed is until another one presumes it dead. */
export async function untilInstances(place: DatabasePlace, count: number): Promise<void> {
  const read = async () => (await readLedgerTables(place)).instances
  await expect.poll(read, { timeout: 60_000, interval: 200 }).toBe(count)
}

interface Tokens {
  prompt: bigint
  completion: bigint
}
