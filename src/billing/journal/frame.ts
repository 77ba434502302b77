import { crc32 } from 'node:zlib'

/**
 * The bytes of the journal. A frame holds the records of one flush; it is valid as a whole or not at all.
 *
 *   0  magic         4 bytes, see below
 *   4  CRC-32        of everything after it, little-endian like all numbers
 *   8  version       uint32, 1
 *  12  payload size  uint32, in bytes
 *  16  record count  uint32
 *  20  zero          uint32
 *  24  sequence      uint64, of the first record; the others follow without gaps
 *  32  journal id    16 bytes of a UUID
 *  48  payload       one record per line, as JSON in UTF-8
 */
const magic = Buffer.from([0xff, 0xfe, 0x70, 0x6a])
const version = 1
export const frameHeaderBytes = 48
const crcFrom = 8

export interface Frame {
  firstSequence: number
  lastSequence: number
  /** Where the next frame starts. */
  endsAt: number
  lines(): string[]
}

export function frameSize(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, frameHeaderBytes)
}

/** `lines` must not be empty and contain no line break. */
export function encodeFrame(journalId: string, firstSequence: number, lines: readonly string[]): Buffer {
  const payload = Buffer.from(lines.join('\n'))
  const frame = Buffer.alloc(frameHeaderBytes + payload.length)
  magic.copy(frame)
  frame.writeUInt32LE(version, 8)
  frame.writeUInt32LE(payload.length, 12)
  frame.writeUInt32LE(lines.length, 16)
  frame.writeBigUInt64LE(BigInt(firstSequence), 24)
  idBytes(journalId).copy(frame, 32)
  payload.copy(frame, frameHeaderBytes)
  frame.writeUInt32LE(crc32(frame.subarray(crcFrom)), 4)
  return frame
}

/** The frame at the offset; undefined: there is no complete one of this journal. Throws on a version of the future. */
export function readFrame(bytes: Buffer, offset: number, journalId: string): Frame | undefined {
  if (offset + frameHeaderBytes > bytes.length || bytes.compare(magic, 0, 4, offset, offset + 4) !== 0) return undefined
  const endsAt = offset + frameHeaderBytes + bytes.readUInt32LE(offset + 12)
  if (endsAt > bytes.length || !bytes.subarray(offset + 32, offset + 48).equals(idBytes(journalId))) return undefined
  if (crc32(bytes.subarray(offset + crcFrom, endsAt)) !== bytes.readUInt32LE(offset + 4)) return undefined
  const found = bytes.readUInt32LE(offset + 8)
  if (found !== version) throw new RangeError(`the journal has format version ${found}; this Portico reads ${version}`)
  const firstSequence = sequenceAt(bytes, offset)
  const count = bytes.readUInt32LE(offset + 16)
  return {
    firstSequence,
    lastSequence: firstSequence + count - 1,
    endsAt,
    lines: () => bytes.toString('utf8', offset + frameHeaderBytes, endsAt).split('\n'),
  }
}

/**
 * The next complete frame from the offset on whose sequence is at least `sequence`. The magic is not valid UTF-8, so that no
 * payload contains it. A reused segment has older frames behind the newest one; they are skipped by their sequence.
 */
export function findFrame(bytes: Buffer, from: number, journalId: string, sequence: number): Frame | undefined {
  for (let at = bytes.indexOf(magic, from); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    if (at + frameHeaderBytes > bytes.length) return undefined
    const frame = sequenceAt(bytes, at) >= sequence ? readFrame(bytes, at, journalId) : undefined
    if (frame) return frame
  }
  return undefined
}

/** Whether the bytes look like the beginning of a frame that was not written completely. */
export function startsFrame(bytes: Buffer, offset: number, sequence: number): boolean {
  const head = bytes.subarray(offset, offset + frameHeaderBytes)
  if (head.length < magic.length || !head.subarray(0, magic.length).equals(magic)) return false
  return head.length < frameHeaderBytes || sequenceAt(bytes, offset) === sequence
}

function sequenceAt(bytes: Buffer, offset: number): number {
  return Number(bytes.readBigUInt64LE(offset + 24))
}

function idBytes(journalId: string): Buffer {
  return Buffer.from(journalId.replaceAll('-', ''), 'hex')
}
