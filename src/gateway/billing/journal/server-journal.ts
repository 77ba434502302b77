import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createUuid, type InstanceId } from '../../../platform/kernel/index.ts'
import { removeEndMark } from './end-mark.ts'
import { JournalError } from './journal-error.ts'
import { journalFiles } from './journal-files.ts'
import {
  compareIdentity,
  identityFile,
  type JournalIdentity,
  readIdentity,
  removeIdentity,
  writeIdentity,
} from './journal-identity.ts'
import { JournalLog } from './journal-log.ts'
import type { JournalPlace, OpenedJournal } from './open-journal.ts'
import { ProjectionLostError } from './projector.ts'
import { replay } from './replay.ts'
import { isEmpty, listSegments, openSegmentFolder, readSegments, type Segment, segmentsBehind } from './segments.ts'
import {
  claimJournal,
  closeEmptyJournal,
  insertServerJournal,
  loadServerJournal,
  type ServerJournal,
} from './server-journal.store.ts'

/**
 * The journal of one run of one process in front of a server. Each start finishes what the run before has left in the folder, and
 * begins a journal with a new id. So nobody appends to a journal after its process, and an old copy of a folder is recognised.
 */
export interface ServerJournalPlace extends JournalPlace {
  /** Locked by this process. */
  folder: string
  /** An instance without a heartbeat for so long is presumed dead. */
  expiryMs: number
}

/** What an earlier process has left: all of its records are in the tables now. */
export interface LeftJournal {
  journalId: string
  /** This process. */
  holder: string
  /** To be settled by policy; null: it has no holds. */
  instanceId: InstanceId | null
  isClosed(): Promise<boolean>
  /** After the instance is settled and the journal closed. */
  remove(): Promise<void>
}

/** How often a start tries to take its journal over from a process that may be alive. */
const claimAgainMs = 500

/** Applies what an earlier process has left in the folder. Throws JournalError where that is not safe. */
export async function replayServerJournal(place: ServerJournalPlace): Promise<LeftJournal | undefined> {
  const { folder, database, files = journalFiles, log } = place
  if (!fs.existsSync(folder)) return undefined
  // Nothing is changed before it is certain that no other process writes to the folder.
  const found = await listSegments(folder)
  const identity = await readIdentity(folder)
  if (!identity) {
    if (await isEmpty(files, folder, found)) return void (await empty(place, found))
    throw serverError(`the journal in ${folder} has lost its file ${path.basename(identityFile(folder))}`, folder)
  }
  const { journalId } = identity
  const stored = await loadServerJournal(database, journalId)
  if (!stored) {
    if (await isEmpty(files, folder, found)) return void (await empty(place, found))
    const problem = `the control database has never had the journal ${journalId} in ${folder}: the database is older than the journal, or another one`
    throw serverError(problem, folder)
  }
  if (stored.isClosed || stored.isReleased) {
    await setAside(place, stored, found)
    return undefined
  }
  const holder = await claim(place, identity, stored)
  log.warn({ journalId, folder }, 'finishing the journal of the ledger that the last process has left')
  // The former process may have written until its silence.
  const segments = await openSegmentFolder(files, folder)
  try {
    // The first segment is older than the row in the database.
    if (segments.length === 0) throw new JournalError(`the files of the journal ${journalId} in ${folder} are missing`)
    await replay(place, { ...(await loadServerJournal(database, journalId))!, holder }, segments)
  } catch (error) {
    if (error instanceof ProjectionLostError) throw serverError(error.message, folder, journalId, error)
    throw error instanceof JournalError ? serverError(error.problem, folder, journalId, error) : error
  }
  if (stored.instanceId === null) await closeEmptyJournal(database, journalId)
  return {
    journalId,
    holder,
    instanceId: stored.instanceId,
    isClosed: async () => (await loadServerJournal(database, journalId))?.isClosed === true,
    remove: () => empty(place, segments),
  }
}

/** Begins a journal in the folder, which has none. Its instance registers afterwards. */
export async function openServerJournal(place: ServerJournalPlace): Promise<OpenedJournal> {
  const { folder, database, files = journalFiles, segmentBytes } = place
  await openSegmentFolder(files, folder)
  const [journalId, holder] = [createUuid(), createUuid()]
  // The file first: a record must never be in a folder that does not name its journal.
  await writeIdentity(files, folder, journalId)
  const options = { folder, files, journalId, lastSequence: 0, applied: [], segmentBytes }
  const journal = await JournalLog.open(options)
  await insertServerJournal(database, { journalId, holder, place: `${os.hostname()}:${folder}` })
  return { journal, journalId, holder }
}

/** The files of a journal that is closed in the database. */
export async function removeServerJournal(place: ServerJournalPlace): Promise<void> {
  await empty(place, await openSegmentFolder(place.files ?? journalFiles, place.folder))
}

/** Waits until the former process is certainly over, and keeps it from writing if it is not. Returns the new holder. */
async function claim(place: ServerJournalPlace, identity: JournalIdentity, stored: ServerJournal): Promise<string> {
  const { folder, database, clock, log, expiryMs } = place
  const { journalId } = identity
  const { isOriginal, isSameMachine } = await compareIdentity(folder, identity)
  if (!isOriginal) {
    const problem = `the journal ${journalId} in ${folder} is a copy: its original may have later records`
    const copy = `If the original will never be used again and this copy was made after its process had ended, make an empty file "only-copy" in the folder`
    throw serverError(problem, folder, journalId, undefined, `Start with the original folder. ${copy}. `)
  }
  const holder = createUuid()
  // The lock of this very file proves that its process is over. Elsewhere only its silence does.
  if (isSameMachine && (await claimJournal(database, { journalId, holder, expiryMs: null }))) return holder
  const deadline = clock.monotonicMs() + expiryMs + 4 * claimAgainMs
  if (stored.silentMs !== null && stored.silentMs < expiryMs) {
    log.warn({ journalId }, 'waiting until the last process of the journal is certainly over')
  }
  for (;;) {
    if (await claimJournal(database, { journalId, holder, expiryMs })) return holder
    if (clock.monotonicMs() > deadline) break
    await clock.sleep(claimAgainMs)
  }
  throw serverError(
    `a process that runs uses the journal ${journalId} in ${folder}: the folder is shared, or was copied`,
    folder,
    journalId,
  )
}

/** A journal that is over in the database: what it has beyond that was given up, or belongs to a copy. */
async function setAside(place: ServerJournalPlace, stored: ServerJournal, segments: readonly Segment[]): Promise<void> {
  const { folder, files = journalFiles, log } = place
  const { journalId, appliedSequence } = stored
  let last = 0
  const waiting = segmentsBehind(segments, appliedSequence)
  if (waiting.length > 0) {
    const { lastSequence, damage } = await readSegments(files, waiting, journalId, () => {})
    last = damage ? Infinity : lastSequence
  }
  if (last <= appliedSequence) return empty(place, segments)
  if (!stored.isReleased) {
    const problem = `the journal ${journalId} in ${folder} has records behind ${appliedSequence}, where it was finished: another process has finished a copy of it`
    throw serverError(problem, folder)
  }
  const aside = path.join(folder, `released-${journalId}`)
  await fs.promises.mkdir(aside, { recursive: true, mode: 0o700 })
  for (const { file } of segments) await files.rename(file, path.join(aside, path.basename(file)))
  await files.syncFolder(aside)
  await removeEndMark(files, folder)
  await removeIdentity(files, folder)
  log.error(
    { journalId, appliedSequence, folder: aside },
    'this journal of the ledger was released: what the database had not received stays unbilled; its files were set aside',
  )
}

/** The segments before the identity: a folder without it has no records. */
async function empty({ folder, files = journalFiles }: ServerJournalPlace, segments: readonly Segment[]) {
  await removeEndMark(files, folder)
  for (const { file } of segments) await files.remove(file)
  await files.syncFolder(folder)
  await removeIdentity(files, folder)
}

function serverError(problem: string, folder: string, journalId?: string, cause?: Error, way = ''): JournalError {
  const release =
    journalId === undefined
      ? 'Open journals of lost databases or folders are listed by `portico ledger journals`'
      : `Its money stays reserved until you accept the loss with \`portico ledger release ${journalId}\``
  return new JournalError(problem, {
    ...(cause && { cause }),
    remedy:
      `${way}Or move the folder ${folder} away: Portico then starts with a new journal, and what the old one had not written to the ` +
      `database yet stays unbilled. ${release} (docs/understand/journal.md)`,
  })
}
