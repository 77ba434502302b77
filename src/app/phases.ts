import type { OnStop } from './part-list.ts'

/** What parts do at the moments of a start and a stop, in the order in which they ask for it. */
export interface Phases {
  /** Begins background work, before the service listens. */
  onStart: (begin: Action) => void
  /** Begins no new work. Running requests are still served. */
  onStopping: (end: Action) => void
  /** Ends background work, once no request is running. */
  onServed: (end: Action) => void
  /** The last moment, in reverse order. */
  onStop: OnStop
}

type Action = () => Promise<void> | void

export function createPhases(onStop: OnStop) {
  const starting: Action[] = []
  const stopping: Action[] = []
  const served: Action[] = []
  return {
    onStart: (begin: Action) => void starting.push(begin),
    onStopping: (end: Action) => void stopping.push(end),
    onServed: (end: Action) => void served.push(end),
    onStop,
    start: () => runAll(starting),
    beginStop: () => runAll(stopping),
    endServed: () => runAll(served),
  }
}

async function runAll(actions: readonly Action[]): Promise<void> {
  for (const action of actions) await action()
}
