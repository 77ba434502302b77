import { setTimeout as wait } from 'node:timers/promises'
import { compareLedger } from './compare-ledger.ts'
import type { LedgerTables } from './ledger-tables.ts'
import type { PlannedProvider } from './planned-provider.ts'
import { type Caller, type CallRecord, sendRecorded } from './recorded-call.ts'
import type { Victim } from './victim.ts'

/** After a kill and a restart, the spent amount is within the budget. */
export async function overrunOf(victim: Victim, id: string): Promise<string[]> {
  const { spentUsd, budgetUsd } = await victim.budget(id)
  return Number(spentUsd) > Number(budgetUsd) ? [`${id}: ${spentUsd} of ${budgetUsd} after a kill`] : []
}

/** Less than a short prompt and the minimum of 128 output tokens cost, at $2.50 and $10 per million. */
const unusableUsd = 0.0018

export interface SpendDependencies {
  victim: Victim
  provider: PlannedProvider
  nextNumber(): number
  records: CallRecord[]
}

/** A process that has just started may be overloaded, and then asks its client to come again. */
const mostOverloaded = 20

/** The rest of a budget after the kills can be spent completely: no hold locks it. */
export async function spendAll(
  { victim, provider, nextNumber, records }: SpendDependencies,
  organisation: Caller,
): Promise<string[]> {
  const tiny = { stream: false, words: 50, headersAfterMs: 0, pauseMs: 0, capTokens: 128, hangUpAfterWords: null }
  for (let overloaded = 0; ;) {
    const call = provider.planned({ ...tiny, number: nextNumber(), promptTokens: 8, sendsUsage: true })
    const record = await sendRecorded(victim.url()!, organisation, call)
    records.push(record)
    if (record.status === 200) continue
    if (record.status === 503 && ++overloaded < mostOverloaded) {
      await wait(1_000)
      continue
    }
    const { leftUsd, heldUsd } = await victim.budget(organisation.id)
    const faults = Number(leftUsd) > unusableUsd ? [`${organisation.id}: ${leftUsd} is left and cannot be spent`] : []
    if (record.status !== 402) faults.push(`${organisation.id}: refused with ${record.status}`)
    if (Number(heldUsd) !== 0) faults.push(`${organisation.id}: ${heldUsd} is held by nobody`)
    return faults
  }
}

/** The comparison must find every fault in a ledger that was tampered with; otherwise it proves nothing. */
export function blindSpots(records: CallRecord[], tables: LedgerTables, provider: PlannedProvider): string[] {
  const seen = records.find(({ usage, call }) => usage !== null && call.sendsUsage)!
  const entry = tables.entries.find(({ requestId }) => requestId === seen.requestId)!
  const others = tables.entries.filter((other) => other !== entry)
  const tampered: Record<string, Partial<LedgerTables>> = {
    'an unbilled answer': { entries: others },
    'a double bill': { entries: [...tables.entries, entry] },
    'a bill for another usage': { entries: [...others, { ...entry, completionTokens: entry.completionTokens + 1 }] },
    'a bill that nobody asked for': {
      entries: [
        ...tables.entries,
        ...records.map((_, index) => ({ ...entry, requestId: `invented-${index}`, billed: 0n })),
      ],
    },
    'a leaked hold': { openHolds: 1 },
    'an overrun': { periods: tables.periods.map((period) => ({ ...period, ceiling: period.settled - 1n })) },
  }
  return Object.entries(tampered)
    .filter(([, change]) => compareLedger(records, { ...tables, ...change }, provider.sent).faults.length === 0)
    .map(([what]) => `the comparison does not see ${what}`)
}
