import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, createUuid } from '../../kernel/index.ts'
import type { BlobStore } from './blob-store.ts'

export interface FolderBlobStoreOptions {
  /** True where no other process uses the folder: every upload that a former one left unfinished is removed at once. */
  soleOwner?: boolean
  /** Opens a file for writing; tests give one that is full. */
  createFile?: (file: string) => Writable
}

/** Uploads being received; what a killed process left there is removed at a later start. */
const incomingFolder = '.incoming'
/** Longer than any upload takes, so that another instance's are left alone. */
const abandonedAgeMs = 60 * 60_000
const keyPattern = /^[\w-]+(?:\/[\w-]+)*$/
/** Write errors that mean "no room": the disk, a quota, a limit on the size of files. */
const noRoomCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Blobs as files below `root`. A file is written aside, synced and renamed, so that a key names a whole file or none. */
export async function createFolderBlobStore(
  root: string,
  { soleOwner = false, createFile = createDurableFile }: FolderBlobStoreOptions = {},
): Promise<BlobStore> {
  const incoming = path.join(root, incomingFolder)
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  await removeAbandoned(incoming, soleOwner)

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
        await pipeline(source, createFile(temporary), { signal })
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
        await rename(temporary, file)
        await syncFolder(path.dirname(file))
      } catch (error) {
        await rm(temporary, { force: true })
        throw explained(error)
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
    exists: (key) => exists(fileOf(key)),
    async *list() {
      for await (const entry of await opendir(root, { recursive: true })) {
        const file = path.join(entry.parentPath, entry.name)
        const key = path.relative(root, file).replaceAll(path.sep, '/')
        if (!entry.isFile() || key.startsWith(incomingFolder)) continue
        const found = await stat(file).catch(() => undefined)
        if (found) yield { key, modifiedAt: found.mtime }
      }
    },
    close: () => Promise.resolve(),
  }
}

function createDurableFile(file: string): Writable {
  return createWriteStream(file, { flush: true, mode: 0o600 })
}

function explained(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (!noRoomCodes.has(code)) return error
  return new AppError(
    'overloaded',
    'The server has no room for this file at the moment. Nothing was stored; try again later.',
    { retryAfterSeconds: 60, internal: `the blob folder takes no more (${code})`, cause: error },
  )
}

async function removeAbandoned(incoming: string, soleOwner: boolean): Promise<void> {
  for (const name of await readdir(incoming)) {
    const file = path.join(incoming, name)
    const modifiedAt = (await stat(file).catch(() => undefined))?.mtimeMs ?? Date.now()
    if (soleOwner || Date.now() - modifiedAt > abandonedAgeMs) await rm(file, { force: true })
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
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
