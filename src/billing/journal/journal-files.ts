import fs from 'node:fs'
import { promisify } from 'node:util'

/** Every change of the journal's files. All run outside the main thread. Tests replace it to tear writes and to fail. */
export interface JournalFiles {
  /** Writes all bytes at the position. */
  write(descriptor: number, bytes: Uint8Array, position: number): Promise<void>
  /** Resolves when everything written to the file is on the disk. */
  sync(descriptor: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(file: string): Promise<void>
  /** Makes the creation, renaming and removal of files of the folder durable. */
  syncFolder(folder: string): Promise<void>
}

const write = promisify(fs.write)
const sync = promisify(fs.fdatasync)

export const journalFiles: JournalFiles = {
  async write(descriptor, bytes, position) {
    for (let done = 0; done < bytes.length;) {
      done += (await write(descriptor, bytes, done, bytes.length - done, position + done)).bytesWritten
    }
  },
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
