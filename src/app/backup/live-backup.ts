import { closeSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ArchiveWriter } from '../../platform/archive/index.ts'
import type { BackupHeader } from '../../contract/backup.ts'
import type { Database, DatabaseCopy, PausedDatabase } from '../../platform/database/index.ts'
import { AppError, describeError, type Log, version } from '../../platform/kernel/index.ts'
import { backupArchive, blobFolder, databaseFolders, journalFolder } from './layout.ts'

/** Longest wait for the control database while the corpus is paused. Transactions of the corpus may take long, those of control do not. */
const secondPauseMs = 1_000
const pauseAgainMs = 200
/** Longest time in which both databases cannot be paused together. */
const pauseDeadlineMs = 5 * 60_000

/** A segment of the journal: its first `bytes` are durable and never change. Or a small file as of now. */
type JournalCopy = { name: string; bytes: number; descriptor: number } | { name: string; contents: Uint8Array }

export interface LiveBackupDependencies {
  control: Pick<Database, 'startCopy'>
  corpus: Pick<Database, 'startCopy'>
  /** What is durable now. The caller closes the descriptors. */
  openJournalCopies(): JournalCopy[]
  blobs: {
    holdRemovals(): () => Promise<void>
    list(): AsyncIterable<{ key: string }>
    withFile<T>(key: string, signal: AbortSignal, use: (filePath: string) => Promise<T>): Promise<T>
  }
  /** null: the files are in the data folder; else the object store that keeps them. */
  externalBlobs: string | null
  secretKeyCheck: string
  log: Log
}

export interface LiveBackup {
  /** Begins a backup and resolves to the archive. Abort `signal` when nobody reads it any more. Throws 409 while another one runs. */
  start(signal: AbortSignal): Promise<Readable>
}

/**
 * Backups of the embedded databases while they are in use. Files of the databases are read first; then both databases are paused for
 * some milliseconds, which is the moment that the backup shows; then their logs, the journal and the blobs follow. Blobs never change, and
 * none is removed until the end.
 */
export function createLiveBackup(dependencies: LiveBackupDependencies): LiveBackup {
  const { control, corpus, blobs, log } = dependencies
  let isRunning = false

  async function open(signal: AbortSignal): Promise<RunningBackup> {
    if (!control.startCopy || !corpus.startCopy) {
      throw new AppError(
        'conflict',
        'A backup through the API needs the embedded database. Back up a PostgreSQL server with its tools: see docs/operate/backup.md.',
      )
    }
    if (isRunning) throw new AppError('conflict', 'Another backup is running. Wait for its end.')
    isRunning = true
    const cleanup = new AsyncDisposableStack()
    cleanup.defer(() => void (isRunning = false))
    try {
      cleanup.defer(blobs.holdRemovals())
      const startedAt = new Date()
      const copyOf = async (start: () => Promise<DatabaseCopy>) => {
        const copy = await start()
        cleanup.defer(() => copy.close())
        return copy
      }
      const running = { control: await copyOf(control.startCopy), corpus: await copyOf(corpus.startCopy) }
      return { ...running, cleanup, signal, startedAt }
    } catch (error) {
      await cleanup.disposeAsync()
      throw error
    }
  }

  return {
    async start(readerSignal) {
      const closed = new AbortController()
      const signal = AbortSignal.any([readerSignal, closed.signal])
      const backup = await open(signal)
      const header: BackupHeader = {
        format: 1,
        portico: version,
        startedAt: backup.startedAt.toISOString(),
        schemas: { control: [...backup.control.schema], corpus: [...backup.corpus.schema] },
        secretKeyCheck: dependencies.secretKeyCheck,
        blobs: dependencies.externalBlobs,
      }
      const writer = new ArchiveWriter(backupArchive, header, signal)
      const stream = writer.stream()
      stream.once('close', () => closed.abort(new Error('nobody reads the archive any more')))
      void write(writer, backup, dependencies)
        .then(
          ({ files, bytes }) => {
            log.info({ files, bytes, durationMs: Date.now() - backup.startedAt.getTime() }, 'backup finished')
          },
          (error: unknown) => {
            log.error({ error: describeError(error) }, 'backup failed')
            writer.destroy(error as Error)
          },
        )
        .then(() => backup.cleanup.disposeAsync())
        .catch((error: unknown) => log.error({ error: describeError(error) }, 'a backup was not ended cleanly'))
      return stream
    },
  }
}

interface RunningBackup {
  control: DatabaseCopy
  corpus: DatabaseCopy
  cleanup: AsyncDisposableStack
  signal: AbortSignal
  startedAt: Date
}

async function write(writer: ArchiveWriter, backup: RunningBackup, dependencies: LiveBackupDependencies) {
  const copies = [
    [databaseFolders.control, backup.control],
    [databaseFolders.corpus, backup.corpus],
  ] as const
  for (const [name, copy] of copies) await addEntries(writer, name, copy)
  const moment = await fence(backup, dependencies)
  try {
    for (const [name, copy, { contents, log }] of moment.databases) {
      for (const file of contents) await writer.addBytes(`${name}/${file.path}`, file.bytes)
      for (const file of log) await addRequired(writer, `${name}/${file}`, path.join(copy.folder, file))
    }
    if (moment.journal.length > 0) writer.addFolder(journalFolder)
    for (const copy of moment.journal) {
      const name = `${journalFolder}/${copy.name}`
      if ('contents' in copy) await writer.addBytes(name, copy.contents)
      else await writer.addDescriptor(name, copy.descriptor, copy.bytes)
    }
  } finally {
    for (const copy of moment.journal) if ('descriptor' in copy) closeSync(copy.descriptor)
  }
  if (dependencies.externalBlobs === null) await addBlobs(writer, backup.signal, dependencies.blobs)
  return writer.finish({ consistentAt: moment.at.toISOString() })
}

async function addEntries(writer: ArchiveWriter, name: string, copy: DatabaseCopy): Promise<void> {
  writer.addFolder(name)
  for await (const entry of copy.entries()) {
    if (entry.kind === 'folder') writer.addFolder(`${name}/${entry.path}`)
    else await writer.addFile(`${name}/${entry.path}`, path.join(copy.folder, entry.path))
  }
}

async function addRequired(writer: ArchiveWriter, name: string, file: string): Promise<void> {
  if (!(await writer.addFile(name, file))) throw new Error(`${file} was removed during the backup`)
}

/** The moment of the backup: while no statement runs on either database, both copies end and the journal is noted. */
async function fence({ control, corpus, signal }: RunningBackup, { openJournalCopies }: LiveBackupDependencies) {
  const paused = await pauseBoth(corpus, control, signal)
  try {
    const [corpusEnd, controlEnd] = [await paused.corpus.end(), await paused.control.end()]
    const journal = openJournalCopies()
    return {
      at: new Date(),
      databases: [
        [databaseFolders.control, control, controlEnd],
        [databaseFolders.corpus, corpus, corpusEnd],
      ] as const,
      journal,
    }
  } finally {
    paused.control.release()
    paused.corpus.release()
  }
}

/** Neither pause waits long for the other one: a transaction of one database may need the other. */
async function pauseBoth(corpus: DatabaseCopy, control: DatabaseCopy, signal: AbortSignal) {
  const deadline = Date.now() + pauseDeadlineMs
  for (;;) {
    const first: PausedDatabase = await corpus.pause(signal)
    try {
      const deadlineOfSecond = AbortSignal.any([signal, AbortSignal.timeout(secondPauseMs)])
      return { corpus: first, control: await control.pause(deadlineOfSecond) }
    } catch (error) {
      first.release()
      signal.throwIfAborted()
      if (Date.now() > deadline) throw error
    }
    await delay(pauseAgainMs, undefined, { signal })
  }
}

async function addBlobs(writer: ArchiveWriter, signal: AbortSignal, blobs: LiveBackupDependencies['blobs']) {
  writer.addFolder(blobFolder)
  for await (const { key } of blobs.list()) {
    await blobs.withFile(key, signal, (file) => writer.addFile(`${blobFolder}/${key}`, file))
  }
}
