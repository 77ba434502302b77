import type { JournalPlace } from './journal-place.ts'
import fs from 'node:fs'
import { createUuid } from '../../../platform/kernel/index.ts'
import { removeEndMark } from './end-mark.ts'
import { JournalError } from './journal-error.ts'
import { journalFiles } from './journal-files.ts'
import { JournalLog } from './journal-log.ts'
import { loadJournal, replaceJournal, type StoredJournal, takeJournal } from './journal.store.ts'
import { replay } from './replay.ts'
import { isEmpty, openSegmentFolder, type Segment } from './segments.ts'

export interface OpenedJournal {
  journal: JournalLog
  journalId: string
  /** Only it may apply records of the journal. */
  holder: string
}

/**
 * For an embedded database. Applies to it what the last process left in the journal, then starts a new segment. Throws JournalError where records
 * are damaged or missing, or where journal and database are not of one copy.
 */
export async function openJournal(place: JournalPlace): Promise<OpenedJournal> {
  const { database, folder, log, files = journalFiles, segmentBytes } = place
  const segments = await openSegmentFolder(files, folder)
  const stored = await loadJournal(database)
  const holder = createUuid()
  if (stored && segments.length > 0) {
    const { journalId } = stored
    const lastSequence = await takeAndReplay(place, stored, holder, segments)
    const options = { folder, files, journalId, lastSequence, applied: segments, segmentBytes }
    return { journal: await JournalLog.open(options), journalId, holder }
  }
  if (!(await isEmpty(files, folder, segments))) throw stored ? missingSegments(folder) : unknownJournal(folder)
  if (stored && stored.appliedSequence > 0) {
    log.error({ folder }, 'the journal of the ledger is gone: what was not in the database yet stays unbilled')
  }
  const journalId = createUuid()
  await replaceJournal(database, journalId, holder)
  const options = { folder, files, journalId, lastSequence: 0, applied: segments, segmentBytes }
  return { journal: await JournalLog.open(options), journalId, holder }
}

/** For a ledger without a journal: applies what an earlier process with one has left, and removes it. */
export async function removeJournal(place: JournalPlace): Promise<void> {
  const { database, folder, files = journalFiles } = place
  const stored = await loadJournal(database)
  if (fs.existsSync(folder)) {
    const segments = await openSegmentFolder(files, folder)
    if (stored && segments.length > 0) {
      await takeAndReplay(place, stored, createUuid(), segments)
    } else if (!(await isEmpty(files, folder, segments))) {
      throw stored ? missingSegments(folder) : unknownJournal(folder)
    }
    await removeEndMark(files, folder)
    for (const { file } of segments) await files.remove(file)
    await fs.promises.rmdir(folder)
  }
  if (stored) await replaceJournal(database, null, null)
}

/** Resolves to the last record. */
async function takeAndReplay(place: JournalPlace, stored: StoredJournal, holder: string, segments: readonly Segment[]) {
  await takeJournal(place.database, stored.journalId, holder)
  return replay(place, { ...stored, holder }, segments)
}

function missingSegments(folder: string): JournalError {
  return new JournalError(`the segments of the journal in ${folder} are missing`)
}

function unknownJournal(folder: string): JournalError {
  return new JournalError(`the control database has never had the journal in ${folder}: the database was replaced`)
}
