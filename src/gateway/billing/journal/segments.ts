import fs from 'node:fs'
import path from 'node:path'
import { findFrame, findLoss, type Frame, type JournalFiles, readEndMark, readFrame, tailOf } from './journal-format.ts'
import { JournalError } from './journal-error.ts'

/** The files of the journal: `SEQUENCE.segment`, named after the first record that they may hold, and the spare file, which is the next one. */

const segmentSuffix = '.segment'
const spareSuffix = '.spare'

export interface Segment {
  file: string
  firstSequence: number
}

export function segmentFile(folder: string, firstSequence: number): string {
  return path.join(folder, `${String(firstSequence).padStart(16, '0')}${segmentSuffix}`)
}

export function spareFile(folder: string, number: number): string {
  return path.join(folder, `${number}${spareSuffix}`)
}

/** The segments in order. Spare files of the last run are removed: a crash may have left them half written. */
export async function openSegmentFolder(files: JournalFiles, folder: string): Promise<Segment[]> {
  await fs.promises.mkdir(folder, { recursive: true, mode: 0o700 })
  await files.syncFolder(path.dirname(folder))
  const names = await fs.promises.readdir(folder)
  for (const name of names) if (name.endsWith(spareSuffix)) await files.remove(path.join(folder, name))
  return listSegments(folder)
}

/** The segments in order. Changes nothing. */
export async function listSegments(folder: string): Promise<Segment[]> {
  return (await fs.promises.readdir(folder))
    .filter((name) => /^\d{16}\.segment$/.test(name))
    .sort()
    .map((name) => ({ file: path.join(folder, name), firstSequence: Number(name.slice(0, -segmentSuffix.length)) }))
}

/** Those with records behind the sequence: the last one, and each whose successor begins behind the record after the sequence. */
export function segmentsBehind(segments: readonly Segment[], appliedSequence: number): Segment[] {
  return segments.filter((_, place) => (segments[place + 1]?.firstSequence ?? Infinity) > appliedSequence + 1)
}

/** The records of the segments, after every segment was checked. */
export interface Contents {
  firstSequence: number
  lastSequence: number
  /** Behind the last complete frame is the beginning of another one: its write was cut off. */
  isCutOff: boolean
  /** Records behind the last one are damaged or missing, or what shows that there are none is. */
  damage: JournalError | undefined
}

/**
 * Reads every frame in order and passes it to `use`. The end of the records is where no further frame is complete; it is damage where
 * a later frame exists, where the last one was written completely, or where the folder's mark names later records. Makes every byte durable before reading it, because a killed
 * process may have left pages that only the page cache has. Throws JournalError on frames of another journal.
 */
export async function readSegments(
  files: JournalFiles,
  segments: readonly Segment[],
  journalId: string,
  use: (frame: Frame) => Promise<void> | void,
): Promise<Contents> {
  const firstSequence = segments[0]!.firstSequence
  let expected = firstSequence
  let isCutOff = false
  const contents = (damage?: JournalError) => ({ firstSequence, lastSequence: expected - 1, isCutOff, damage })
  for (const segment of segments) {
    if (segment.firstSequence !== expected) return contents(missing(segment.file, expected))
    const bytes = await readDurably(files, segment.file)
    let offset = 0
    for (;;) {
      const frame = readFrame(bytes, offset, journalId)
      if (!frame || frame.firstSequence !== expected) break
      await use(frame)
      expected = frame.lastSequence + 1
      offset = frame.endsAt
    }
    if (findFrame(bytes, offset, journalId)) return contents(missing(segment.file, expected, offset))
    const tail = tailOf(bytes, offset)
    if (tail === 'damaged') return contents(changed(segment.file, expected, offset))
    isCutOff = tail === 'cut off'
  }
  return contents(await findLoss(path.dirname(segments[0]!.file), journalId, expected - 1))
}

/** Whether the folder has no record of any journal, complete or not, and no mark of one. */
export async function isEmpty(files: JournalFiles, folder: string, segments: readonly Segment[]): Promise<boolean> {
  if (((await readEndMark(folder))?.lastSequence ?? 0) > 0) return false
  for (const { file } of segments) {
    const bytes = await readDurably(files, file)
    if (!bytes.equals(Buffer.alloc(bytes.length))) return false
  }
  return true
}

async function readDurably(files: JournalFiles, file: string): Promise<Buffer> {
  const handle = await fs.promises.open(file, 'r+')
  try {
    await files.sync(handle.fd)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

function missing(file: string, sequence: number, offset?: number): JournalError {
  const place = offset === undefined ? '' : ` at byte ${offset}`
  return new JournalError(
    `the ledger's journal is damaged: record ${sequence} should be in ${file}${place}, and later records exist`,
  )
}

function changed(file: string, sequence: number, offset: number): JournalError {
  return new JournalError(
    `the ledger's journal is damaged: record ${sequence} in ${file} at byte ${offset} has changed after it was written`,
  )
}
