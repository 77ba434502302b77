import { AppError, clientNetwork, type Clock } from '../../platform/kernel/index.ts'
import type { Site } from './site.ts'

/** About 20 MB of keys. Where a bot has more networks, the limit of the Space counts. */
const maximumKeys = 100_000
/** Visits and renewals a minute that one network may begin: a school or an office behind one address stays below. */
const visitsPerNetwork = 60
const visitsPerSpace = 1_200
/** Passwords a minute: guesses of a word list take years. */
const passwordsPerNetwork = 5
const passwordsPerSpace = 60
/** Above this many new visits a minute, browsers solve a puzzle. */
const usualVisits = { network: 10, space: 60 }
/** Above this share of the messages a minute of a Space, too. */
const usualMessages = 0.5
const challengesPerNetwork = 60
/** Documents, ratings and the like. */
const readsPerNetwork = 300

export type VisitLimits = ReturnType<typeof createVisitLimits>

/** Limits a minute on this instance, in memory: what is refused here costs no work of a database. */
export function createVisitLimits({ clock }: { clock: Clock }) {
  const counts = () => createMinuteCounts({ clock, maximumKeys })
  const visits = counts()
  const begun = counts()
  const passwords = counts()
  const messages = counts()
  const challenges = counts()
  const reads = counts()
  const keysOf = ({ spaceId }: Site, address: string) => ({ network: `${spaceId} ${clientNetwork(address)}`, spaceId })

  /** Counts one event, or throws `rate_limit_exceeded` before anything is counted. */
  function enter(kept: MinuteCounts, limits: readonly { key: string; most: number; of: string }[]): void {
    for (const { key, most, of } of limits) {
      if (kept.get(key) + 1 <= most) continue
      throw new AppError(
        'rate_limit_exceeded',
        `There is a limit of ${most} requests a minute ${of}. Try again in a moment.`,
        { retryAfterSeconds: kept.secondsUntil(key) },
      )
    }
    for (const { key } of limits) kept.add(key)
  }

  const perNetwork = (key: string, most: number) => ({ key, most, of: 'from one network' })
  const perSpace = (key: string, most: number) => ({ key, most, of: 'for this chat' })

  return {
    enterVisit(site: Site, address: string): void {
      const { network, spaceId } = keysOf(site, address)
      enter(visits, [perNetwork(network, visitsPerNetwork), perSpace(spaceId, visitsPerSpace)])
    },
    /** A visit began, as opposed to one that was renewed. */
    noteBegun(site: Site, address: string): void {
      const { network, spaceId } = keysOf(site, address)
      begun.add(network)
      begun.add(spaceId)
    },
    enterPassword(site: Site, address: string): void {
      const { network, spaceId } = keysOf(site, address)
      enter(passwords, [perNetwork(network, passwordsPerNetwork), perSpace(spaceId, passwordsPerSpace)])
    },
    enterChallenge(site: Site, address: string): void {
      enter(challenges, [perNetwork(keysOf(site, address).network, challengesPerNetwork)])
    },
    enterRead(site: Site, address: string): void {
      enter(reads, [perNetwork(keysOf(site, address).network, readsPerNetwork)])
    },
    enterMessage(site: Site, address: string, visitorId: string): void {
      const { network, spaceId } = keysOf(site, address)
      const { visitorPerMinute, addressPerMinute, spacePerMinute } = site.settings.limits
      enter(messages, [
        { key: `${spaceId} visitor ${visitorId}`, most: visitorPerMinute, of: 'for one visitor' },
        perNetwork(network, addressPerMinute),
        perSpace(spaceId, spacePerMinute),
      ])
    },
    /** How unusual the traffic is: 0 usual, 1 a little above it, and so on up to 5 at 16 times and more. */
    pressure(site: Site, address: string): number {
      const { network, spaceId } = keysOf(site, address)
      const ratio = Math.max(
        begun.get(network) / usualVisits.network,
        begun.get(spaceId) / usualVisits.space,
        messages.get(spaceId) / (usualMessages * site.settings.limits.spacePerMinute),
      )
      return ratio < 1 ? 0 : Math.min(5, 1 + Math.floor(Math.log2(ratio)))
    },
  }
}

const minuteMs = 60_000

interface Window {
  startMs: number
  count: number
  /** Of the minute before. */
  previous: number
}

type MinuteCounts = ReturnType<typeof createMinuteCounts>

/**
 * Counts events a minute by a key, in bounded memory. The count is of a sliding minute: the current one and a share of the one before. Above
 * `maximumKeys` the keys that came first are forgotten.
 */
export function createMinuteCounts({ clock, maximumKeys }: { clock: Pick<Clock, 'monotonicMs'>; maximumKeys: number }) {
  const windows = new Map<string, Window>()

  function find(key: string): Window | undefined {
    const window = windows.get(key)
    if (!window) return undefined
    const minutes = Math.floor((clock.monotonicMs() - window.startMs) / minuteMs)
    if (minutes > 0) {
      window.previous = minutes === 1 ? window.count : 0
      window.count = 0
      window.startMs += minutes * minuteMs
    }
    return window
  }

  function countOf(window: Window): number {
    const passed = (clock.monotonicMs() - window.startMs) / minuteMs
    return window.count + window.previous * (1 - passed)
  }

  return {
    /** Events of the last minute. */
    get(key: string): number {
      const window = find(key)
      return window ? countOf(window) : 0
    },
    add(key: string): void {
      const known = find(key)
      if (known) {
        known.count += 1
        return
      }
      if (windows.size >= maximumKeys) windows.delete(windows.keys().next().value!)
      windows.set(key, { startMs: clock.monotonicMs(), count: 1, previous: 0 })
    },
    /** Seconds until an event more is within the limit: an upper bound. */
    secondsUntil(key: string): number {
      const window = find(key)
      if (!window) return 0
      return Math.max(1, Math.ceil((window.startMs + minuteMs - clock.monotonicMs()) / 1000))
    },
  }
}
