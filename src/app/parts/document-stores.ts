import path from 'node:path'
import { type BlobStore, createFolderBlobStore, openS3BlobStore } from '../../documents/documents/index.ts'
import {
  assertLance,
  createLanceEngine,
  createMemoryEngine,
  createPostgresEngine,
  type LanceStorage,
  type SearchEngine,
} from '../../documents/retrieval/index.ts'
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
  const credentials = s3Credentials(secrets)
  return openS3BlobStore({
    bucket: blobs.bucket,
    region: blobs.region,
    endpoint: blobs.endpoint,
    prefix: blobs.prefix,
    forcePathStyle: blobs.forcePathStyle,
    credentials,
  })
}

function s3Credentials({ s3AccessKeyId, s3SecretAccessKey }: Config['secrets']) {
  if ((s3AccessKeyId === undefined) !== (s3SecretAccessKey === undefined)) {
    throw new ConfigError(
      'PORTICO_S3_ACCESS_KEY_ID and PORTICO_S3_SECRET_ACCESS_KEY belong together; set both or neither.',
    )
  }
  return s3AccessKeyId === undefined || s3SecretAccessKey === undefined
    ? undefined
    : { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey }
}

/** PostgreSQL searches its indexes. The embedded engine has one connection, which is too busy for searches, so it uses memory. */
export function createEngine(config: Config, database: Database, log: Log): SearchEngine {
  const { settings } = config
  const memoryBytes = settings.search.memoryMegabytes * 2 ** 20
  if (settings.search.engine === 'lance') {
    try {
      assertLance()
    } catch (error) {
      throw new ConfigError((error as Error).message)
    }
    const former = database.engine === 'postgres' ? { engine: createPostgresEngine({ database }) } : undefined
    return createLanceEngine({ database, storage: lanceStorage(config, memoryBytes), log, ...(former && { former }) })
  }
  if (database.engine === 'postgres') return createPostgresEngine({ database, log })
  return createMemoryEngine({ database, maximumBytes: memoryBytes, log })
}

/** LanceDB's options of an object store are those of https://docs.lancedb.com/storage/configuration. Without keys it looks for them itself. */
function lanceStorage({ settings, secrets }: Config, cacheBytes: number): LanceStorage {
  const address = settings.search.lanceAddress ?? path.join(settings.dataFolder, 'lance')
  if (!address.startsWith('s3://')) return { address: path.resolve(address), options: {}, cacheBytes }
  const { region, endpoint, forcePathStyle } = settings.documents.blobs
  const keys = s3Credentials(secrets)
  const options = {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint, allow_http: String(endpoint.startsWith('http:')) }),
    virtual_hosted_style_request: String(!forcePathStyle),
    ...(keys && { access_key_id: keys.accessKeyId, secret_access_key: keys.secretAccessKey }),
  }
  return { address, options, cacheBytes }
}
