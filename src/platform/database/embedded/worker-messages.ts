/** Messages between the main thread and the worker. Bytes are PostgreSQL's wire protocol. */

export interface WorkerTask {
  /** `initialise` creates a database folder and ends; `serve` opens it. */
  kind: 'initialise' | 'serve'
  folder: string
  sharedBuffersMegabytes: number
}

export type ToWorker = Uint8Array<ArrayBuffer> | 'close'

/** `unsynced`: data may not have reached the disk, so later answers of this database must not be used. */
export type FromWorker =
  | Uint8Array
  | { kind: 'ready' }
  | { kind: 'done' }
  | { kind: 'failed'; message: string }
  | { kind: 'unsynced'; message: string }
