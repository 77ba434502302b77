import { createHmac } from 'node:crypto'
import type { ArchiveKind } from '../../platform/archive/index.ts'
import {
  type BackupHeader,
  backupHeaderName,
  backupHeaderSchema,
  type BackupManifest,
  backupManifestName,
  backupManifestSchema,
} from '../../contract/backup.ts'

/**
 * Where each file is in a backup and in a data folder: `database/control/…`, `database/corpus/…`, `ledger-journal/…`, `blobs/…`.
 */

export const databaseFolders = { control: 'database/control', corpus: 'database/corpus' } as const
export const journalFolder = 'ledger-journal'
export const blobFolder = 'blobs'
/** Folders that a restore creates. */
export const restoredFolders = [blobFolder, journalFolder, 'database'] as const

/** Segments, and the mark of their end. */
const journalFiles = String.raw`(?:\d{16}\.segment|end\.mark)`
const part = String.raw`[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}`
const paths = new RegExp(
  String.raw`^(?:database/(?:control|corpus)(?:/${part}){0,12}|ledger-journal(?:/${journalFiles})?|blobs(?:/[A-Za-z0-9_-]{1,200}){0,8})$`,
)

/** The archive is not a complete backup that this version can restore, or it cannot be written; the message says why. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BackupError'
  }
}

/** No archive can write outside of the data folder: only these paths are accepted. */
export const backupArchive: ArchiveKind<BackupHeader, BackupManifest> = {
  noun: 'backup',
  headerName: backupHeaderName,
  manifestName: backupManifestName,
  headerSchema: backupHeaderSchema,
  manifestSchema: backupManifestSchema,
  hashesHeader: false,
  maximumTextBytes: 4 * 1024 * 1024,
  isPath: (name) => name.length <= 1_000 && paths.test(name),
  toError: (message, options) => new BackupError(message, options),
}

/** Identifies a secret key without revealing it. */
export function secretKeyCheck(secretKey: string): string {
  return createHmac('sha256', secretKey).update('portico backup v1').digest('hex').slice(0, 32)
}
