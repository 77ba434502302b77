import { createReadStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readArchive } from '../../platform/archive/index.ts'
import type { BackupHeader, BackupManifest } from '../../contract/backup.ts'
import { backupArchive, BackupError, restoredFolders, secretKeyCheck } from './layout.ts'
import { unfinishedFolder } from './unfinished-restore.ts'

const secretKeyFile = 'secret.key'
/** Folders of file systems, and of tools that watch them. */
const ignoredNames = new Set(['lost+found', '.DS_Store'])
const syncsAtOnce = 16
/** Write errors of a full disk, a quota or a file size limit. */
const noRoomCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

export interface RestoreOptions {
  archive: string
  /** Empty or missing. */
  dataFolder: string
  /** undefined: the backup's key is in the configuration of the service, or is given up. */
  secretKey: string | undefined
  /** Throws where another process uses the folder. */
  lockFolder(folder: string): () => void
  /** Throws where this version cannot read the databases with these migrations. */
  checkSchemas(schemas: BackupHeader['schemas']): void
  /** Opens the databases in the folder and closes them, so that a restore that does not work fails here. */
  checkDatabases(folder: string): Promise<void>
  onProgress?(bytes: number): void
}

export interface Restored {
  header: BackupHeader
  manifest: BackupManifest
}

/**
 * Restores a backup into an empty data folder. Everything is written and checked in a separate folder first; then the parts move to
 * their places, the databases last. Throws BackupError.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { dataFolder } = options
  const unfinished = path.join(dataFolder, unfinishedFolder)
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  const found = (await readdir(dataFolder)).filter((name) => !ignoredNames.has(name))
  if (found.length > 0 && !found.includes(unfinishedFolder)) {
    throw new BackupError(`${dataFolder} is not empty (it has ${found[0]}): restore into an empty or a new folder`)
  }
  const unlock = options.lockFolder(unfinished)
  try {
    // Left by a restore that did not end. It began in an empty folder, so everything is its own.
    for (const name of [...restoredFolders, secretKeyFile]) await remove(path.join(dataFolder, name))
    const parts = path.join(unfinished, 'parts')
    await remove(parts)
    const restored = await extractInto(parts, options)
    await options.checkDatabases(path.join(parts, 'database'))
    if (options.secretKey !== undefined) {
      await writeFile(path.join(parts, secretKeyFile), options.secretKey, { mode: 0o600, flag: 'wx' })
    }
    await syncTree(parts)
    for (const name of [secretKeyFile, ...restoredFolders]) {
      const part = path.join(parts, name)
      if (existsSync(part)) await rename(part, path.join(dataFolder, name))
    }
    await sync(dataFolder)
    unlock()
    await remove(unfinished)
    await sync(dataFolder)
    return restored
  } catch (error) {
    // The folder stays and names itself: nothing that looks complete is left.
    unlock()
    throw toBackupError(error, dataFolder)
  }
}

/** Reads and checks an archive, and writes nothing. */
export function checkArchive(
  archive: string,
  { checkSchemas, onProgress }: Pick<RestoreOptions, 'checkSchemas' | 'onProgress'>,
): Promise<Restored> {
  let bytes = 0
  return readArchive(openArchive(archive), backupArchive, {
    header: ({ schemas }) => checkSchemas(schemas),
    folder: async () => {},
    async file(_name, _size, content) {
      for await (const chunk of content) onProgress?.((bytes += chunk.length))
    },
  })
}

async function extractInto(folder: string, options: RestoreOptions): Promise<Restored> {
  const { secretKey, checkSchemas, onProgress } = options
  let bytes = 0
  const made = new Set<string>()
  const makeFolder = async (name: string) => {
    if (made.has(name)) return
    await mkdir(path.join(folder, name), { recursive: true, mode: 0o700 })
    made.add(name)
  }
  await makeFolder('')
  return readArchive(openArchive(options.archive), backupArchive, {
    header({ schemas, secretKeyCheck: expected }) {
      checkSchemas(schemas)
      if (secretKey !== undefined && expected !== null && secretKeyCheck(secretKey) !== expected) {
        throw new BackupError(
          'the secret key is not the one of the backup: it could not decrypt what the databases contain',
        )
      }
    },
    folder: makeFolder,
    async file(name, _size, content) {
      const file = path.join(folder, name)
      await makeFolder(path.dirname(name))
      const handle = await open(file, 'wx', 0o600)
      try {
        for await (const chunk of content) {
          await handle.writeFile(chunk)
          onProgress?.((bytes += chunk.length))
        }
      } finally {
        await handle.close()
      }
    },
  })
}

function openArchive(archive: string) {
  return createReadStream(archive, { highWaterMark: 256 * 1024 })
}

function remove(target: string): Promise<void> {
  return rm(target, { recursive: true, force: true })
}

/** Makes everything in the folder durable. */
async function syncTree(folder: string): Promise<void> {
  const targets = [folder]
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    targets.push(path.join(entry.parentPath, entry.name))
    if (targets.length < syncsAtOnce) continue
    await Promise.all(targets.splice(0).map(sync))
  }
  await Promise.all(targets.map(sync))
}

async function sync(target: string): Promise<void> {
  const handle = await open(target, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function toBackupError(error: unknown, dataFolder: string): unknown {
  const { code, path: file } = error as NodeJS.ErrnoException
  if (noRoomCodes.has(code ?? '')) {
    return new BackupError(`there is no room for the backup in ${dataFolder} (${code}): nothing was restored`, {
      cause: error,
    })
  }
  if (code === 'ENOENT' || code === 'EACCES')
    return new BackupError(`${file} cannot be read or written (${code})`, { cause: error })
  return error
}
