import type { TestDatabase } from '../../test/harness/statements.ts'
import type { SimulatedCall } from './simulation.ts'

export interface Verdict {
  durableCalls: number
  settledAsAsked: number
  settledByPolicy: number
  refused: number
  billedPicoUsd: bigint
  writtenOffPicoUsd: bigint
  periods: number
  /** Each must be zero. */
  unbilledAnswers: number
  doubleBills: number
  wrongBills: number
  /** Calls within the bounds of their requests that a hold did not cover. */
  unboundedCalls: number
  leakedHolds: number
  overrunPeriods: number
  highestOverrunPicoUsd: bigint
  /** One line for each overrun. */
  overruns: string[]
}

interface StoredEntry {
  request_id: string
  organisation_id: string
  period: string
  started_at: Date
  billed_pico_usd: bigint
  written_off_pico_usd: bigint
  completion_tokens: bigint
  ending: string
}

/** Compares the records of the calls with the tables, read with separate SQL. */
export async function verify(database: TestDatabase, calls: readonly SimulatedCall[]): Promise<Verdict> {
  const organisationIds = [...new Set(calls.map((call) => call.organisation.id))]
  const rows = await database.query<StoredEntry>(
    `select request_id, organisation_id, period, started_at, billed_pico_usd, written_off_pico_usd, completion_tokens, ending
     from ledger_entries where organisation_id = any($1::uuid[])`,
    [organisationIds],
  )
  const entries = new Map(rows.map((row) => [row.request_id, row]))
  const holds = await database.query('select request_id from ledger_holds where organisation_id = any($1::uuid[])', [
    organisationIds,
  ])
  const known = new Set<string>(calls.map((call) => call.requestId))
  const verdict: Verdict = {
    durableCalls: calls.filter((call) => call.durable).length,
    settledAsAsked: calls.filter((call) => call.receipt && entries.get(call.requestId)?.ending === call.receipt.ending)
      .length,
    settledByPolicy: rows.filter((row) => row.ending === 'crashed').length,
    refused: calls.filter((call) => call.refused).length,
    billedPicoUsd: rows.reduce((sum, row) => sum + row.billed_pico_usd, 0n),
    writtenOffPicoUsd: rows.reduce((sum, row) => sum + row.written_off_pico_usd, 0n),
    periods: 0,
    unbilledAnswers: calls.filter((call) => call.durable && !entries.has(call.requestId)).length,
    doubleBills: rows.length - entries.size + rows.filter((row) => !known.has(row.request_id)).length,
    wrongBills: calls.filter((call) => isWrong(call, entries.get(call.requestId))).length,
    unboundedCalls: calls.filter((call) => isUnbounded(call, entries.get(call.requestId))).length,
    leakedHolds: holds.length,
    overrunPeriods: 0,
    highestOverrunPicoUsd: 0n,
    overruns: [],
  }
  return { ...verdict, ...(await findOverruns(database, organisationIds, rows, calls)) }
}

/** An entry that differs from the record of its call. */
function isWrong(call: SimulatedCall, entry: StoredEntry | undefined): boolean {
  if (call.refused) return entry !== undefined
  if (entry && !call.readAtMs.includes(entry.started_at.getTime())) return true
  if (call.receipt) {
    // The result of settle() equals the entry, whichever instance wrote it; a call that never became durable may have no entry.
    if (!entry) return call.durable || call.receipt.billedPicoUsd !== 0n
    if (entry.billed_pico_usd !== call.receipt.billedPicoUsd) return true
  }
  if (entry?.ending === 'crashed') {
    return !call.interrupted || entry.completion_tokens > BigInt(call.shownTokens)
  }
  if (entry && isSettledAsAsked(call, entry) && call.baseAttoUsd !== undefined) {
    if (entry.billed_pico_usd + entry.written_off_pico_usd !== costOf(call, call.baseAttoUsd)) return true
  }
  if (entry && call.outcome?.kind === 'answered') {
    return entry.completion_tokens !== BigInt(call.outcome.usage.completionTokens)
  }
  return false
}

/** Rounded up once, from attoUsd and basis points to picoUsd. */
function costOf({ organisation: { markupBasisPoints } }: SimulatedCall, baseAttoUsd: bigint): bigint {
  return (baseAttoUsd * (10_000n + BigInt(markupBasisPoints)) + 9_999_999_999n) / 10_000_000_000n
}

const isSettledAsAsked = ({ outcome }: SimulatedCall, entry: StoredEntry) =>
  outcome?.kind === 'answered' && entry.ending === outcome.ending

/** Nothing of such a call is written off: its hold covers the dearest that its request allows. */
function isUnbounded(call: SimulatedCall, entry: StoredEntry | undefined): boolean {
  if (!call.isBounded) return false
  const isAboveBound = call.boundPicoUsd !== undefined && costOf(call, call.baseAttoUsd!) > call.boundPicoUsd
  return isAboveBound || (entry !== undefined && isSettledAsAsked(call, entry) && entry.written_off_pico_usd !== 0n)
}

/** Compares the bill of a period with the highest budget that the ledger was given for it, also by a call that it refused. */
async function findOverruns(
  database: TestDatabase,
  organisationIds: string[],
  rows: readonly StoredEntry[],
  calls: readonly SimulatedCall[],
): Promise<Pick<Verdict, 'periods' | 'overrunPeriods' | 'highestOverrunPicoUsd' | 'overruns'>> {
  const periods = await database.query<{ organisation_id: string; period: string; starts_at: Date; ends_at: Date }>(
    'select organisation_id, period, starts_at, ends_at from ledger_periods where organisation_id = any($1::uuid[])',
    [organisationIds],
  )
  let overrunPeriods = 0
  let highestOverrunPicoUsd = 0n
  const overruns: string[] = []
  const byId = new Map<string, SimulatedCall>(calls.map((call) => [call.requestId, call]))
  for (const period of periods) {
    const entered = rows.filter((row) => row.organisation_id === period.organisation_id && row.period === period.period)
    const billed = entered.reduce((sum, row) => sum + row.billed_pico_usd, 0n)
    const [startsAtMs, endsAtMs] = [period.starts_at.getTime(), period.ends_at.getTime()]
    const budget = calls
      .filter(
        (call) =>
          call.organisation.id === period.organisation_id &&
          call.readAtMs.some((atMs) => startsAtMs <= atMs && atMs < endsAtMs),
      )
      .reduce(
        (most, call) => (call.organisation.monthlyBudgetPicoUsd > most ? call.organisation.monthlyBudgetPicoUsd : most),
        0n,
      )
    if (billed > budget) {
      overrunPeriods += 1
      const { organisation_id: organisation, starts_at: startsAt, ends_at: endsAt } = period
      const entries = entered.map((row) => {
        const call = byId.get(row.request_id)
        return {
          read: call?.readAtMs.map((atMs) => new Date(atMs).toISOString()),
          budget: String(call?.organisation.monthlyBudgetPicoUsd),
          billed: String(row.billed_pico_usd),
          ending: row.ending,
        }
      })
      overruns.push(JSON.stringify({ organisation, startsAt, endsAt, budget: String(budget), entries }))
    }
    if (billed - budget > highestOverrunPicoUsd) highestOverrunPicoUsd = billed - budget
  }
  return { periods: periods.length, overrunPeriods, highestOverrunPicoUsd, overruns }
}
