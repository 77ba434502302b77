import { z } from 'zod'

/** A backup: a tar archive whose first entry is the header and whose last one is the manifest. */

const schemas = z.strictObject({
  control: z.array(z.string().max(200)).max(10_000),
  corpus: z.array(z.string().max(200)).max(10_000),
})

export const backupHeaderSchema = z.strictObject({
  format: z.literal(1).describe('Version of the layout of the archive.'),
  portico: z.string().describe('Version of Portico that made it.'),
  startedAt: z.iso.datetime(),
  schemas: schemas.describe('Names of the migrations that each database has.'),
  secretKeyCheck: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullable()
    .describe('Identifies the secret key, which is not in the archive; null: there was none.'),
  blobs: z.string().nullable().describe('null: in the archive. Otherwise the object store in which they stay.'),
})
export type BackupHeader = z.output<typeof backupHeaderSchema>

export const backupManifestSchema = z.strictObject({
  format: z.literal(1),
  consistentAt: z.iso.datetime().describe('The databases and the journal of the ledger are as of this moment.'),
  finishedAt: z.iso.datetime(),
  files: z.int().min(0),
  bytes: z.int().min(0),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the lines of all entries `sums/…`, in their order.'),
})
export type BackupManifest = z.output<typeof backupManifestSchema>

/** Entries of the archive. */
export const backupHeaderName = 'portico-backup.json'
export const backupManifestName = 'manifest.json'

export const archiveSchema = {
  description: 'The archive. It is complete only with its last entry, the manifest.',
  content: { 'application/x-tar': { schema: z.string().meta({ format: 'binary' }) } },
}
