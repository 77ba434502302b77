import { type Clock, describeError, type Log, type OrganisationId } from '../../platform/kernel/index.ts'
import type { KeyUse } from './organisations.store.ts'

/** The last use of a key is written within this time; a process that is killed loses it. */
const writeEveryMs = 10_000
const minuteMs = 60_000

/** A key in memory. */
export interface UsedKey {
  readonly organisationId: OrganisationId
  readonly hash: Uint8Array
  /** Minutes since the epoch: the last use that this instance has noted. */
  usedMinute: number
}

/**
 * Notes when each key was last used, in whole minutes. A request compares two numbers; the first one of a key and minute also notes the
 * key. One statement per interval writes all noted keys.
 */
export function createKeyUses({
  write,
  clock,
  log,
}: {
  write: (uses: KeyUse[]) => Promise<void>
  clock: Clock
  log: Log
}) {
  /** At most one entry per key. */
  let noted = new Set<UsedKey>()
  let writing = Promise.resolve()

  async function writeNoted() {
    if (noted.size === 0) return
    const keys = noted
    noted = new Set()
    try {
      await write(
        [...keys].map(({ organisationId, hash, usedMinute }) => ({
          organisationId,
          hash,
          usedAtMs: usedMinute * minuteMs,
        })),
      )
    } catch (error) {
      for (const key of keys) noted.add(key)
      log.warn({ reason: describeError(error) }, 'the last use of keys could not be written; retrying')
    }
  }
  const flush = () => (writing = writing.then(writeNoted))
  const stop = clock.every(writeEveryMs, () => void flush())

  return {
    note(key: UsedKey): void {
      const minute = Math.floor(clock.now() / minuteMs)
      if (key.usedMinute === minute) return
      key.usedMinute = minute
      noted.add(key)
    },
    flush,
    /** Writes what is noted. */
    async close(): Promise<void> {
      stop()
      await flush()
    },
  }
}
