import { expect } from 'vitest'
import { estimatePromptAtOnce } from '../../../src/gateway/gateway/prompt-size.ts'
import { estimateTokens } from '../../../src/gateway/tokens/index.ts'
import type { LedgerEntry, LedgerTables } from './ledger-tables.ts'
import { promptOf, type SentAnswer, tokensPerWord } from './planned-provider.ts'
import type { CallRecord } from './recorded-call.ts'

export interface Comparison {
  /** One line per difference; empty when the ledger matches the clients' records. */
  faults: string[]
  figures: Record<string, number>
}

/** Output is stored every 250 ms (docs/understand/ledger.md); the rest is for a late timer. */
const progressEveryMs = 400

/** Compares the ledger with the clients' records and with what the provider sent. */
export function compareLedger(
  records: readonly CallRecord[],
  tables: LedgerTables,
  sent: (number: number) => SentAnswer | undefined,
): Comparison {
  const faults: string[] = []
  const entries = new Map<string, LedgerEntry>()
  for (const entry of tables.entries) {
    if (entries.has(entry.requestId)) faults.push(`${entry.requestId}: a second entry`)
    entries.set(entry.requestId, entry)
  }
  const counts = new Map<string, number>()
  const count = (name: string, by = 1) => counts.set(name, (counts.get(name) ?? 0) + by)
  const headless = new Map<string, number>()
  for (const record of records) {
    count(kindOf(record))
    if (record.requestId === null) {
      headless.set(record.organisationId, (headless.get(record.organisationId) ?? 0) + 1)
      continue
    }
    const entry = entries.get(record.requestId)
    entries.delete(record.requestId)
    const writtenDownMs = record.wordsAtMs.length > 0 && !record.sawEnd ? writtenDownBefore(record, records) : 0
    const fault = faultOf(record, entry, sent(record.call.number), writtenDownMs)
    if (entry?.ending === 'crashed') {
      count('words that crashed streams showed', record.wordsAtMs.length)
      count('of these certain to be written down', record.wordsAtMs.filter((atMs) => atMs < writtenDownMs).length)
      count('of these billed', entry.completionTokens / tokensPerWord)
    }
    if (fault !== null) faults.push(`${record.requestId} (${kindOf(record)}, ${describeEntry(entry)}): ${fault}`)
  }
  // The other entries belong to calls killed before their response headers: at most as many as the clients recorded.
  for (const entry of entries.values()) {
    const left = (headless.get(entry.organisationId) ?? 0) - 1
    headless.set(entry.organisationId, left)
    if (left < 0) faults.push(`${entry.requestId} (${entry.ending}): no client knows of it`)
  }
  for (const entry of tables.entries) count(`billed as ${entry.ending}`)
  faults.push(...faultsOfSums(tables))
  return { faults, figures: Object.fromEntries([...counts].sort()) }
}

/** Waits until text that calls of this process have shown by now is certain to be stored. */
export async function untilWrittenDown(url: string, records: readonly CallRecord[]): Promise<void> {
  const nowMs = performance.now()
  const isWritten = () => writtenDownBefore({ url, overAtMs: Infinity }, records) > nowMs
  await expect.poll(isWritten, { timeout: 30_000, interval: 20 }).toBe(true)
}

/**
 * Text received before this moment was stored when its process was killed, even on a slow machine: a call that was
 * sent after the text arrived and whose settlement was stored, so every earlier write was; then time for one more round of
 * the timer; then another whole call. 0 when no calls prove it.
 */
function writtenDownBefore(record: Pick<CallRecord, 'url' | 'overAtMs'>, records: readonly CallRecord[]): number {
  const settled = records.filter(
    ({ url, usage, overAtMs }) => url === record.url && usage !== null && overAtMs < record.overAtMs,
  )
  const second = Math.max(0, ...settled.map(({ sentAtMs }) => sentAtMs))
  const before = settled.filter(({ overAtMs }) => overAtMs < second - progressEveryMs)
  return Math.max(0, ...before.map(({ sentAtMs }) => sentAtMs))
}

function describeEntry(entry: LedgerEntry | undefined): string {
  if (!entry) return 'no entry'
  const { ending, estimated, promptTokens, completionTokens, billed } = entry
  return `${ending}${estimated ? ', estimated' : ''}: ${promptTokens} + ${completionTokens} tokens, ${billed} picoUsd`
}

function kindOf(record: CallRecord): string {
  if (record.status === null) return 'calls without any answer'
  if (record.status !== 200) return `calls refused with ${record.status}`
  if (record.usage) return record.call.stream ? 'streams seen to the end' : 'whole answers seen'
  if (record.hungUp) return 'streams that the client left'
  if (record.errorCode !== null) return `streams ended by ${record.errorCode}`
  return record.wordsAtMs.length > 0 ? 'streams killed after some text' : 'answers killed before any text'
}

function faultOf(
  record: CallRecord,
  entry: LedgerEntry | undefined,
  sent: SentAnswer | undefined,
  writtenDownMs: number,
): string | null {
  if (record.status !== 200) {
    // A provider had been called when the service stopped or another instance took over: billed by policy.
    const isByPolicy =
      entry?.ending === 'shutdown' || (entry?.ending === 'crashed' && record.errorCode === 'overloaded')
    return entry !== undefined && entry.billed > 0n && !isByPolicy ? 'refused, and billed' : null
  }
  if (entry === undefined) return 'unbilled'
  if (entry.organisationId !== record.organisationId) return 'billed to another organisation'
  if (sent === undefined) return 'answered, but the provider was never asked'
  if (entry.writtenOff > 0n) return 'written off, though the provider kept to its cap'
  if (entry.ending === 'completed') return faultOfCompleted(record, entry, sent)
  if (record.usage) return `its end was seen, but it is entered as ${entry.ending}`
  if (!record.call.stream) return 'a whole answer came, so its settlement must have been there'
  // Usage may have arrived at the moment when the client left.
  if (!entry.estimated) return faultOfCompleted(record, entry, sent)
  return faultOfPartial(record, entry, sent, writtenDownMs)
}

function faultOfCompleted(record: CallRecord, entry: LedgerEntry, sent: SentAnswer): string | null {
  if (entry.estimated === sent.sendsUsage) return 'marked wrongly as estimated, or not'
  // A kill between the settlement and the last bytes: the client received no usage, but the provider's is recorded here.
  const usage = sent.sendsUsage
    ? { promptTokens: sent.promptTokens, completionTokens: sent.words * tokensPerWord }
    : (record.usage ?? { promptTokens: entry.promptTokens, completionTokens: entry.completionTokens })
  const seen = record.usage ?? usage
  for (const key of ['promptTokens', 'completionTokens'] as const) {
    if (entry[key] !== usage[key] || entry[key] !== seen[key]) {
      return `${key}: billed ${entry[key]}, the provider sent ${usage[key]}, the client saw ${seen[key]}`
    }
  }
  return null
}

/** Prompt as estimated; output at most what the provider sent and at least what the client received long enough before. */
function faultOfPartial(
  record: CallRecord,
  entry: LedgerEntry,
  sent: SentAnswer,
  writtenDownMs: number,
): string | null {
  const most = sent.words * tokensPerWord
  if (entry.completionTokens > most) return `at most ${most} tokens of output were sent`
  const { wordsAtMs, call } = record
  // Stopped because its hold was lost: text sent after the last stored progress stays unbilled, as after a crash.
  if (record.errorCode === 'overloaded' && ['crashed', 'provider_failed'].includes(entry.ending)) return null
  if (entry.ending === 'crashed' || entry.ending === 'shutdown') {
    const least =
      entry.ending === 'crashed' ? wordsAtMs.filter((atMs) => atMs < writtenDownMs).length : wordsAtMs.length
    if (entry.completionTokens < least * tokensPerWord) return `${least} words were seen and must be billed`
    const prompt = estimatePromptAtOnce(promptOf(call) as never).estimate
    if (entry.ending === 'crashed' && entry.promptTokens !== prompt)
      return `the prompt is estimated at ${prompt} tokens`
    return null
  }
  const endings = sent.breaksOff
    ? ['client_closed', 'budget_ended', 'provider_failed']
    : ['client_closed', 'budget_ended']
  if (!endings.includes(entry.ending)) return 'an ending that nothing in this run explains'
  if (entry.ending === 'budget_ended' && record.errorCode !== 'insufficient_quota' && !record.hungUp) {
    return 'the budget ended a stream without a word about it'
  }
  if (entry.promptTokens > estimateTokens(promptOf(call)[0]!.content).bound) return 'the prompt is not that long'
  const least = wordsAtMs.length * tokensPerWord
  return entry.completionTokens < least ? `${wordsAtMs.length} words were seen and must be billed` : null
}

function faultsOfSums({ entries, periods, openHolds }: LedgerTables): string[] {
  const faults = openHolds > 0 ? [`${openHolds} holds are still open`] : []
  const billed = new Map<string, bigint>()
  for (const entry of entries) billed.set(entry.organisationId, (billed.get(entry.organisationId) ?? 0n) + entry.billed)
  const counted = new Map<string, { settled: bigint; ceiling: bigint }>()
  // More than one period only when the month ended during the run.
  for (const { organisationId, settled, ceiling } of periods) {
    const before = counted.get(organisationId) ?? { settled: 0n, ceiling: 0n }
    counted.set(organisationId, { settled: before.settled + settled, ceiling: before.ceiling + ceiling })
    if (settled > ceiling) faults.push(`${organisationId}: billed ${settled} of a budget of ${ceiling}`)
  }
  for (const [organisationId, sum] of billed) {
    const { settled = 0n, ceiling = 0n } = counted.get(organisationId) ?? {}
    if (sum !== settled) faults.push(`${organisationId}: entries say ${sum}, counters say ${settled}`)
    if (sum > ceiling) faults.push(`${organisationId}: entries say ${sum}, the budget was ${ceiling}`)
  }
  return faults
}
