import { createHmac } from 'node:crypto'

/**
 * Where each file is in a backup and in a data folder: `database/control/…`, `database/corpus/…`, `ledger-journal/…`, `blobs/…`. The
 * entries `sums/…` have the SHA-256 of the files before them, in the format of sha256sum.
 */

export const databaseFolders = { control: 'database/control', corpus: 'database/corpus' } as const
export const journalFolder = 'ledger-journal'
export const blobFolder = 'blobs'
export const sumsFolder = 'sums'
/** Folders that a restore creates. */
export const restoredFolders = [blobFolder, journalFolder, 'database'] as const

/** After so many files their sums follow: neither backup nor restore keeps those of all files in memory. */
export const filesPerSums = 1_000

const part = String.raw`[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}`
const paths = new RegExp(
  String.raw`^(?:database/(?:control|corpus)(?:/${part}){0,12}|ledger-journal(?:/\d{16}\.segment)?|blobs(?:/[A-Za-z0-9_-]{1,200}){0,8})$`,
)

/** Whether a restore may write the entry. Nothing else is accepted, so that no archive can write outside of the data folder. */
export function isRestorablePath(name: string): boolean {
  return name.length <= 1_000 && paths.test(name)
}

/** Identifies a secret key without revealing it. */
export function secretKeyCheck(secretKey: string): string {
  return createHmac('sha256', secretKey).update('portico backup v1').digest('hex').slice(0, 32)
}

export function sumLine(sha256: string, name: string): string {
  return `${sha256}  ${name}\n`
}
