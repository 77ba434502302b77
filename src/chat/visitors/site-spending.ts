import { Temporal } from 'temporal-polyfill'
import type { SpendLimit } from '../../gateway/billing/index.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import { AppError, type Clock, describeError, isAppError, type Log } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { Site } from './site.ts'
import type { DayState, SiteDay, SpendingStore } from './site-spending.store.ts'

/** Attempts to write what an answer cost. After the last one its grant counts as spent until the day is over. */
const closeAttempts = 6
const firstPauseMs = 500
/** How long a day is kept after it. Answers take minutes, and no zone is further than a day away. */
const keptDays = 40
const dayMs = 86_400_000
const hourMs = 3_600_000
const countsEveryMs = 5_000
/** Days of Spaces whose visits wait to be written. */
const maximumWaitingDays = 10_000

export interface SiteSpendingDependencies {
  store: StoreOf<SpendingStore>
  sharedStore: Pick<SpendingStore, 'removeBefore'>
  clock: Clock
  log: Log
}

/** What one answer of a visitor may cost. `end` when it is over; holds that still settle are waited for. */
export interface Allowance extends SpendLimit {
  /**
   * Why the last grant was short: `busy`, only because of answers that run; `day`, until the next day; `cap`, on any day. Undefined: it was not, so
   * the budget of the organisation refuses the answer.
   */
  shortage(): Shortage | undefined
  /** Until the next day. */
  secondsLeft(): number
  end(): void
}

type Shortage = 'busy' | 'day' | 'cap'

export type SiteSpending = ReturnType<typeof createSiteSpending>

/**
 * The daily caps of sites. An answer is granted parts of the cap in the database before its calls are held in the ledger, and each bill is
 * within its hold. So the bills of a day never exceed the cap, on any number of instances, also after a crash: what a dead process was
 * granted stays counted until the day is over.
 */
export function createSiteSpending({ store, sharedStore, clock, log }: SiteSpendingDependencies) {
  const visits = new Map<string, { organisationId: string; place: SiteDay; count: number }>()
  const settling = new Set<Promise<void>>()
  let prunedAtMs = Number.NEGATIVE_INFINITY

  function closeInBackground(site: Site, requestId: string, spentPicoUsd: bigint): void {
    const closing = closeAnswer({ store, clock, log }, site, requestId, spentPicoUsd)
    const running = closing.finally(() => settling.delete(running))
    settling.add(running)
  }

  async function writeCounts(): Promise<void> {
    const waiting = [...visits.values()]
    visits.clear()
    for (const { organisationId, place, count } of waiting) await store(organisationId).countVisits(place, count)
  }

  async function maintain(): Promise<void> {
    await writeCounts()
    const nowMs = clock.monotonicMs()
    if (nowMs - prunedAtMs < hourMs) return
    prunedAtMs = nowMs
    await sharedStore.removeBefore(new Date(clock.now() - keptDays * dayMs).toISOString().slice(0, 10))
  }

  const stop = clock.every(countsEveryMs, () => {
    maintain().catch((error: unknown) => log.warn({ error: describeError(error) }, 'counts of visits were not written'))
  })

  return {
    /**
     * Counts a question, and returns what its answer may cost. Throws `site_paused` where the site has changed since the session was made, and
     * `insufficient_quota` once the cap is spent.
     */
    async begin(site: Site, organisation: Organisation, requestId: string): Promise<Allowance> {
      const place = { spaceId: site.spaceId, day: dayAt(clock.now(), organisation.timeZone) }
      const state = await store(organisation.id).countMessage(place, site.generation)
      if (!state) throw new AppError('invalid_visit', 'The chat was changed. Begin a new visit.')
      const secondsLeft = () => Math.ceil((nextDayAt(clock.now(), organisation.timeZone) - clock.now()) / 1000)
      if (site.dailyCapPicoUsd > 0n && state.spentPicoUsd >= state.capPicoUsd) throw capReached(secondsLeft())
      return createAllowance({
        secondsLeft,
        grant: (amountPicoUsd) =>
          store(organisation.id).grant(place, { generation: site.generation, requestId, amountPicoUsd }),
        onEnd: (spentPicoUsd) => closeInBackground(site, requestId, spentPicoUsd),
      })
    },
    /** Counts a visit that began, in memory first. */
    noteVisit({ spaceId }: Site, { id, timeZone }: Organisation): void {
      const place = { spaceId, day: dayAt(clock.now(), timeZone) }
      const key = `${spaceId} ${place.day}`
      const known = visits.get(key)
      if (known) known.count += 1
      else if (visits.size < maximumWaitingDays) visits.set(key, { organisationId: id, place, count: 1 })
    },
    async loadToday({ spaceId, dailyCapPicoUsd }: Site, { id, timeZone }: Organisation) {
      const nowMs = clock.now()
      const day = dayAt(nowMs, timeZone)
      const counts = await store(id).loadDay({ spaceId, day })
      return {
        day,
        resetsAt: nextDayAt(nowMs, timeZone),
        dailyCapPicoUsd,
        ...(counts ?? { heldPicoUsd: 0n, spentPicoUsd: 0n, visits: 0, messages: 0 }),
      }
    },
    async close(): Promise<void> {
      stop()
      await Promise.allSettled(settling)
      await writeCounts().catch((error: unknown) =>
        log.warn({ error: describeError(error) }, 'counts of visits were not written'),
      )
    },
  }
}

async function closeAnswer(
  { store, clock, log }: Pick<SiteSpendingDependencies, 'store' | 'clock' | 'log'>,
  site: Site,
  requestId: string,
  spentPicoUsd: bigint,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store(site.organisationId).closeAnswer(site.spaceId, requestId, spentPicoUsd)
    } catch (error) {
      if (attempt === closeAttempts)
        return log.error({ requestId, error: describeError(error) }, 'the grant of an answer stays held for today')
      await clock.sleep(firstPauseMs * 2 ** (attempt - 1))
    }
  }
}

/** The failure as visitors receive it; undefined: the usual one. */
export function describeSpendingError(
  error: AppError,
  { shortage, secondsLeft }: Pick<Allowance, 'shortage' | 'secondsLeft'>,
): AppError | undefined {
  if (!isAppError(error, 'insufficient_quota')) return undefined
  if (shortage() !== 'busy') return capReached(shortage() === 'day' ? secondsLeft() : undefined, error)
  return new AppError('rate_limit_exceeded', 'This assistant is busy. Try again in a moment.', {
    retryAfterSeconds: 5,
    internal: 'the rest of the daily cap is held by answers that run',
    cause: error,
  })
}

/** Undefined seconds: the next day does not help. */
function capReached(secondsLeft: number | undefined, cause?: AppError): AppError {
  const isOfDay = secondsLeft !== undefined
  const message = isOfDay
    ? 'This assistant has reached its limit for today.'
    : 'This assistant has reached its limit. Try again later.'
  return new AppError('insufficient_quota', message, {
    internal: cause?.message ?? 'the daily cap of the site is spent',
    ...(isOfDay && { retryAfterSeconds: secondsLeft }),
    ...(cause && { cause }),
  })
}

interface AllowanceDependencies {
  /** Undefined: nothing more is granted. */
  grant: (amountPicoUsd: bigint) => Promise<(DayState & { grantedPicoUsd: bigint }) | undefined>
  secondsLeft: () => number
  onEnd: (spentPicoUsd: bigint) => void
}

export function createAllowance({ grant, secondsLeft, onEnd }: AllowanceDependencies): Allowance {
  let freePicoUsd = 0n
  let reservedPicoUsd = 0n
  let spentPicoUsd = 0n
  let wasAsked = false
  let shortage: Shortage | undefined
  let hasEnded = false
  let last: Promise<void> = Promise.resolve()

  async function obtain(amountPicoUsd: bigint): Promise<void> {
    const missing = amountPicoUsd - freePicoUsd
    if (missing <= 0n || hasEnded) return
    wasAsked = true
    const granted = await grant(missing)
    if (!granted) return
    freePicoUsd += granted.grantedPicoUsd
    const { spentPicoUsd: spentToday, capPicoUsd, grantedPicoUsd } = granted
    const needed = freePicoUsd + reservedPicoUsd + spentPicoUsd - grantedPicoUsd + missing
    if (grantedPicoUsd >= missing) shortage = undefined
    else if (needed > capPicoUsd) shortage = 'cap'
    // Without the grants of others that run, it would have been enough.
    else shortage = capPicoUsd - spentToday >= needed ? 'busy' : 'day'
  }

  function closeOnce(): void {
    if (!hasEnded || reservedPicoUsd > 0n || !wasAsked) return
    wasAsked = false
    onEnd(spentPicoUsd)
  }

  return {
    // After the end nothing more may be set aside: the grant is turned into its cost.
    get freePicoUsd() {
      return hasEnded ? 0n : freePicoUsd
    },
    // One after the other, so that two calls of an answer do not ask for the same.
    obtain(amountPicoUsd) {
      const next = last.then(() => obtain(amountPicoUsd))
      last = next.catch(() => {})
      return next
    },
    reserve(amountPicoUsd) {
      freePicoUsd -= amountPicoUsd
      reservedPicoUsd += amountPicoUsd
    },
    release(reserved, billed) {
      reservedPicoUsd -= reserved
      freePicoUsd += reserved - billed
      spentPicoUsd += billed
      closeOnce()
    },
    shortage: () => shortage,
    secondsLeft,
    end() {
      hasEnded = true
      // A grant that is on its way belongs to this answer too.
      void last.then(closeOnce)
    },
  }
}

const dateAt = (atMs: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate()

export const dayAt = (atMs: number, timeZone: string): string => dateAt(atMs, timeZone).toString()

/** When the next day begins in a time zone. */
export const nextDayAt = (atMs: number, timeZone: string): number =>
  dateAt(atMs, timeZone).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds
