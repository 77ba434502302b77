import type { BlobStore } from './blob-store.ts'
import type { S3BlobStoreOptions } from './s3-blob-store.ts'

/** Loads the AWS SDK (17 MB of memory, a quarter of a second) only where files are kept in S3. */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { createS3BlobStore } = await import('./s3-blob-store.ts')
  return createS3BlobStore(options)
}
