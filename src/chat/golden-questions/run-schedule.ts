import { type Clock, describeError, type Log } from '../../platform/kernel/index.ts'
import type { Space } from '../spaces/index.ts'
import type { GoldenRuns } from './golden-runs.ts'
import type { GoldenSettingsStore } from './golden-settings.store.ts'
import { nextRunAt } from './settings-change.ts'

export interface RunScheduleDependencies {
  settings: Pick<GoldenSettingsStore, 'takeDue' | 'loadRunAfterChanges'>
  runs: Pick<GoldenRuns, 'startScheduled' | 'enqueueActive' | 'findUntested'>
  getSpace: (id: string) => Space | undefined
  timeZoneOf: (space: Space) => string
  clock: Clock
  log: Log
}

/** Longest delay of a scheduled run, and of the repair of a run without a job. A change is tested once nothing has changed for this long. */
const pollMs = 30_000

/**
 * Starts runs by their schedules, on one instance each, and after changes; enqueues runs again whose job is missing. Times that passed
 * while no instance ran are made up for by one run.
 */
export function createRunSchedule({ settings, runs, getSpace, timeZoneOf, clock, log }: RunScheduleDependencies) {
  let busy: Promise<void> | undefined
  /** By Space: the untested configuration at the last poll. */
  let changed = new Map<string, string>()

  async function work() {
    await runs.enqueueActive()
    await startDue()
    await startChanged()
  }

  /** Starts a run of each published Space whose untested configuration is that of the last poll: an import of many files is one change. */
  async function startChanged() {
    const earlier = changed
    changed = new Map()
    for (const id of await settings.loadRunAfterChanges()) {
      const space = getSpace(id)
      const configuration = space?.published ? await runs.findUntested(space) : undefined
      if (!space || configuration === undefined) continue
      if (earlier.get(id) === configuration) await runs.startScheduled(space)
      else changed.set(id, configuration)
    }
  }

  async function startDue() {
    for (;;) {
      const spaceId = await settings.takeDue(clock.now(), (rules, due) => {
        const space = getSpace(due)
        return space ? nextRunAt(rules.schedule, timeZoneOf(space), clock.now()) : null
      })
      if (spaceId === undefined) return
      const space = getSpace(spaceId)
      if (space) await runs.startScheduled(space)
    }
  }

  const poll = () => {
    busy ??= work()
      .catch((error: unknown) => log.warn({ reason: describeError(error) }, 'scheduled runs could not be started'))
      .finally(() => (busy = undefined))
    return busy
  }
  let stop: (() => void) | undefined
  return {
    start() {
      stop = clock.every(pollMs, () => void poll())
      void poll()
    },
    poll,
    async close(): Promise<void> {
      stop?.()
      await busy
    },
  }
}
