import { createWriteStream, existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ArchiveWriter } from '../../platform/archive/index.ts'
import type { BackupHeader, BackupManifest } from '../../contract/backup.ts'
import { version } from '../../platform/kernel/index.ts'
import { backupArchive, BackupError, blobFolder, databaseFolders, journalFolder } from './layout.ts'

export interface FolderBackupOptions {
  /** Of a service that is stopped. The caller has locked it. */
  dataFolder: string
  /** Must not exist. */
  target: string
  schemas: BackupHeader['schemas']
  secretKeyCheck: string | null
  blobs: string | null
}

const skippedNames = new Set(['postmaster.pid', 'postmaster.opts', '.incoming'])

/** Writes the data folder of a stopped service into an archive. It has its name once it is complete and on the disk. */
export async function backUpFolder(options: FolderBackupOptions): Promise<BackupManifest> {
  const { dataFolder, target, schemas, secretKeyCheck, blobs } = options
  const unfinished = `${target}.unfinished`
  if (existsSync(target)) throw new BackupError(`${target} exists already`)
  const startedAt = new Date()
  const header = {
    format: 1 as const,
    portico: version,
    startedAt: startedAt.toISOString(),
    schemas,
    secretKeyCheck,
    blobs,
  }
  const stop = new AbortController()
  const writer = new ArchiveWriter(backupArchive, header, stop.signal)
  const folders = [...Object.values(databaseFolders), journalFolder, ...(blobs === null ? [blobFolder] : [])]
  async function write(): Promise<BackupManifest> {
    for (const folder of folders) await addTree(writer, dataFolder, folder)
    return writer.finish({ consistentAt: startedAt.toISOString() })
  }
  const written = write()
  written.catch((error: unknown) => writer.destroy(error as Error))
  try {
    await pipeline(writer.stream(), createWriteStream(unfinished, { mode: 0o600, flush: true }))
    const manifest = await written
    await rename(unfinished, target)
    return manifest
  } catch (error) {
    stop.abort(error)
    await rm(unfinished, { force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new BackupError(`there is no room for the backup in ${path.dirname(target)} (${code}): nothing was kept`)
    }
    throw error
  }
}

async function addTree(writer: ArchiveWriter, root: string, name: string): Promise<void> {
  const entries = await readdir(path.join(root, name), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )
  if (!entries) return
  writer.addFolder(name)
  for (const entry of entries) {
    const child = `${name}/${entry.name}`
    if (skippedNames.has(entry.name)) continue
    if (entry.isDirectory()) await addTree(writer, root, child)
    else if (entry.isFile() && isKept(child)) await writer.addFile(child, path.join(root, child))
  }
}

/** Not the spare files of the journal, which may be half written; a start makes others. */
function isKept(name: string): boolean {
  return !name.startsWith(`${journalFolder}/`) || backupArchive.isPath(name)
}
