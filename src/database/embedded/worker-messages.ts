/** What the two threads say to each other; bytes are PostgreSQL's wire protocol. */

export interface WorkerTask {
  /** `initialise` makes a new database folder and ends; `serve` opens it. */
  kind: 'initialise' | 'serve'
  folder: string
  sharedBuffersMegabytes: number
}

export type ToWorker = Uint8Array<ArrayBuffer> | 'close'

/** `unsynced`: data may not have reached the disk; nothing that this database says afterwards is to be trusted. */
export type FromWorker =
  | Uint8Array
  | { kind: 'ready' }
  | { kind: 'done' }
  | { kind: 'failed'; message: string }
  | { kind: 'unsynced'; message: string }
