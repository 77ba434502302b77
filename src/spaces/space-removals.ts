import { type Clock, type Log, type OrganisationId, type SpaceId, describeError } from '../kernel/index.ts'
import type { SpaceRemoval, SpaceRemovalStore } from './space-removals.store.ts'

/** Carries the removal of a Space over to the corpus database, where no transaction of the control database reaches. */
export interface SpaceRemovals {
  /** Says that something may be due: a Space was just removed here. */
  wake(): void
  /** Resolves when nothing is due and nothing runs. */
  settled(): Promise<void>
  /** Stops taking removals and waits for the running one. */
  close(): Promise<void>
}

export interface SpaceRemovalsDependencies {
  store: SpaceRemovalStore
  /** Removes every document of the Space. Is called again until it resolves, and may be called after it has. */
  onSpaceRemoved(removed: { spaceId: SpaceId; organisationId: OrganisationId }, signal: AbortSignal): Promise<void>
  clock: Clock
  log: Log
}

/** What an instance that died left behind waits at most this long, as does the removal of another instance's Space. */
export const removalPollMs = 15_000
/** A removal that takes longer may be started a second time by another instance, which does no harm. */
export const removalLeaseMs = 300_000
const firstBackoffMs = 2_000
const longestBackoffMs = 600_000
/**
 * The second pass catches documents whose upload had passed its check before the Space was gone: an upload lasts 10 minutes
 * at most (requestTimeoutMs of src/http/server.ts), another instance hears of the removal within a second.
 */
export const secondPassAfterMs = 900_000

/** Works on removals until `close`; what was left by a former process is taken up at once. */
export function createSpaceRemovals({ store, onSpaceRemoved, clock, log }: SpaceRemovalsDependencies): SpaceRemovals {
  const stop = new AbortController()
  let running: Promise<void> | undefined
  let again = false

  function wake() {
    if (stop.signal.aborted) return
    again = true
    running ??= run()
  }

  async function run() {
    while (again && !stop.signal.aborted) {
      again = false
      try {
        await workOffDue()
      } catch (error) {
        log.error({ error: describeError(error) }, 'the removals of Spaces could not be read; trying again soon')
      }
    }
    running = undefined
  }

  async function workOffDue() {
    while (!stop.signal.aborted) {
      const removal = await store.takeDue(clock.now(), clock.now() + removalLeaseMs)
      if (!removal) return
      await work(removal)
    }
  }

  async function work(removal: SpaceRemoval) {
    const { spaceId, organisationId, attempt, firstPassDone } = removal
    try {
      await onSpaceRemoved({ spaceId, organisationId }, stop.signal)
    } catch (error) {
      const delayMs = stop.signal.aborted
        ? 0
        : Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(attempt - 1, 20))
      log.warn(
        { spaceId, attempt, delayMs, error: describeError(error) },
        'a Space could not be removed from the corpus yet',
      )
      return store.postpone(spaceId, clock.now() + delayMs, false)
    }
    if (firstPassDone) await store.finish(spaceId)
    else await store.postpone(spaceId, clock.now() + secondPassAfterMs, true)
    log.info({ spaceId, pass: firstPassDone ? 2 : 1 }, 'a Space was removed from the corpus')
  }

  const stopPolling = clock.every(removalPollMs, wake)
  wake()
  return {
    wake,
    settled: async () => {
      await running
    },
    async close() {
      stopPolling()
      stop.abort(new Error('the service stops'))
      await running
    },
  }
}
