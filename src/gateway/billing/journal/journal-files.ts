import fs from 'node:fs'
import { promisify } from 'node:util'
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
