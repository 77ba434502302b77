import path from 'node:path'
import { type BlobStore, createFolderBlobStore, openS3BlobStore } from '../../documents/documents/index.ts'
import { createMemoryEngine, createPostgresEngine, type SearchEngine } from '../../documents/retrieval/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/kernel/index.ts'
import { type Config, ConfigError } from '../config/index.ts'

/** Where documents are stored and searched, by the configuration. */

export function openBlobStore({ settings, secrets }: Config): Promise<BlobStore> {
  const { blobs } = settings.documents
  if (blobs.kind === 'folder') {
    const soleOwner = secrets.corpusDatabaseUrl === undefined && secrets.databaseUrl === undefined
    return createFolderBlobStore(path.join(settings.dataFolder, 'blobs'), { soleOwner })
  }
  if (blobs.bucket === undefined)
    throw new ConfigError('documents.blobs.bucket: name the bucket, since the blob store is s3.')
  const { s3AccessKeyId, s3SecretAccessKey } = secrets
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined)) {
    throw new ConfigError(
      'PORTICO_S3_ACCESS_KEY_ID and PORTICO_S3_SECRET_ACCESS_KEY belong together; set both or neither.',
    )
  }
  return openS3BlobStore({
    bucket: blobs.bucket,
    region: blobs.region,
    endpoint: blobs.endpoint,
    prefix: blobs.prefix,
    forcePathStyle: blobs.forcePathStyle,
    credentials:
      s3AccessKeyId === undefined || s3SecretAccessKey === undefined
        ? undefined
        : { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey },
  })
}

/** PostgreSQL searches its indexes. The embedded engine has one connection, which is too busy for searches, so it uses memory. */
export function createEngine({ settings }: Config, database: Database, log: Log): SearchEngine {
  if (database.engine === 'postgres') return createPostgresEngine({ database, log })
  return createMemoryEngine({ database, maximumBytes: settings.search.memoryMegabytes * 2 ** 20, log })
}
