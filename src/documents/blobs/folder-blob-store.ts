import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, createUuid } from '../../kernel/index.ts'
import type { BlobStore } from './blob-store.ts'

/** Uploads being received; what a killed process left there is removed at the next start. */
const incomingFolder = '.incoming'
const keyPattern = /^[\w-]+(?:\/[\w-]+)*$/

/** Blobs as files below `root`. A file is written aside, synced and renamed, so that a key names a whole file or none. */
export async function createFolderBlobStore(root: string): Promise<BlobStore> {
  const incoming = path.join(root, incomingFolder)
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })

  const fileOf = (key: string) => {
    if (!keyPattern.test(key)) throw new RangeError(`not a blob key: ${key}`)
    return path.join(root, key)
  }

  return {
    label: `folder ${root}`,
    localFolders: [root],
    async put(key, source, signal) {
      const file = fileOf(key)
      const temporary = path.join(incoming, createUuid())
      try {
        await pipeline(source, createWriteStream(temporary, { flush: true, mode: 0o600 }), { signal })
        await mkdir(path.dirname(file), { recursive: true })
        await rename(temporary, file)
        await syncFolder(path.dirname(file))
      } catch (error) {
        await rm(temporary, { force: true })
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
          throw new AppError(
            'overloaded',
            'The server has no room for this file at the moment. Nothing was stored; try again later.',
            {
              retryAfterSeconds: 60,
              internal: 'the blob folder is full (ENOSPC)',
              cause: error,
            },
          )
        }
        throw error
      }
    },
    async open(key) {
      const file = fileOf(key)
      await stat(file)
      return createReadStream(file)
    },
    withFile: (key, _signal, use) => use(fileOf(key)),
    async delete(key) {
      await rm(fileOf(key), { force: true })
    },
    async *list() {
      for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
        const file = path.join(entry.parentPath, entry.name)
        const key = path.relative(root, file)
        if (!entry.isFile() || key.startsWith(incomingFolder)) continue
        const found = await stat(file).catch(() => undefined)
        if (found) yield { key, modifiedAt: found.mtime }
      }
    },
    close: () => Promise.resolve(),
  }
}

/** A rename is durable only when its folder is. */
async function syncFolder(folder: string) {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
