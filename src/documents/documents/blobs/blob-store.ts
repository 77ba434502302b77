import type { Readable } from 'node:stream'
import type { ByteRange } from '../byte-range.ts'

/** Storage of uploaded files. Keys have the form `organisation/space/document` and never contain a client's file name. */
export interface BlobStore {
  /** Stores a file as a stream, never as a whole in memory. The file is durable when it resolves, and removed when it rejects. */
  put(key: string, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Rejects if it does not exist. The stream must be read or destroyed. */
  open(key: string, signal: AbortSignal, range?: ByteRange): Promise<Readable>
  /** Calls `use` with the path of a local copy, which exists until `use` ends. */
  withFile<T>(key: string, signal: AbortSignal, use: (filePath: string) => Promise<T>): Promise<T>
  /** No error if it does not exist. */
  delete(key: string): Promise<void>
  exists(key: string): Promise<boolean>
  /** All blobs, or those whose keys begin with `folder` and a slash. */
  list(folder?: string): AsyncIterable<{ key: string; modifiedAt: Date }>
  /** For the start-up line: `folder …` or `s3://…`. */
  readonly label: string
  /** The folders of `withFile`. Extraction processes may read nothing else. */
  readonly localFolders: readonly string[]
  close(): Promise<void>
}
