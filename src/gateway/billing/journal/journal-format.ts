import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { promisify } from 'node:util'
import { JournalError } from './journal-error.ts'
import type { OwnedDatabase } from '../../../platform/database/index.ts'
import type { Clock, Log } from '../../../platform/kernel/index.ts'

/** Every change of the journal's files. All run outside the main thread. Tests replace it to tear writes and to fail. */
export interface JournalFiles {
  /** With which a segment is opened for `append`. */
  segmentFlags: number
  /** Writes all bytes at the position of a segment, and resolves when they are on the disk. */
  append(descriptor: number, bytes: Uint8Array, position: number): Promise<void>
  /** Writes all bytes at the position. */
  write(descriptor: number, bytes: Uint8Array, position: number): Promise<void>
  /** Overwrites the beginning of a file with less than a sector. A kill leaves all of it or nothing. */
  writeMark(descriptor: number, bytes: Uint8Array): Promise<void>
  /** Resolves when everything written to the file is on the disk. */
  sync(descriptor: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(file: string): Promise<void>
  /** Makes the creation, renaming and removal of files of the folder durable. */
  syncFolder(folder: string): Promise<void>
}

const write = promisify(fs.write)
const sync = promisify(fs.fdatasync)

/**
 * On Linux a write with O_DSYNC ends when its data are on the disk, as after fdatasync: one job of libuv's threads instead of two. Elsewhere
 * the flag is missing, or leaves data in the cache of the drive, which fdatasync flushes (macOS).
 */
const writesAreSynced = process.platform === 'linux'

async function writeAll(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await write(descriptor, bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}

async function writeAndSync(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  await writeAll(descriptor, bytes, position)
  await sync(descriptor)
}

export const journalFiles: JournalFiles = {
  segmentFlags: fs.constants.O_RDWR | (writesAreSynced ? fs.constants.O_DSYNC : 0),
  append: writesAreSynced ? writeAll : writeAndSync,
  write: writeAll,
  writeMark: (descriptor, bytes) => writeAll(descriptor, bytes, 0),
  sync,
  rename: (from, to) => fs.promises.rename(from, to),
  remove: (file) => fs.promises.rm(file, { force: true }),
  async syncFolder(folder) {
    const handle = await fs.promises.open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

export interface JournalPlace {
  database: OwnedDatabase
  /** Of this journal only; its parent exists. The embedded database next to it is locked, so no other process uses it. */
  folder: string
  clock: Clock
  log: Log
  files?: JournalFiles | undefined
  segmentBytes?: number | undefined
}

/**
 * The bytes of the journal. A frame holds the records of one flush; it is valid as a whole or not at all. No byte of it is zero and
 * its space is filled with zeros in advance: so a frame that was cut off differs from one that was damaged after it was written.
 *
 *   0  magic               4 bytes, see below
 *   4  version             2 digits, like all numbers hexadecimal in ASCII
 *   6  payload size        8 digits, in bytes
 *  14  record count        8 digits
 *  22  sequence            16 digits, of the first record; the others follow without gaps
 *  38  journal id          the 32 digits of a UUID
 *  70  CRC-32 of payload   8 digits
 *  78  CRC-32 of header    8 digits, of bytes 0 to 77
 *  86  payload             one record per line, as JSON in UTF-8, in which a zero byte is impossible
 */
const magic = Buffer.from([0xff, 0xfe, 0x70, 0x6a])
const version = 2
const checkedBytes = 78
export const frameHeaderBytes = 86
/** The smallest part of a file that a power cut leaves written or unwritten. */
const sectorBytes = 512

export interface Frame {
  firstSequence: number
  lastSequence: number
  /** Where the next frame starts. */
  endsAt: number
  lines(): string[]
}

interface Header extends Omit<Frame, 'lines'> {
  payloadCrc: number
}

/** Upper bound of the bytes of a frame with lines of this length together, in UTF-16 units with one for the end of each line. */
export function largestFrame(length: number): number {
  return frameHeaderBytes + 3 * length
}

/** Writes a frame to the beginning of `target`, which has room for `largestFrame`, and returns its size in bytes. `payload`: lines of JSON. */
export function writeFrame(
  target: Buffer,
  journalId: string,
  firstSequence: number,
  count: number,
  payload: string,
): number {
  const payloadBytes = target.write(payload, frameHeaderBytes)
  const endsAt = frameHeaderBytes + payloadBytes
  magic.copy(target)
  const fields = hex(version, 2) + hex(payloadBytes, 8) + hex(count, 8) + hex(firstSequence, 16)
  const payloadCrc = hex(crc32(target.subarray(frameHeaderBytes, endsAt)), 8)
  target.write(fields + journalId.replaceAll('-', '') + payloadCrc, magic.length, 'latin1')
  target.write(hex(crc32(target.subarray(0, checkedBytes)), 8), checkedBytes, 'latin1')
  return endsAt
}

/** The frame at the offset; undefined: there is no complete one. Throws JournalError on one of another journal or of a later version. */
export function readFrame(bytes: Buffer, offset: number, journalId: string): Frame | undefined {
  const header = readHeader(bytes, offset)
  if (!header || header.endsAt > bytes.length) return undefined
  const { payloadCrc, ...frame } = header
  const payload = bytes.subarray(offset + frameHeaderBytes, frame.endsAt)
  if (crc32(payload) !== payloadCrc) return undefined
  const found = bytes.toString('latin1', offset + 4, offset + 6)
  if (found !== hex(version, 2)) {
    throw new JournalError(`the ledger's journal has format version ${found}; this Portico reads ${hex(version, 2)}`)
  }
  if (bytes.toString('latin1', offset + 38, offset + 70) !== journalId.replaceAll('-', '')) {
    throw new JournalError("the ledger's journal belongs to another control database")
  }
  return { ...frame, lines: () => payload.toString('utf8').split('\n') }
}

/** The next complete frame from the offset on. The magic is not valid UTF-8, so that no payload contains it. */
export function findFrame(bytes: Buffer, from: number, journalId: string): Frame | undefined {
  for (let at = bytes.indexOf(magic, from); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    const frame = readFrame(bytes, at, journalId)
    if (frame) return frame
  }
  return undefined
}

/**
 * What is behind the last complete frame. `cut off`: a write that did not end, for a part of it is still zeros, as the space was
 * before: its end, or a whole sector. `damaged`: every part was written, and what was written has changed since.
 */
export function tailOf(bytes: Buffer, offset: number): 'empty' | 'cut off' | 'damaged' {
  const end = writtenEnd(bytes, offset)
  if (end === offset) return 'empty'
  const frameEnd = readHeader(bytes, offset)?.endsAt ?? Math.max(end, offset + frameHeaderBytes)
  if (end < frameEnd) return 'cut off'
  for (let at = offset; at < frameEnd;) {
    const next = Math.min(frameEnd, at - (at % sectorBytes) + sectorBytes)
    if (isZero(bytes, at, next)) return 'cut off'
    at = next
  }
  return 'damaged'
}

function readHeader(bytes: Buffer, offset: number): Header | undefined {
  if (offset + frameHeaderBytes > bytes.length || bytes.compare(magic, 0, 4, offset, offset + 4) !== 0) return undefined
  const text = bytes.toString('latin1', offset, offset + frameHeaderBytes)
  if (hex(crc32(bytes.subarray(offset, offset + checkedBytes)), 8) !== text.slice(checkedBytes)) return undefined
  const number = (from: number, digits: number) => Number.parseInt(text.slice(from, from + digits), 16)
  const firstSequence = number(22, 16)
  return {
    firstSequence,
    lastSequence: firstSequence + number(14, 8) - 1,
    endsAt: offset + frameHeaderBytes + number(6, 8),
    payloadCrc: number(70, 8),
  }
}

/** The end of the last byte that is not zero, at least `from`. */
function writtenEnd(bytes: Buffer, from: number): number {
  let end = bytes.length
  while (end > from && bytes[end - 1] === 0) end -= 1
  return end
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] !== 0) return false
  return true
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

/**
 * The file next to the segments that states the last acknowledged record. Without it, a journal that has lost its end looks like one that ends
 * there. One line in ASCII: name, version, journal id, sequence in 16 hexadecimal digits, CRC-32 of what is before it.
 *
 * It is written after each frame was synced and before its records are acknowledged. A killed process leaves it current, because the page cache
 * outlives the process. It is synced in the background, so after a power cut it may be older, but never newer than the frames: its line fits a
 * sector, which a disk writes whole or not at all.
 */
export const endMarkName = 'end.mark'
/** Removed by the next start. */
const unfinishedName = 'end.spare'
const pattern = /^(portico-journal-end 1 ([0-9a-f-]{36}) ([0-9a-f]{16})) ([0-9a-f]{8})\n$/
/** Bounds what a power cut can leave without a mark, and costs a busy journal about a hundredth of its syncs. */
const syncEveryMs = 100

export interface EndMark {
  journalId: string
  /** 0: nothing was acknowledged. */
  lastSequence: number
}

export function encodeEndMark({ journalId, lastSequence }: EndMark): Buffer {
  const text = `portico-journal-end 1 ${journalId} ${lastSequence.toString(16).padStart(16, '0')}`
  return Buffer.from(`${text} ${crc32(text).toString(16).padStart(8, '0')}\n`, 'latin1')
}

/** Undefined: the journal was last written by a version without the file. Throws JournalError on any other content than a mark. */
export async function readEndMark(folder: string): Promise<EndMark | undefined> {
  const file = path.join(folder, endMarkName)
  const text = await fs.promises.readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [, checked, journalId, sequence, crc] = pattern.exec(text) ?? []
  if (checked === undefined || crc32(checked) !== Number.parseInt(crc!, 16)) {
    throw new JournalError(
      `the mark of the journal's end in ${file} is damaged: records behind the last one may be lost`,
    )
  }
  return { journalId: journalId!, lastSequence: Number.parseInt(sequence!, 16) }
}

export function hasEndMark(folder: string): boolean {
  return fs.existsSync(path.join(folder, endMarkName))
}

/** What a journal that ends with `lastSequence` has lost according to the mark in its folder. */
export async function findLoss(folder: string, journalId: string, lastSequence: number) {
  try {
    const mark = await readEndMark(folder)
    if (!mark || mark.lastSequence === 0) return undefined
    if (mark.journalId !== journalId) {
      return new JournalError(
        `the mark of the journal's end in ${path.join(folder, endMarkName)} is of another journal`,
      )
    }
    if (mark.lastSequence <= lastSequence) return undefined
    return new JournalError(
      `the end of the journal is missing: its records up to ${mark.lastSequence} were acknowledged, and ${folder} has them up to ${lastSequence}`,
    )
  } catch (error) {
    if (error instanceof JournalError) return error
    throw error
  }
}

/** First of all files when a journal is removed, because it would name segments that are gone. */
export async function removeEndMark(files: JournalFiles, folder: string): Promise<void> {
  await files.remove(path.join(folder, endMarkName))
  await files.syncFolder(folder)
}

/** The mark of an open journal. Not for concurrent calls. */
export class EndMarkWriter {
  private readonly files: JournalFiles
  private readonly descriptor: number
  private readonly onFailed: (error: unknown) => void
  /** Until a sync has ended. */
  private timer: NodeJS.Timeout | undefined
  private syncing: Promise<void> | undefined
  private isSynced = true

  /** `onFailed`: a sync in the background has failed. */
  constructor(files: JournalFiles, descriptor: number, onFailed: (error: unknown) => void) {
    this.files = files
    this.descriptor = descriptor
    this.onFailed = onFailed
  }

  /** Replaces the mark of the last run, whose records are all applied. */
  static async open(files: JournalFiles, folder: string, mark: EndMark, onFailed: (error: unknown) => void) {
    const unfinished = path.join(folder, unfinishedName)
    const descriptor = fs.openSync(unfinished, 'w', 0o600)
    try {
      await files.writeMark(descriptor, encodeEndMark(mark))
      await files.sync(descriptor)
      await files.rename(unfinished, path.join(folder, endMarkName))
      await files.syncFolder(folder)
    } catch (error) {
      fs.closeSync(descriptor)
      throw error
    }
    return new EndMarkWriter(files, descriptor, onFailed)
  }

  /** Resolves when the end of this process cannot lose the mark any more. */
  async write(mark: EndMark): Promise<void> {
    await this.files.writeMark(this.descriptor, encodeEndMark(mark))
    this.isSynced = false
    this.startTimer()
  }

  async close(): Promise<void> {
    await this.syncing
    clearTimeout(this.timer)
    await this.sync()
    fs.closeSync(this.descriptor)
  }

  private startTimer(): void {
    this.timer ??= setTimeout(() => (this.syncing = this.sync()), syncEveryMs).unref()
  }

  private async sync(): Promise<void> {
    this.isSynced = true
    await this.files.sync(this.descriptor).catch(this.onFailed)
    this.timer = undefined
    if (!this.isSynced) this.startTimer()
  }
}
