import type { LookupFunction } from 'node:net'
import type { PasswordHashing } from '../tenants/accounts/index.ts'
import type { PinnedModel } from '../documents/retrieval/index.ts'
import type { Database } from '../platform/database/index.ts'
import type { StopState } from '../platform/http/index.ts'
import type { Clock, Log } from '../platform/kernel/index.ts'
import type { Config } from './config/index.ts'
import type { ControlStorage } from './storage.ts'
import type { OnStop } from './part-list.ts'

export interface ServiceOptions<Storage extends ControlStorage> extends TestOptions {
  config: Config
  log: Log
  /** Tests pass their own. */
  clock?: Clock | undefined
  /** What the caller opens with the same options, since before it loaded the modules of the parts. */
  storage?: Promise<Storage> | undefined
}

/** What only tests pass. */
interface TestOptions {
  instanceExpiryMs?: number | undefined
  /** A cheap one. */
  passwordHashing?: PasswordHashing | undefined
  /** Resolves the names in requests to models. */
  nameLookup?: LookupFunction | undefined
  exportSpansEveryMs?: number | undefined
  /** The local model that the console installs, and its hub. */
  localModelSource?: { model: PinnedModel; hubUrl: string } | undefined
}

/** What no part makes. */
export interface Given<Corpus = Database | null> extends Phases, TestOptions {
  config: Config
  clock: Clock
  log: Log
  control: Database
  /** null: this process has nothing to do with documents. */
  corpus: Corpus
  secretKey: string
  events: ControlStorage['events']
  stop: Readonly<StopState>
}

/** What parts do at the moments of a start and a stop, in the order in which they ask for it. */
interface Phases {
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
