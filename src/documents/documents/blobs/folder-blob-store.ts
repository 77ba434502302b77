import { createWriteStream, type Dirent } from 'node:fs'
import { mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, createUuid } from '../../../platform/kernel/index.ts'
import type { BlobStore } from './blob-store.ts'

export interface FolderBlobStoreOptions {
  /** True if no other process uses the folder: unfinished uploads of an earlier process are then removed at once. */
  soleOwner?: boolean
  /** Opens a file for writing. Tests pass one that fails as on a full disk. */
  createFile?: (file: string) => Writable
}

/** Uploads in progress. A later start removes the files of a killed process. */
const incomingFolder = '.incoming'
/** Longer than any upload, so that uploads of other instances are kept. */
const abandonedAgeMs = 60 * 60_000
const keyPattern = /^[\w-]+(?:\/[\w-]+)*$/
/** Write errors of a full disk, a quota or a file size limit. */
const noRoomCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
/** Errors of a folder that is not mounted, was moved or became read-only, and of a failing disk. None of them comes from a socket. */
const awayCodes = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EIO', 'ESTALE', 'EROFS', 'EACCES', 'EPERM'])

/** Blobs as files below `root`. A file is written to a temporary name, synced and renamed, so that a key has a complete file or none. */
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
      let written = path.join(incoming, createUuid())
      try {
        await pipeline(source, createFile(written), { signal })
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
        await rename(written, file)
        written = file
        await syncFolder(path.dirname(file))
      } catch (error) {
        // The first error counts. What a read-only folder keeps, the next start removes.
        await rm(written, { force: true }).catch(() => {})
        throw toStorageError(error)
      }
    },
    async open(key, _signal, range) {
      // Opened here, so that a file that is removed meanwhile is still read to its end.
      const handle = await open(fileOf(key))
      return handle.createReadStream(range && { start: range.first, end: range.last })
    },
    withFile: (key, _signal, use) => use(fileOf(key)),
    async delete(key) {
      await rm(fileOf(key), { force: true })
    },
    exists: (key) => exists(fileOf(key)),
    async *list(folder) {
      for await (const entry of await openFolder(folder === undefined ? root : fileOf(folder))) {
        const file = path.join(entry.parentPath, entry.name)
        const key = path.relative(root, file).replaceAll(path.sep, '/')
        // Uploads in progress, and the id of the folder.
        if (!entry.isFile() || key.startsWith('.')) continue
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

function toStorageError(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (awayCodes.has(code)) {
    return new AppError(
      'overloaded',
      'The file could not be stored at the moment. Nothing was stored; try again later.',
      { retryAfterSeconds: 60, internal: `the blob folder cannot be written (${code})`, cause: error },
    )
  }
  if (!noRoomCodes.has(code)) return error
  return new AppError(
    'overloaded',
    'The server has no room for this file at the moment. Nothing was stored; try again later.',
    { retryAfterSeconds: 60, internal: `the blob folder is full (${code})`, cause: error },
  )
}

/** No entries where the folder does not exist. */
async function openFolder(folder: string): Promise<AsyncIterable<Dirent>> {
  try {
    return await opendir(folder, { recursive: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return (async function* () {})()
  }
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

/** A rename is durable only after its folder is synced. */
async function syncFolder(folder: string) {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
