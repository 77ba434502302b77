import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { AppError, describeError, isAppError } from '../../../platform/kernel/index.ts'
import type { ByteRange } from '../byte-range.ts'
import type { BlobStore } from './blob-store.ts'

export interface S3BlobStoreOptions {
  bucket: string
  region: string | undefined
  /** For S3-compatible stores (MinIO, Ceph, R2). */
  endpoint: string | undefined
  prefix: string
  forcePathStyle: boolean
  /** Undefined: the AWS default credential chain. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
}

/** 5 MiB is the smallest part that S3 accepts; four parts in flight take 20 MiB of memory per upload. */
const partBytes = 5 * 1024 * 1024
const partsInFlight = 4
/** Bounds the time of an upload when the store does not respond. */
const connectTimeoutMs = 5_000
const silenceTimeoutMs = 60_000

/** Blobs as objects of an S3 bucket; uploads are multipart streams, which are aborted when they fail. */
export function createS3BlobStore(options: S3BlobStoreOptions): BlobStore {
  const client = createClient(options)
  const locate = (key: string) => ({ Bucket: options.bucket, Key: options.prefix + key })

  async function open(key: string, signal: AbortSignal, range?: ByteRange): Promise<Readable> {
    const part = range && { Range: `bytes=${range.first}-${range.last}` }
    const { Body } = await client.send(new GetObjectCommand({ ...locate(key), ...part }), { abortSignal: signal })
    if (!(Body instanceof Readable)) throw new Error(`the object ${key} has no readable body`)
    return Body
  }

  return {
    label: `s3://${options.bucket}/${options.prefix}`,
    localFolders: [tmpdir()],
    async put(key, source, signal) {
      await put(
        new Upload({
          client,
          params: { ...locate(key), Body: Readable.from(source, { objectMode: false }) },
          partSize: partBytes,
          queueSize: partsInFlight,
          leavePartsOnError: false,
        }),
        signal,
      )
    },
    open,
    async withFile(key, signal, use) {
      const folder = await mkdtemp(path.join(tmpdir(), 'portico-blob-'))
      try {
        const file = path.join(folder, 'blob')
        await pipeline(await open(key, signal), createWriteStream(file, { mode: 0o600 }), { signal })
        return await use(file)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand(locate(key)))
    },
    async exists(key) {
      try {
        await client.send(new HeadObjectCommand(locate(key)))
        return true
      } catch (error) {
        if ((error as { name?: string }).name === 'NotFound') return false
        throw error
      }
    },
    async *list(folder) {
      const prefix = options.prefix + (folder === undefined ? '' : `${folder}/`)
      let token: string | undefined
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: options.bucket, Prefix: prefix, ContinuationToken: token }),
        )
        for (const { Key, LastModified } of page.Contents ?? []) {
          if (Key !== undefined)
            yield { key: Key.slice(options.prefix.length), modifiedAt: LastModified ?? new Date(0) }
        }
        token = page.NextContinuationToken
      } while (token !== undefined)
    },
    close() {
      client.destroy()
      return Promise.resolve()
    },
  }
}

function createClient(options: S3BlobStoreOptions): S3Client {
  return new S3Client({
    region: options.region ?? 'us-east-1',
    forcePathStyle: options.forcePathStyle,
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceTimeoutMs },
    // Some S3-compatible stores reject the optional checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
  })
}

async function put(upload: Upload, signal: AbortSignal): Promise<void> {
  const abort = () => void upload.abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    await upload.done()
  } catch (error) {
    signal.throwIfAborted()
    throw isAppError(error) ? error : storeFailed(error)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** A failure of the object store, not of the client: the same upload may succeed later. */
function storeFailed(error: unknown): AppError {
  return new AppError(
    'overloaded',
    'The file could not be stored at the moment. Nothing was stored; try again later.',
    {
      retryAfterSeconds: 10,
      internal: `the object store failed: ${describeError(error)}`,
      cause: error,
    },
  )
}
