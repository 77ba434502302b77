import { AppError, type Clock, type RateLimitState } from '../../platform/kernel/index.ts'
import type { Organisation, Subscription } from './organisation.ts'

/** Rules for access to the gateway. Pure functions. */

/** Throws `gateway_not_enabled`, naming the first of plan, operator enablement and opt-in that is missing. */
export function assertGatewayAccess(organisation: Organisation): void {
  if (organisation.plan !== 'enterprise') {
    throw new AppError(
      'gateway_not_enabled',
      `The gateway needs the enterprise plan; this organisation has the ${organisation.plan} plan. Ask the operator to change the plan.`,
    )
  }
  if (!organisation.gatewayEnabled) {
    throw new AppError(
      'gateway_not_enabled',
      'The operator has not enabled the gateway for this organisation. Ask the operator to enable it.',
    )
  }
  if (!organisation.gatewayOptIn) {
    throw new AppError(
      'gateway_not_enabled',
      'This organisation has not opted in to the gateway. A team administrator can opt in under Developer Tools.',
    )
  }
}

/** True from `startsAt` until just before `endsAt`, with any status: a cancelled subscription runs until its end date. */
export function isSubscriptionActive({ status, startsAt, endsAt }: Subscription, nowMs: number): boolean {
  if (nowMs < startsAt) return false
  if (endsAt !== null) return nowMs < endsAt
  return status === 'active'
}

/** Throws `subscription_required` unless the subscription is active at `nowMs`. */
export function assertSubscription({ subscription }: Organisation, nowMs: number): void {
  if (isSubscriptionActive(subscription, nowMs)) return
  const { startsAt, endsAt } = subscription
  const reason =
    nowMs < startsAt
      ? `The subscription begins at ${new Date(startsAt).toISOString()}.`
      : endsAt === null
        ? 'The subscription is cancelled.'
        : `The subscription ended at ${new Date(endsAt).toISOString()}.`
  throw new AppError(
    'subscription_required',
    `${reason} An active subscription is needed; ask the operator to renew it.`,
  )
}

/** `call`: a completion or a chat. */
type LimitedKind = 'call' | 'upload'

interface LimitedEntry {
  /** Call it once, when the request has ended. */
  leave(): void
  /** State of the limits per minute, for the `x-ratelimit-*` headers. */
  rates: readonly RateLimitState[]
}

/** The tokens of one call of a model. */
export interface TakenTokens {
  /** State of the limit, for the `x-ratelimit-*` headers; null if there is none. */
  rate: RateLimitState | null
  /** Replaces the estimate by the tokens of prompt and answer when the call has ended; 0 if nothing is billed. Only the first call counts. */
  correct(tokens: number): void
}

/** The part of the limiter that counts tokens. */
export interface TokenLimiter {
  /**
   * Takes the estimated tokens of a prompt. `refuse`: throws `rate_limit_exceeded` if they are not free. The later calls of an
   * answer take them in any case, so that an answer that has begun does not end with an error.
   */
  takeTokens(organisation: Organisation, estimate: number, options: { refuse: boolean }): TakenTokens
}

interface Counts {
  running: Record<LimitedKind, number>
  requests?: RateBucket
  tokens?: RateBucket
  usedAtMs: number
}

/** The end of the running requests cannot be predicted. */
const busyRetrySeconds = 1
/** Entries in memory above which idle organisations are removed. */
const sweepAbove = 1_000
/** After this time without a request every limit is free again: a minute of tokens used in advance, and a minute to refill. */
const idleMs = 120_000

const unlimited: TakenTokens = { rate: null, correct: () => {} }
const noRates: readonly RateLimitState[] = []

/** Counts the requests and tokens of each organisation on this instance and rejects those above its limits (Organisation.limits). */
export function createOrganisationLimiter({ clock }: { clock: Clock }) {
  const counted = new Map<string, Counts>()

  function countsOf(organisation: Organisation, nowMs: number): Counts {
    const known = counted.get(organisation.id)
    if (known) {
      known.usedAtMs = nowMs
      return known
    }
    if (counted.size >= sweepAbove) dropIdle(nowMs)
    const fresh: Counts = { running: { call: 0, upload: 0 }, usedAtMs: nowMs }
    counted.set(organisation.id, fresh)
    return fresh
  }

  /** All limits of these organisations are free, so removing the entries changes nothing. */
  function dropIdle(nowMs: number) {
    for (const [id, { running, usedAtMs }] of counted)
      if (running.call === 0 && running.upload === 0 && nowMs - usedAtMs > idleMs) counted.delete(id)
  }

  return {
    /** Throws `rate_limit_exceeded` with the delay. */
    enter(organisation: Organisation, kind: LimitedKind): LimitedEntry {
      const nowMs = clock.monotonicMs()
      const counts = countsOf(organisation, nowMs)
      const { concurrentCalls, concurrentUploads } = organisation.limits
      const limit = kind === 'call' ? concurrentCalls : concurrentUploads
      if (counts.running[kind] >= limit) throw tooManyAtOnce(kind, limit)
      const rates = kind === 'call' ? enterCall(counts, organisation, nowMs) : noRates
      counts.running[kind]++
      let left = false
      return {
        rates,
        leave() {
          if (left) return
          left = true
          counts.running[kind]--
        },
      }
    },
    takeTokens(organisation, estimate, { refuse }) {
      const perMinute = organisation.limits.tokensPerMinute
      if (perMinute === null) return unlimited
      const nowMs = clock.monotonicMs()
      const bucket = bucketOf(countsOf(organisation, nowMs), 'tokens', perMinute, nowMs)!
      if (refuse && estimate > perMinute) throw promptTooLong(estimate, bucket, perMinute)
      if (refuse && estimate > bucket.left) throw noTokens(bucket, perMinute, estimate)
      return takeFrom(bucket, perMinute, estimate)
    },
  } satisfies TokenLimiter & Record<string, unknown>
}

/** Undefined: no limit. A limit that was just set begins with all of its minute. */
function bucketOf(counts: Counts, unit: 'requests' | 'tokens', perMinute: number | null, nowMs: number) {
  if (perMinute === null) {
    if (counts[unit]) delete counts[unit]
    return undefined
  }
  const bucket = (counts[unit] ??= fullBucket(perMinute, nowMs))
  refill(bucket, perMinute, nowMs)
  return bucket
}

/** Takes one request. Throws if the requests or tokens of the minute are used up. */
function enterCall(counts: Counts, { limits }: Organisation, nowMs: number): readonly RateLimitState[] {
  const { requestsPerMinute, tokensPerMinute } = limits
  const tokens = bucketOf(counts, 'tokens', tokensPerMinute, nowMs)
  const requests = bucketOf(counts, 'requests', requestsPerMinute, nowMs)
  if (!tokens && !requests) return noRates
  // Before the body is read: an organisation without free tokens costs nothing more.
  if (tokens && tokens.left < 1) throw noTokens(tokens, tokensPerMinute!, 1)
  if (requests && requests.left < 1) throw noRequests(requests, requestsPerMinute!)
  if (requests) requests.left--
  return [
    ...(requests ? [stateOf('requests', requests, requestsPerMinute!)] : []),
    ...(tokens ? [stateOf('tokens', tokens, tokensPerMinute!)] : []),
  ]
}

function takeFrom(bucket: RateBucket, perMinute: number, estimate: number): TakenTokens {
  // At most one minute in advance, so that one long answer does not block the organisation for longer.
  const take = (tokens: number) => (bucket.left = Math.min(perMinute, Math.max(-perMinute, bucket.left - tokens)))
  take(estimate)
  let isCorrected = false
  return {
    rate: stateOf('tokens', bucket, perMinute),
    correct(tokens) {
      if (!isCorrected) take(tokens - estimate)
      isCorrected = true
    },
  }
}

function noRequests(bucket: RateBucket, perMinute: number): AppError {
  return new AppError(
    'rate_limit_exceeded',
    `This organisation may begin ${perMinute} requests a minute. Try again after the time in \`retry-after\`.`,
    { retryAfterSeconds: secondsUntil(bucket, perMinute, 1), rateLimit: stateOf('requests', bucket, perMinute) },
  )
}

function noTokens(bucket: RateBucket, perMinute: number, wanted: number): AppError {
  return new AppError(
    'rate_limit_exceeded',
    `This organisation may use ${perMinute} tokens a minute. Try again after the time in \`retry-after\`.`,
    { retryAfterSeconds: secondsUntil(bucket, perMinute, wanted), rateLimit: stateOf('tokens', bucket, perMinute) },
  )
}

function promptTooLong(estimate: number, bucket: RateBucket, perMinute: number): AppError {
  return new AppError(
    'rate_limit_exceeded',
    `The prompt has about ${estimate} tokens, but this organisation may use ${perMinute} tokens a minute. Send a shorter prompt.`,
    { param: 'messages', rateLimit: stateOf('tokens', bucket, perMinute) },
  )
}

function tooManyAtOnce(kind: LimitedKind, limit: number): AppError {
  const what = kind === 'call' ? 'completions and chats' : 'uploads'
  return new AppError(
    'rate_limit_exceeded',
    `This organisation may run ${limit} ${what} at the same time. Try again when one of them has ended.`,
    {
      retryAfterSeconds: busyRetrySeconds,
      rateLimit: { unit: 'requests', limit, remaining: 0, resetSeconds: busyRetrySeconds },
    },
  )
}

/** Token bucket with the capacity of one minute that refills evenly. */
interface RateBucket {
  /** Negative: used before it was free. */
  left: number
  refilledAtMs: number
}

const fullBucket = (perMinute: number, nowMs: number): RateBucket => ({ left: perMinute, refilledAtMs: nowMs })

/** Adds what became free since the last time. The limit may have changed in the meantime. */
function refill(bucket: RateBucket, perMinute: number, nowMs: number): void {
  bucket.left = Math.min(perMinute, bucket.left + ((nowMs - bucket.refilledAtMs) * perMinute) / 60_000)
  bucket.refilledAtMs = nowMs
}

/** Seconds until `wanted` are free. */
function secondsUntil(bucket: RateBucket, perMinute: number, wanted: number): number {
  return Math.max(0, ((wanted - bucket.left) * 60) / perMinute)
}

function stateOf(unit: RateLimitState['unit'], bucket: RateBucket, perMinute: number): RateLimitState {
  return {
    unit,
    limit: perMinute,
    remaining: Math.max(0, Math.floor(bucket.left)),
    resetSeconds: Math.ceil(secondsUntil(bucket, perMinute, perMinute)),
  }
}
