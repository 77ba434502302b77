import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { JournalError } from './journal-error.ts'
import type { JournalFiles } from './journal-files.ts'

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
