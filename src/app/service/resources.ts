import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import { type BlobStore, createFolderBlobStore, openS3BlobStore } from '../../documents/documents/index.ts'
import type { CatalogueConfiguration } from '../../gateway/models/index.ts'

/** External resources of the configuration: blob store, certificates, providers. */

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

/** Providers and models of the configuration file with their keys, and the settings of the environment. */
export function toCatalogueConfiguration({ settings, secrets }: Config): CatalogueConfiguration {
  return {
    providers: settings.providers.map(
      ({ apiKeyEnv: _key, apiKeyFile: _file, credentialsEnv: _env, credentialsFile: _path, ...provider }) => ({
        ...provider,
        apiKey: secrets.providerKeys.get(provider.id),
        credentials: secrets.providerCredentials.get(provider.id),
      }),
    ),
    models: settings.models,
    openaiApiKey: secrets.openaiApiKey,
    ollamaUrl: settings.ollama.detect ? settings.ollama.url : undefined,
  }
}

/** Additional certificate authorities in PEM format. */
export function readCertificates({ settings }: Config): string | undefined {
  const file = settings.network.caFile
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`network.caFile: cannot read ${file}: ${(error as Error).message}`)
  }
}
