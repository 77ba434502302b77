import { hasEndMark } from './end-mark.ts'
import { JournalError } from './journal-error.ts'
import { journalFiles } from './journal-files.ts'
import { findUnknownInstances, type StoredJournal } from './journal.store.ts'
import type { JournalPlace } from './journal-place.ts'
import { Projector } from './projector.ts'
import { decodeRecord, type JournalRecord } from './records.ts'
import { readSegments, type Segment, segmentsBehind } from './segments.ts'

export interface ReplayedJournal extends StoredJournal {
  /** This process, which has taken the journal. */
  holder: string
}

/**
 * Resolves to the last record, which is applied then like all others. Segments that are wholly applied are not read. Of a damaged
 * journal the records before the damage are applied before it throws: every beginning of a journal fits the leases.
 */
export async function replay(
  place: JournalPlace,
  stored: ReplayedJournal,
  segments: readonly Segment[],
): Promise<number> {
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
