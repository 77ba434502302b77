import fs from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { makeTestFolder } from '../../../../test/harness/database.ts'
import { createRandom } from '../../../../test/harness/random.ts'
import { createUuid } from '../../../platform/kernel/index.ts'
import { encodeEndMark, endMarkName, frameHeaderBytes, type JournalFiles, journalFiles } from './journal-format.ts'
import { JournalLog } from './journal-log.ts'
import { openSegmentFolder, readSegments } from './segments.ts'
import { testSeed } from '../../../../test/harness/seed.ts'

/** The bytes of the journal, without a database: what a reader finds after every kind of end. */

const seed = testSeed
/** Files in memory need no sync, and these tests end no machine. */
const unsynced: JournalFiles = {
  ...journalFiles,
  segmentFlags: fs.constants.O_RDWR,
  append: journalFiles.write,
  sync: () => Promise.resolve(),
  syncFolder: () => Promise.resolve(),
}
const segmentBytes = 1_400
const journalId = createUuid()
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = makeTestFolder()
  folders.push(folder)
  return path.join(folder, 'journal')
}

async function openLog(folder: string, lastSequence = 0, files = unsynced, bytes = segmentBytes): Promise<JournalLog> {
  const applied = await openSegmentFolder(files, folder)
  return JournalLog.open({ folder, files, journalId, lastSequence, applied, segmentBytes: bytes })
}

async function append(log: JournalLog, lines: string[]): Promise<void> {
  await log.makeRoom(lines)
  await log.append(lines)
}

async function read(folder: string) {
  const lines: string[] = []
  const segments = await openSegmentFolder(unsynced, folder)
  const contents = await readSegments(unsynced, segments, journalId, (frame) => void lines.push(...frame.lines()))
  return { lines, ...contents }
}

const readOrRefuse = async (folder: string) => {
  const { lines, damage } = await read(folder)
  return damage?.name ?? lines
}

/** As a process leaves it that was killed before it acknowledged later records. */
function markEnd(folder: string, lastSequence: number): void {
  fs.writeFileSync(path.join(folder, endMarkName), encodeEndMark({ journalId, lastSequence }))
}

/** A random run; the frames with their places in the files, oldest first. */
async function writeRandomly(folder: string) {
  const random = createRandom(seed)
  const log = await openLog(folder)
  const frames: { lines: string[]; file: string; startsAt: number; endsAt: number }[] = []
  for (let frame = 0; frame < 24; frame += 1) {
    const lines = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, place) =>
      JSON.stringify([frame, place, 'ü'.repeat(Math.floor(random() * 30))]),
    )
    await append(log, lines)
    const [file] = (await openSegmentFolderNames(folder)).slice(-1)
    const before = frames.at(-1)
    const startsAt = before?.file === file ? before!.endsAt : 0
    frames.push({
      lines,
      file: file!,
      startsAt,
      endsAt: startsAt + frameHeaderBytes + Buffer.byteLength(lines.join('\n')),
    })
  }
  await log.close()
  return frames
}

async function openSegmentFolderNames(folder: string): Promise<string[]> {
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.segment'))
    .sort()
    .map((name) => path.join(folder, name))
}

describe(`a journal whose last write ends at any byte (seed ${seed})`, () => {
  test('gives exactly the frames that were complete, whether the file is shorter or has zeros there', async () => {
    const folder = newFolder()
    const frames = await writeRandomly(folder)
    expect(new Set(frames.map(({ file }) => file)).size).toBeGreaterThan(2)
    let kept = frames.flatMap(({ lines }) => lines)
    expect((await read(folder)).lines).toEqual(kept)
    for (const frame of frames.toReversed()) {
      kept = kept.slice(0, kept.length - frame.lines.length)
      markEnd(folder, kept.length)
      for (let at = frame.endsAt - 1; at >= frame.startsAt; at -= 1) {
        const bytes = fs.readFileSync(frame.file)
        fs.writeFileSync(frame.file, bytes.fill(0, at))
        expect(await readOrRefuse(folder), `zeros from byte ${at} of ${frame.file}`).toEqual(kept)
        fs.truncateSync(frame.file, at)
        expect(await readOrRefuse(folder), `cut at byte ${at} of ${frame.file}`).toEqual(kept)
        fs.writeFileSync(frame.file, bytes)
      }
      // The files are written one after the other: an earlier end means that the later file was not made yet.
      if (frame.startsAt === 0 && frame !== frames[0]) fs.rmSync(frame.file)
    }
  }, 120_000)

  test('refuses every changed bit of every frame, also of the last one', async () => {
    const folder = newFolder()
    const frames = await writeRandomly(folder)
    const random = createRandom(seed + 1)
    const last = frames.at(-1)!
    for (const frame of frames) {
      const sound = fs.readFileSync(frame.file)
      for (let at = frame.startsAt; at < frame.endsAt; at += 1) {
        // One bit of the earlier frames, all of the last one.
        const bits = frame === last ? [0, 1, 2, 3, 4, 5, 6, 7] : [Math.floor(random() * 8)]
        for (const bit of bits) {
          const bytes = Buffer.from(sound)
          bytes[at]! ^= 1 << bit
          fs.writeFileSync(frame.file, bytes)
          expect(await readOrRefuse(folder), `bit ${bit} of byte ${at} of ${frame.file}`).toBe('JournalError')
        }
      }
      fs.writeFileSync(frame.file, sound)
    }
    fs.rmSync(frames.find(({ file }) => file !== frames[0]!.file && file !== last.file)!.file)
    expect(await readOrRefuse(folder)).toBe('JournalError')
  }, 120_000)
})

test(`a power cut that leaves any sectors of the last write unwritten is no damage (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const folder = newFolder()
  const log = await openLog(folder, 0, unsynced, 64 * 1024)
  const kept = [JSON.stringify('before')]
  await append(log, kept)
  const startsAt = frameHeaderBytes + kept[0]!.length
  const last = Array.from({ length: 12 }, (_, place) => JSON.stringify(`${place} ${'x'.repeat(random() * 900)}`))
  await append(log, last)
  await log.close()
  markEnd(folder, 1)
  const [file] = await openSegmentFolderNames(folder)
  const sound = fs.readFileSync(file!)
  const endsAt = startsAt + frameHeaderBytes + Buffer.byteLength(last.join('\n'))
  expect(await readOrRefuse(folder)).toEqual([...kept, ...last])
  for (let round = 0; round < 200; round += 1) {
    const bytes = Buffer.from(sound)
    const share = random()
    let lost = 0
    for (let at = startsAt; at < endsAt;) {
      const next = Math.min(endsAt, at - (at % 512) + 512)
      if (random() < share) {
        bytes.fill(0, at, next)
        lost += 1
      }
      at = next
    }
    fs.writeFileSync(file!, bytes)
    expect(await readOrRefuse(folder), `round ${round}`).toEqual(lost > 0 ? kept : [...kept, ...last])
  }
})

test('applied segments are removed, and the others have every record since', async () => {
  const folder = newFolder()
  const log = await openLog(folder)
  const lines: string[] = []
  for (let record = 1; record <= 200; record += 1) {
    lines.push(JSON.stringify(`record ${record} ${'x'.repeat(record % 70)}`))
    await append(log, [lines.at(-1)!])
    if (record % 7 === 0) await log.release(record - 3)
  }
  await log.close()
  const found = await read(folder)
  expect(found.lastSequence).toBe(200)
  expect(found.firstSequence).toBeGreaterThan(150)
  expect(found.isCutOff).toBe(false)
  expect(found.lines).toEqual(lines.slice(found.firstSequence - 1))
  expect(fs.readdirSync(folder).length).toBeLessThan(5)
})

test('a new start continues the sequence in a new segment and leaves a torn tail behind', async () => {
  const folder = newFolder()
  const first = await openLog(folder)
  await append(first, ['"a"', '"b"'])
  await first.close()
  const [file] = await openSegmentFolderNames(folder)
  const torn = Buffer.concat([
    fs.readFileSync(file!).subarray(0, frameHeaderBytes + 7),
    Buffer.from([0xff, 0xfe, 0x70]),
  ])
  fs.writeFileSync(file!, torn)
  expect(await read(folder)).toMatchObject({ lines: ['"a"', '"b"'], isCutOff: true })
  const second = await openLog(folder, 2)
  await append(second, ['"c"'])
  await second.close()
  expect(await read(folder)).toMatchObject({ lines: ['"c"'], firstSequence: 3, lastSequence: 3 })
  // Nothing was written since: the next start replaces the segment.
  const third = await openLog(folder, 3)
  await third.close()
  const fourth = await openLog(folder, 3)
  await fourth.close()
  expect(await read(folder)).toMatchObject({ lines: [], firstSequence: 4, lastSequence: 3 })
})

test('a sync that fails once is final: it is not repeated, and no later record is acknowledged', async () => {
  let failures = 0
  const files: JournalFiles = {
    ...unsynced,
    append: (...given) => (failures-- > 0 ? Promise.reject(new Error('EIO')) : unsynced.append(...given)),
  }
  const log = await openLog(newFolder(), 0, files)
  await append(log, ['"a"'])
  failures = 1
  await expect(append(log, ['"b"'])).rejects.toThrow('EIO')
  await expect(append(log, ['"c"'])).rejects.toThrow('EIO')
  expect(log.lastSequence).toBe(1)
  await log.close()
})

test('a sync of the folder that fails once is final: the new segment may be missing after a power cut', async () => {
  let failures = 0
  const files: JournalFiles = {
    ...unsynced,
    syncFolder: () => (failures-- > 0 ? Promise.reject(new Error('EIO')) : Promise.resolve()),
  }
  const log = await openLog(newFolder(), 0, files)
  const lines = Array.from({ length: 6 }, () => JSON.stringify('x'.repeat(60)))
  await append(log, lines)
  failures = 1
  await expect(log.makeRoom(lines)).rejects.toThrow('EIO')
  await expect(log.makeRoom(lines)).rejects.toThrow('EIO')
  await expect(log.append(lines)).rejects.toThrow('EIO')
  expect(log.hasFailed).toBe(true)
  await log.close()
})

test('a full disk is reported before a record is written, and leaves no half segment', async () => {
  let isFull = false
  const files: JournalFiles = {
    ...unsynced,
    write: (...given) => (isFull ? Promise.reject(new Error('ENOSPC')) : unsynced.write(...given)),
  }
  const folder = newFolder()
  const log = await openLog(folder, 0, files)
  const line = JSON.stringify('x'.repeat(100))
  const four = [line, line, line, line]
  await append(log, [line])
  isFull = true
  await log.makeRoom([line])
  await expect(log.makeRoom(four)).rejects.toThrow('ENOSPC')
  expect(fs.readdirSync(folder)).toEqual(['0000000000000001.segment', endMarkName])
  isFull = false
  await append(log, four)
  await log.close()
  expect((await read(folder)).lines).toEqual([line, ...four])
})
