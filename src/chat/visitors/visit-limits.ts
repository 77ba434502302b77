import { AppError, type Clock, clientNetwork } from '../../platform/kernel/index.ts'
import { createMinuteCounts, type MinuteCounts } from './minute-counts.ts'
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
        {
          retryAfterSeconds: kept.secondsUntil(key),
        },
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
