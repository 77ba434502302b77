import { type Clock, type Log, type OrganisationId, type SpaceId, describeError } from '../../platform/kernel/index.ts'
import type { SpaceRemoval, SpaceRemovalStore } from './space-removals.store.ts'

/** Removes the documents of deleted Spaces. They are in the corpus database, which no transaction of the control database covers. */
export type SpaceRemovals = ReturnType<typeof createSpaceRemovals>

export interface SpaceRemovalsDependencies {
  store: SpaceRemovalStore
  /** Removes every document of the Space. It is called until it resolves, and may be called again after that. */
  onSpaceRemoved(removed: { spaceId: SpaceId; organisationId: OrganisationId }, signal: AbortSignal): Promise<void>
  /** False: other instances run the removals. */
  isActive?: boolean
  clock: Clock
  log: Log
}

/** Longest delay before an instance finds a removal that another instance recorded or abandoned. */
export const removalPollMs = 15_000
/** A removal that takes longer may be started a second time by another instance; this is harmless. */
export const removalLeaseMs = 300_000
const firstBackoffMs = 2_000
const longestBackoffMs = 600_000
/**
 * The second pass removes documents whose upload had passed its check before the Space was deleted. An upload takes at most
 * 10 minutes (requestTimeoutMs of src/platform/http/server.ts); other instances receive the deletion within a second.
 */
export const secondPassAfterMs = 900_000

/** Runs due removals until `close`, beginning with those that an earlier process left. */
export function createSpaceRemovals({ store, onSpaceRemoved, isActive = true, clock, log }: SpaceRemovalsDependencies) {
  const stop = new AbortController()
  let running: Promise<void> | undefined
  let again = false

  function wake() {
    if (!isActive || stop.signal.aborted) return
    again = true
    running ??= run()
  }

  async function run() {
    while (again && !stop.signal.aborted) {
      again = false
      try {
        await runDue()
      } catch (error) {
        log.error({ error: describeError(error) }, 'the removals of Spaces could not be read; trying again soon')
      }
    }
    running = undefined
  }

  async function runDue() {
    while (!stop.signal.aborted) {
      const removal = await store.takeDue(clock.now(), clock.now() + removalLeaseMs)
      if (!removal) return
      await remove(removal)
    }
  }

  async function remove(removal: SpaceRemoval) {
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
    /** Starts at once instead of at the next poll: a Space was just deleted by this instance. */
    wake,
    /** Resolves when no removal runs. For tests. */
    idle: async (): Promise<void> => {
      await running
    },
    /** Aborts the running removal, which becomes due again at once, and waits for its end. */
    async close(): Promise<void> {
      stopPolling()
      stop.abort(new Error('the service stops'))
      await running
    },
  }
}
