import fs from 'node:fs'
import { createUuid } from '../../../platform/kernel/index.ts'
import { hasEndMark, journalFiles, type JournalPlace, removeEndMark } from './journal-format.ts'
import { JournalError } from './journal-error.ts'
import { JournalLog } from './journal-log.ts'
import { findUnknownInstances, loadJournal, replaceJournal, type StoredJournal, takeJournal } from './journal.store.ts'
import { Projector } from './projector.ts'
import { decodeRecord, type JournalRecord } from './records.ts'
import { isEmpty, openSegmentFolder, readSegments, type Segment, segmentsBehind } from './segments.ts'

interface OpenedJournal {
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

interface ReplayedJournal extends StoredJournal {
  /** This process, which has taken the journal. */
  holder: string
}

/**
 * Resolves to the last record, which is applied then like all others. Segments that are wholly applied are not read. Of a damaged
 * journal the records before the damage are applied before it throws: every beginning of a journal fits the leases.
 */
async function replay(place: JournalPlace, stored: ReplayedJournal, segments: readonly Segment[]): Promise<number> {
  const { folder, log, files = journalFiles } = place
  const { journalId, appliedSequence } = stored
  const records: JournalRecord[] = []
  const waiting = segmentsBehind(segments, appliedSequence)
  const contents = await readSegments(files, waiting, journalId, (frame) => {
    if (frame.lastSequence <= appliedSequence) return
    const behind = Math.max(0, appliedSequence + 1 - frame.firstSequence)
    for (const line of frame.lines().slice(behind)) records.push(decodeRecord(line))
  })
  const { firstSequence, lastSequence, isCutOff, damage } = contents
  const found = `the journal in ${folder} has records ${firstSequence} to ${lastSequence}, and the control database has applied them up to ${appliedSequence}`
  if (firstSequence > appliedSequence + 1) throw new JournalError(`${found}: the database is older than the journal`)
  if (lastSequence < appliedSequence) throw damage ?? new JournalError(`${found}: the end of the journal is missing`)
  if (!hasEndMark(folder)) {
    log.warn(
      { folder },
      'the journal of the ledger has no mark of its end, as in earlier versions: a lost end is not noticed',
    )
  }
  if (isCutOff && !damage) log.warn({ folder }, 'the last write to the journal of the ledger was cut off')
  if (records.length > 0) {
    const unknown = await findUnknownInstances(place.database, [...new Set(records.map(({ instance }) => instance))])
    if (unknown.length > 0) {
      throw new JournalError(
        `${found}, but it has never had the instance ${unknown[0]}: the database is older than the journal`,
      )
    }
    await apply(place, stored, records)
    log.warn({ records: records.length }, 'applied what the last process left in the journal of the ledger')
  }
  if (damage) throw damage
  return lastSequence
}

async function apply(place: JournalPlace, stored: ReplayedJournal, records: readonly JournalRecord[]): Promise<void> {
  const { database, clock, log } = place
  const projector = new Projector({
    ...stored,
    database,
    clock,
    log,
    onApplied() {},
    onFatal() {},
    // A start fails rather than waits for a database that does not answer.
    noteDatabase: (answers) => answers || projector.abandon(),
  })
  projector.add(records)
  try {
    await projector.reach(stored.appliedSequence + records.length)
  } finally {
    await projector.close()
  }
}
