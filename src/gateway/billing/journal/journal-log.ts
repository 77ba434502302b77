import fs from 'node:fs'
import path from 'node:path'
import {
  encodeEndMark,
  type EndMark,
  endMarkName,
  EndMarkWriter,
  frameHeaderBytes,
  type JournalFiles,
  largestFrame,
  writeFrame,
} from './journal-format.ts'
import type { JsonBytes } from './records.ts'
import { type Segment, segmentFile, spareFile } from './segments.ts'

/** Preallocated, so that a sync writes no metadata and a full disk is noticed before a record is written. */
const defaultSegmentBytes = 16 * 1024 * 1024
/** Frames of some hundred calls. */
const blockBytes = 1024 * 1024
const zeros = Buffer.alloc(1024 * 1024)

export interface JournalLogOptions {
  folder: string
  files: JournalFiles
  journalId: string
  /** The next record gets the number after it. */
  lastSequence: number
  /** Read and applied segments of the last run. */
  applied: readonly Segment[]
  segmentBytes?: number | undefined
}

/** To be copied: a segment, or the mark of the end. */
export type JournalCopy = { name: string; bytes: number; descriptor: number } | { name: string; contents: Buffer }

interface OpenSegment extends Segment {
  descriptor: number
  position: number
}

/** The end of the journal, where frames are appended. Not for concurrent calls: one frame is on its way to the disk at a time. */
export class JournalLog {
  readonly segmentBytes: number
  private readonly options: JournalLogOptions
  /** Oldest first; the last one is written to. */
  private readonly segments: OpenSegment[] = []
  /** The next segment, filled with zeros. */
  private spare: string | undefined
  private spareNumber = 0
  private preparing: Promise<void> | undefined
  private sequence: number
  /** Frames are built here, one after the other. What is there never changes: waiting records are parts of it. */
  private block = Buffer.alloc(0)
  private blockUsed = 0
  private failure: unknown
  /** Set by `open`. */
  private mark!: EndMarkWriter

  private constructor(options: JournalLogOptions) {
    this.options = options
    this.segmentBytes = options.segmentBytes ?? defaultSegmentBytes
    this.sequence = options.lastSequence
  }

  /** Starts a new segment, and removes those of the last run. Rejects where there is no room for it. */
  static async open(options: JournalLogOptions): Promise<JournalLog> {
    const log = new JournalLog(options)
    await log.prepare()
    // A last run without records has left an empty segment of the same name: it is replaced.
    await log.startSegment()
    await log.openMark()
    const { file } = log.segments[0]!
    // Oldest first, so that a crash leaves segments without a gap.
    for (const segment of options.applied) if (segment.file !== file) await options.files.remove(segment.file)
    await options.files.syncFolder(options.folder)
    return log
  }

  get lastSequence(): number {
    return this.sequence
  }

  /** A sync has failed: nothing can be appended any more. */
  get hasFailed(): boolean {
    return this.failure !== undefined
  }

  /**
   * Makes room for a frame with these lines. Rejects with the error of the file system, for example ENOSPC; it may be called again
   * unless `hasFailed`.
   */
  async makeRoom(lines: readonly string[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    const { position } = this.segments.at(-1)!
    if (position + largestSize(lines) > this.segmentBytes) {
      await this.prepare()
      await this.startSegment()
    } else if (position > this.segmentBytes / 2 && this.spare === undefined && !this.preparing) {
      // Ahead of the need. A full disk is reported by the call that needs the segment.
      this.prepare().catch(() => {})
    }
  }

  /**
   * Appends the lines as one frame and resolves to where each is in memory when the frame is on the disk. Needs `makeRoom` before.
   * A rejection is final, also for later calls: after a failed sync nobody knows what the disk has.
   */
  async append(lines: readonly string[]): Promise<JsonBytes[]> {
    if (this.failure !== undefined) throw this.failure
    const { files, journalId } = this.options
    const segment = this.segments.at(-1)!
    const payload = lines.join('\n')
    const frame = this.takeRoom(largestFrame(payload.length))
    const size = writeFrame(frame, journalId, this.sequence + 1, lines.length, payload)
    this.blockUsed += size
    try {
      await files.append(segment.descriptor, frame.subarray(0, size), segment.position)
      await this.mark.write({ journalId, lastSequence: this.sequence + lines.length })
    } catch (error) {
      this.failure = error
      throw error
    }
    segment.position += size
    this.sequence += lines.length
    const start = frame.byteOffset - this.block.byteOffset + frameHeaderBytes
    return placesOf(lines, { bytes: this.block, start, end: start + size - frameHeaderBytes })
  }

  private takeRoom(bytes: number): Buffer {
    if (bytes > this.block.length - this.blockUsed) {
      this.block = Buffer.allocUnsafeSlow(Math.max(bytes, blockBytes))
      this.blockUsed = 0
    }
    return this.block.subarray(this.blockUsed, this.blockUsed + bytes)
  }

  /**
   * The journal as it is now: `bytes` of a segment are on the disk and never change. Each has a descriptor, which the caller closes, because a
   * segment may be removed meanwhile.
   */
  openCopies(): JournalCopy[] {
    const segments = this.segments.map(({ file, position }) => ({
      name: path.basename(file),
      bytes: position,
      descriptor: fs.openSync(file, 'r'),
    }))
    return [...segments, { name: endMarkName, contents: encodeEndMark(this.end) }]
  }

  /** Removes the segments whose records are all applied to the database, durably. */
  async release(appliedSequence: number): Promise<void> {
    while (this.segments.length > 1 && this.segments[1]!.firstSequence <= appliedSequence + 1) {
      const { file, descriptor } = this.segments.shift()!
      fs.closeSync(descriptor)
      // Not used again: the space behind the last record must be zeros.
      await this.options.files.remove(file)
    }
  }

  async close(): Promise<void> {
    await this.preparing?.catch(() => {})
    await this.mark.close()
    for (const { descriptor } of this.segments.splice(0)) fs.closeSync(descriptor)
  }

  private get end(): EndMark {
    return { journalId: this.options.journalId, lastSequence: this.sequence }
  }

  private async openMark(): Promise<void> {
    const { files, folder } = this.options
    this.mark = await EndMarkWriter.open(files, folder, this.end, (error) => (this.failure ??= error))
  }

  /** Makes the spare segment, if there is none. */
  private prepare(): Promise<void> {
    if (this.spare !== undefined) return Promise.resolve()
    this.preparing ??= this.allocate().finally(() => {
      this.preparing = undefined
    })
    return this.preparing
  }

  private async allocate(): Promise<void> {
    const { folder, files } = this.options
    const spare = spareFile(folder, ++this.spareNumber)
    const handle = await fs.promises.open(spare, 'wx', 0o600)
    const isStart = this.segments.length === 0
    try {
      for (let position = 0; position < this.segmentBytes; position += zeros.length) {
        const left = this.segmentBytes - position
        await files.write(handle.fd, left < zeros.length ? zeros.subarray(0, left) : zeros, position)
        // Each part by itself while calls run, so that the sync of a frame waits for little.
        if (!isStart) await files.sync(handle.fd)
      }
      if (isStart) await files.sync(handle.fd)
      this.spare = spare
    } catch (error) {
      await files.remove(spare)
      throw error
    } finally {
      await handle.close()
    }
  }

  private async startSegment(): Promise<void> {
    const { folder, files } = this.options
    const firstSequence = this.sequence + 1
    const file = segmentFile(folder, firstSequence)
    await files.rename(this.spare!, file)
    this.spare = undefined
    try {
      await files.syncFolder(folder)
    } catch (error) {
      this.failure = error
      throw error
    }
    this.segments.push({ file, firstSequence, descriptor: fs.openSync(file, files.segmentFlags), position: 0 })
  }
}

/** The lines in the payload that they make. */
function placesOf(lines: readonly string[], { bytes, start, end }: JsonBytes): JsonBytes[] {
  const isAscii = lines.reduce((length, line) => length + line.length + 1, -1) === end - start
  let next = start
  return lines.map((line) => {
    const from = next
    const to = from + (isAscii ? line.length : Buffer.byteLength(line))
    next = to + 1
    return { bytes, start: from, end: to }
  })
}

function largestSize(lines: readonly string[]): number {
  return largestFrame(lines.reduce((length, line) => length + line.length + 1, 0))
}
