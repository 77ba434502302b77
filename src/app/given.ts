import type { LookupFunction } from 'node:net'
import type { PasswordHashing } from '../tenants/accounts/index.ts'
import type { Database } from '../platform/database/index.ts'
import type { Clock, Log } from '../platform/kernel/index.ts'
import type { Config } from './config/index.ts'
import type { Phases } from './phases.ts'
import type { ControlStorage } from './storage.ts'

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
  isStopping: () => boolean
}
