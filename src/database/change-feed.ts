import type { Queryable } from './port.ts'

/**
 * Tells every instance, within a second, that something it holds in memory has changed. Not a log of what changed: a topic
 * and an id; the reader loads the row.
 */
export interface ChangeFeed {
  /** `onChange` gets the ids that changed since the last call, or 'all' when changes may have been missed. */
  subscribe(topic: string, onChange: (ids: string[] | 'all') => Promise<void>): () => void
  start(): Promise<void>
  /** Resolves when everything that was committed before the call has been delivered here: read-your-writes for our own API. */
  caughtUp(): Promise<void>
  close(): Promise<void>
}

/** Call inside the transaction that makes the change. */
export type RecordChange = (transaction: Queryable, topic: string, id: string) => Promise<void>
