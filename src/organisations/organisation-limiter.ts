import { AppError, type Clock, type RateLimitState } from '../kernel/index.ts'
import type { Organisation } from './organisation.ts'

/** `call`: a completion or a chat. */
export type LimitedKind = 'call' | 'upload'

export interface LimitedEntry {
  /** Call it once, when the request has ended. */
  leave(): void
  /** State of the limit of requests per minute, for the `x-ratelimit-*` headers; null if there is none. */
  rate: RateLimitState | null
}

interface Counts {
  running: Record<LimitedKind, number>
  /** Requests that may begin now; refilled evenly over the minute. */
  tokens: number
  refilledAtMs: number
}

/** The end of the running requests cannot be predicted. */
const busyRetrySeconds = 1
/** Entries in memory above which idle organisations are removed. */
const sweepAbove = 1_000

/** Counts the running requests of each organisation on this instance and rejects those above its limits (Organisation.limits). */
export function createOrganisationLimiter({ clock }: { clock: Clock }) {
  const counted = new Map<string, Counts>()

  function countsOf(organisation: Organisation, nowMs: number): Counts {
    const known = counted.get(organisation.id)
    if (known) return known
    if (counted.size >= sweepAbove) dropIdle(nowMs)
    const fresh: Counts = {
      running: { call: 0, upload: 0 },
      tokens: organisation.limits.requestsPerMinute ?? 0,
      refilledAtMs: nowMs,
    }
    counted.set(organisation.id, fresh)
    return fresh
  }

  /** After a minute without a request the tokens are full again, so removing the entry changes nothing. */
  function dropIdle(nowMs: number) {
    for (const [id, { running, refilledAtMs }] of counted)
      if (running.call === 0 && running.upload === 0 && nowMs - refilledAtMs > 60_000) counted.delete(id)
  }

  return {
    /** Throws `rate_limit_exceeded` with the delay. */
    enter(organisation: Organisation, kind: LimitedKind): LimitedEntry {
      const nowMs = clock.monotonicMs()
      const counts = countsOf(organisation, nowMs)
      const { concurrentCalls, concurrentUploads, requestsPerMinute } = organisation.limits
      const limit = kind === 'call' ? concurrentCalls : concurrentUploads
      if (counts.running[kind] >= limit) throw tooManyAtOnce(kind, limit)
      const rate = kind === 'call' && requestsPerMinute !== null ? takeToken(counts, requestsPerMinute, nowMs) : null
      counts.running[kind]++
      let left = false
      return {
        rate,
        leave() {
          if (left) return
          left = true
          counts.running[kind]--
        },
      }
    },
  }
}

/** Token bucket with the capacity of one minute that refills evenly. */
function takeToken(counts: Counts, perMinute: number, nowMs: number): RateLimitState {
  const perMs = perMinute / 60_000
  counts.tokens = Math.min(perMinute, counts.tokens + (nowMs - counts.refilledAtMs) * perMs)
  counts.refilledAtMs = nowMs
  const resetSeconds = () => Math.ceil((perMinute - counts.tokens) / perMs / 1000)
  if (counts.tokens < 1) {
    throw new AppError(
      'rate_limit_exceeded',
      `This organisation may begin ${perMinute} requests a minute. Try again after the time in \`retry-after\`.`,
      {
        retryAfterSeconds: (1 - counts.tokens) / perMs / 1000,
        rateLimit: { limit: perMinute, remaining: 0, resetSeconds: resetSeconds() },
      },
    )
  }
  counts.tokens--
  return { limit: perMinute, remaining: Math.floor(counts.tokens), resetSeconds: resetSeconds() }
}

function tooManyAtOnce(kind: LimitedKind, limit: number): AppError {
  const what = kind === 'call' ? 'completions and chats' : 'uploads'
  return new AppError(
    'rate_limit_exceeded',
    `This organisation may run ${limit} ${what} at the same time. Try again when one of them has ended.`,
    {
      retryAfterSeconds: busyRetrySeconds,
      rateLimit: { limit, remaining: 0, resetSeconds: busyRetrySeconds },
    },
  )
}
