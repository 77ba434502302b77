import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  backUpFolder,
  BackupError,
  checkArchive,
  isUnfinishedRestore,
  restore,
  secretKeyCheck,
} from '../backup/index.ts'
import type { BackupHeader } from '../../contract/backup.ts'
import { knownMigrations, lockFolder, readEmbeddedSchema } from '../../platform/database/index.ts'

/** Backup and restore of a data folder without a service. */

type Report = (text: string) => void

const megabyte = 1024 * 1024
const reportEveryBytes = 64 * megabyte

export interface OfflineBackupOptions {
  dataFolder: string
  target: string
  /** The configured secret key; else that of the data folder. */
  secretKey?: string
}

export async function backUpOffline({ dataFolder, target, secretKey }: OfflineBackupOptions, report: Report) {
  const databases = path.join(dataFolder, 'database')
  if (isUnfinishedRestore(dataFolder)) throw new BackupError(`a restore into ${dataFolder} did not end`)
  if (!existsSync(path.join(databases, 'control'))) {
    throw new BackupError(`${dataFolder} has no embedded database: name the data folder of a service`)
  }
  const unlock = lockFolder(databases)
  try {
    report('opening the databases')
    const schemas = await readSchemas(databases)
    const keyFile = path.join(dataFolder, 'secret.key')
    const key = secretKey ?? (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : undefined)
    report('writing the archive')
    await backUpFolder({
      dataFolder,
      target,
      schemas,
      secretKeyCheck: key === undefined ? null : secretKeyCheck(key),
      blobs: null,
    })
  } finally {
    unlock()
  }
  return describe(await checkArchive(target, { checkSchemas, onProgress: progressOf(report, 'checked') }))
}

export interface OfflineRestoreOptions {
  archive: string
  /** Without it, the archive is only read and checked. */
  dataFolder?: string
  secretKey?: string
}

export async function restoreOffline({ archive, dataFolder, secretKey }: OfflineRestoreOptions, report: Report) {
  if (dataFolder === undefined) {
    return describe(await checkArchive(archive, { checkSchemas, onProgress: progressOf(report, 'checked') }))
  }
  const restored = await restore({
    archive,
    dataFolder,
    secretKey,
    lockFolder,
    checkSchemas,
    async checkDatabases(folder) {
      report('opening the databases')
      await readSchemas(folder)
    },
    onProgress: progressOf(report, 'restored'),
  })
  return describe(restored)
}

async function readSchemas(databases: string): Promise<BackupHeader['schemas']> {
  return {
    control: await readEmbeddedSchema(path.join(databases, 'control')),
    corpus: await readEmbeddedSchema(path.join(databases, 'corpus')),
  }
}

/** An older schema is fine: the next start migrates it. */
function checkSchemas(schemas: BackupHeader['schemas']): void {
  for (const name of ['control', 'corpus'] as const) {
    const known = new Set(knownMigrations(name))
    const unknown = schemas[name].find((migration) => !known.has(migration))
    if (unknown !== undefined) {
      throw new BackupError(
        `the ${name} database of the backup has the migration ${unknown}, which this version of Portico does not have: use the newer version`,
      )
    }
  }
}

function progressOf(report: Report, done: string): (bytes: number) => void {
  let next = reportEveryBytes
  return (bytes) => {
    if (bytes < next) return
    next = bytes + reportEveryBytes
    report(`${done} ${Math.round(bytes / megabyte)} MB`)
  }
}

function describe({ header, manifest }: Awaited<ReturnType<typeof checkArchive>>) {
  const { portico, secretKeyCheck: key, blobs, schemas } = header
  const { consistentAt, files, bytes } = manifest
  const last = { control: schemas.control.at(-1) ?? null, corpus: schemas.corpus.at(-1) ?? null }
  return {
    portico,
    consistentAt,
    files,
    bytes,
    schemas: last,
    secretKey: key === null ? 'none' : 'not in the archive',
    blobs,
  }
}
