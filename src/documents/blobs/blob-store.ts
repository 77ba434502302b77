import type { Readable } from 'node:stream'

/** Where uploaded files lie. Keys are ours (`organisation/space/document`), never a client's file name. */
export interface BlobStore {
  /** Streams a file in; durable when it resolves, nothing left of it when it rejects. Never holds it whole in memory. */
  put(key: string, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  open(key: string, signal: AbortSignal): Promise<Readable>
  /** Calls `use` with the path of a local copy that lives as long as the call. */
  withFile<T>(key: string, signal: AbortSignal, use: (filePath: string) => Promise<T>): Promise<T>
  /** No error where it does not exist. */
  delete(key: string): Promise<void>
  exists(key: string): Promise<boolean>
  list(): AsyncIterable<{ key: string; modifiedAt: Date }>
  /** For the start-up line: `folder …` or `s3://…`. */
  readonly label: string
  /** Where `withFile` has its files; extraction processes may read nothing else. */
  readonly localFolders: readonly string[]
  close(): Promise<void>
}
