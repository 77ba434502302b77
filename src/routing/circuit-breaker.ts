import type { Clock } from '../kernel/index.ts'
import type { HealthView } from '../models/index.ts'
import type { ProviderError } from '../providers/index.ts'
import { judgeFailure } from './retry-policy.ts'

/** The circuit opens when this many of the recent outcomes failed (a call that is tried three times brings three) … */
export const failuresToOpen = 10
/** … of at most so many … */
const recentOutcomes = 20
/** … that are not older than this. */
const outcomeLifetimeMs = 60_000
/** First time open; doubles with each failed probe. */
export const firstOpenMs = 5_000
const maximumOpenMs = 60_000
/** Rest after a rate limit whose answer names no time; others are preferred meanwhile. */
const defaultRestMs = 1_000
/** Longest rest that a provider's hint is given before the deployment is tried again. */
const maximumRestMs = 3_600_000
/** After trouble with the account (key, credit, unknown model): others are preferred meanwhile. */
const accountRestMs = 30_000
/** Most deployments remembered; the longest unused is forgotten first. */
const maximumTracked = 10_000

/** May a deployment be called? `reluctant`: only where no other can. */
type Admission =
  | { admitted: true; reluctant: boolean }
  | { admitted: false; reason: 'rate_limit' | 'circuit'; waitMs: number }

export interface CircuitBreakers {
  check(id: string): Admission
  /** Counts a call that is about to be made; in a half-open circuit it is the one probe. Ended by `succeeded`, `failed` or `released`. */
  begin(id: string): void
  succeeded(id: string): void
  /** Returns the state when the circuit changed. */
  failed(id: string, error: ProviderError): HealthView['circuit'] | null
  /** The call ended without saying anything about the deployment. */
  released(id: string): void
  view(id: string): HealthView
  /** The provider takes the key after all: another deployment of it has answered. */
  clearAccountError(id: string): void
  reset(ids: readonly string[]): void
}

interface Record {
  outcomes: { atMs: number; ok: boolean }[]
  /** 0: closed. */
  openUntilMs: number
  openForMs: number
  probing: boolean
  restUntilMs: number
  avoidUntilMs: number
  lastError: HealthView['lastError']
  accountError: HealthView['accountError']
}

/** What each deployment has done lately, on this instance; from memory and forgotten with the process. */
export function createCircuitBreakers({ clock }: { clock: Clock }): CircuitBreakers {
  const records = new Map<string, Record>()

  function recordOf(id: string): Record {
    const existing = records.get(id)
    if (existing) return existing
    const fresh: Record = {
      outcomes: [],
      openUntilMs: 0,
      openForMs: firstOpenMs,
      probing: false,
      restUntilMs: 0,
      avoidUntilMs: 0,
      lastError: null,
      accountError: null,
    }
    if (records.size >= maximumTracked) records.delete(records.keys().next().value!)
    records.set(id, fresh)
    return fresh
  }

  function note(record: Record, ok: boolean, nowMs: number) {
    record.outcomes.push({ atMs: nowMs, ok })
    if (record.outcomes.length > recentOutcomes) record.outcomes.shift()
    while (record.outcomes.length > 0 && nowMs - record.outcomes[0]!.atMs > outcomeLifetimeMs) record.outcomes.shift()
  }

  function succeed(id: string) {
    const record = records.get(id)
    if (!record) return
    if (record.openUntilMs > 0) record.outcomes = []
    note(record, true, clock.monotonicMs())
    record.openUntilMs = 0
    record.openForMs = firstOpenMs
    record.probing = false
    record.avoidUntilMs = 0
    record.accountError = null
  }

  return {
    check(id) {
      const record = records.get(id)
      if (!record) return { admitted: true, reluctant: false }
      const nowMs = clock.monotonicMs()
      if (nowMs < record.restUntilMs)
        return { admitted: false, reason: 'rate_limit', waitMs: record.restUntilMs - nowMs }
      if (record.openUntilMs > 0) {
        if (nowMs < record.openUntilMs)
          return { admitted: false, reason: 'circuit', waitMs: record.openUntilMs - nowMs }
        // Half open: one probe at a time decides.
        if (record.probing) return { admitted: false, reason: 'circuit', waitMs: firstOpenMs }
      }
      return { admitted: true, reluctant: nowMs < record.avoidUntilMs }
    },
    begin(id) {
      const record = records.get(id)
      if (record && record.openUntilMs > 0) record.probing = true
    },
    succeeded: succeed,
    failed(id, error) {
      const { health } = judgeFailure(error)
      if (health === 'answered') {
        succeed(id)
        return null
      }
      const record = recordOf(id)
      const nowMs = clock.monotonicMs()
      const wasProbe = record.probing
      record.probing = false
      if (health === 'none') return null
      record.lastError = { class: error.errorClass, status: error.status, at: clock.now() }
      if (health === 'account') {
        record.avoidUntilMs = nowMs + accountRestMs
        record.accountError = record.lastError
      }
      if (health === 'rate_limit') {
        const hint = error.retryAfterSeconds
        if (hint === null) record.avoidUntilMs = nowMs + defaultRestMs
        else record.restUntilMs = nowMs + Math.min(hint * 1000, maximumRestMs)
      }
      if (health !== 'fault') return null
      note(record, false, nowMs)
      const failures = record.outcomes.filter((outcome) => !outcome.ok).length
      if (!wasProbe && (failures < failuresToOpen || record.openUntilMs > nowMs)) return null
      if (wasProbe) record.openForMs = Math.min(record.openForMs * 2, maximumOpenMs)
      record.openUntilMs = nowMs + record.openForMs
      return 'open'
    },
    released(id) {
      const record = records.get(id)
      if (record) record.probing = false
    },
    view(id) {
      const record = records.get(id)
      const nowMs = clock.monotonicMs()
      const recent = record?.outcomes.filter((outcome) => nowMs - outcome.atMs <= outcomeLifetimeMs) ?? []
      const blockedMs = Math.max(record?.openUntilMs ?? 0, record?.restUntilMs ?? 0) - nowMs
      return {
        circuit: !record || record.openUntilMs === 0 ? 'closed' : nowMs < record.openUntilMs ? 'open' : 'half_open',
        blockedUntil: blockedMs > 0 ? Math.ceil(clock.now() + blockedMs) : null,
        recentFailures: recent.filter((outcome) => !outcome.ok).length,
        recentCalls: recent.length,
        lastError: record?.lastError ?? null,
        accountError: record?.accountError ?? null,
      }
    },
    clearAccountError(id) {
      const record = records.get(id)
      if (!record) return
      record.accountError = null
      record.avoidUntilMs = 0
    },
    reset(ids) {
      for (const id of ids) records.delete(id)
    },
  }
}
