import fs from 'node:fs'
import { type Clock, describeError, type InstanceId, type Log } from '../../platform/kernel/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { DatabaseWriter } from './database-writer.ts'
import type { HeldJournal } from './instance.store.ts'
import {
  type JournalFiles,
  JournalWriter,
  openJournal,
  type OpenedJournal,
  openServerJournal,
  removeJournal,
  removeServerJournal,
  replayServerJournal,
  type ServerJournalPlace,
} from './journal/index.ts'
import type { LedgerWriter } from './ledger-writer.ts'
import { recoverInstance } from './recovery.ts'

export interface JournalOptions {
  /** `local`: in a journal in this folder first. `database`: what an earlier process left in the folder is applied, and it is removed. */
  mode: 'database' | 'local'
  /** Its parent exists. */
  folder: string
  /**
   * Keeps other processes out of the folder of a journal in front of a server, and returns the function that lets them in. The folder
   * of an embedded database is locked by the database.
   */
  lock?(folder: string): () => void
  /** For tests. */
  files?: JournalFiles
  segmentBytes?: number
  projectionDelayMs?: number
  maximumLag?: number
  onFatal?(error: Error): void
}

const closeTries = 20
const closeAgainMs = 250

interface Identity {
  instanceId(): InstanceId
  onFenced(fenced: InstanceId): Promise<void>
  confirm(): Promise<void> | undefined
}

export interface PreparedWriter {
  open(identity: Identity): LedgerWriter
  /** Of this process, in front of a server. */
  journal?: HeldJournal
  /** The writer is closed. `isSettled`: so is the instance in the database, and everything of the journal is there. */
  close(isSettled: boolean): Promise<void>
}

export interface PrepareDeps {
  database: Database
  clock: Clock
  log: Log
  journal?: JournalOptions | undefined
  /** An instance without a heartbeat for so long is presumed dead; null: the database has one owner. */
  expiryMs: number | null
  onRecovered(holds: number): void
}

/** Applies what an earlier process left in a journal, and makes what the hot path writes to. */
export async function prepareWriter(deps: PrepareDeps): Promise<PreparedWriter> {
  const { database, clock, log, journal: options, expiryMs } = deps
  const common = { database, clock, log }
  if (options && expiryMs !== null) return prepareServerWriter(deps, options, expiryMs)
  if (options?.mode !== 'local') {
    if (options) await removeJournal({ ...common, ...options })
    return withoutJournal(deps)
  }
  const opened = await openJournal({ ...common, ...options })
  return {
    // An embedded database has one process: its journal cannot be taken over.
    open: ({ instanceId }) => openWriter(deps, options, opened, { instanceId }),
    close: () => Promise.resolve(),
  }
}

function withoutJournal({ database, clock, log }: PrepareDeps): PreparedWriter {
  return {
    open: ({ instanceId, onFenced }) => new DatabaseWriter({ database, clock, log, instanceId, onFenced }),
    close: () => Promise.resolve(),
  }
}

function openWriter(
  { database, clock, log }: PrepareDeps,
  { projectionDelayMs, maximumLag, onFatal = endProcess }: JournalOptions,
  opened: OpenedJournal,
  identity: Pick<Identity, 'instanceId'> & Partial<Identity>,
): LedgerWriter {
  return new JournalWriter({ database, clock, log, ...opened, ...identity, projectionDelayMs, maximumLag, onFatal })
}

async function prepareServerWriter(
  deps: PrepareDeps,
  options: JournalOptions,
  expiryMs: number,
): Promise<PreparedWriter> {
  const { database, clock, log } = deps
  if (options.mode === 'database' && !fs.existsSync(options.folder)) return withoutJournal(deps)
  const unlock = options.lock?.(options.folder) ?? (() => {})
  try {
    const place: ServerJournalPlace = { database, clock, log, ...options, expiryMs }
    await finishLeft(deps, place)
    if (options.mode === 'database') {
      unlock()
      return withoutJournal(deps)
    }
    const opened = await openServerJournal(place)
    const { journalId, holder } = opened
    return {
      journal: { journalId, holder },
      open: (identity) => openWriter(deps, options, opened, identity),
      async close(isSettled) {
        try {
          // What is left is of a closed journal, and the next start removes it.
          if (isSettled) {
            await removeServerJournal(place).catch((error: unknown) =>
              log.warn({ error: describeError(error) }, 'the files of the journal could not be removed'),
            )
          }
        } finally {
          unlock()
        }
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** The journal that an earlier process has left: applies it, settles its open holds by policy, and removes it. */
async function finishLeft({ database, clock, onRecovered }: PrepareDeps, place: ServerJournalPlace): Promise<void> {
  const left = await replayServerJournal(place)
  if (!left) return
  const { instanceId, journalId, holder } = left
  if (instanceId !== null) {
    const journal = { journalId, holder }
    for (let tries = 0; tries < closeTries && !(await left.isClosed()); tries += 1) {
      if (tries > 0) await clock.sleep(closeAgainMs)
      // Does nothing while another transaction has the instance.
      const holds = await recoverInstance(database, instanceId, { expiryMs: null, nowMs: clock.now(), journal })
      if (holds > 0) onRecovered(holds)
    }
    if (!(await left.isClosed())) throw new Error(`the instance ${instanceId} of the last process could not be settled`)
  }
  await left.remove()
}

/** Uncaught on purpose: the process ends with exit code 1, and the next start reads what is on the disk. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error
  })
}
