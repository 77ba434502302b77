import { type Clock, type InstanceId, type Log } from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { DatabaseWriter } from './database-writer.ts'
import { type JournalFiles, JournalWriter, openJournal, removeJournal } from './journal/index.ts'
import type { LedgerWriter } from './ledger-writer.ts'

/** Only with an embedded database: its folder is locked by the database, so no other process writes to the journal. */
export interface JournalOptions {
  /** `local`: in a journal in this folder first. `database`: what an earlier process left in the folder is applied, and it is removed. */
  mode: 'database' | 'local'
  /** Its parent exists. */
  folder: string
  /** For tests. */
  files?: JournalFiles
  segmentBytes?: number
  projectionDelayMs?: number
  maximumLag?: number
  onFatal?(error: Error): void
}

interface Identity {
  instanceId(): InstanceId
  onFenced(fenced: InstanceId): Promise<void>
}

export interface PrepareDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  journal?: JournalOptions | undefined
}

/** Applies what an earlier process left in a journal. Resolves to what makes the writer of the hot path. */
export async function prepareWriter(deps: PrepareDeps): Promise<(identity: Identity) => LedgerWriter> {
  const { database, clock, log, journal: options } = deps
  const common = { database, clock, log }
  if (options?.mode !== 'local') {
    if (options) await removeJournal({ ...common, ...options })
    return (identity) => new DatabaseWriter({ ...common, ...identity })
  }
  const opened = await openJournal({ ...common, ...options })
  const { projectionDelayMs, maximumLag, onFatal = endProcess } = options
  return ({ instanceId }) =>
    new JournalWriter({ ...common, ...opened, instanceId, projectionDelayMs, maximumLag, onFatal })
}

/** Uncaught on purpose: the process ends with exit code 1, and the next start reads what is on the disk. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error
  })
}
