import type { Queryable } from '../../platform/database/index.ts'

/**
 * A table of messages on their way. Next to the columns of a message it has `attempts`, `next_attempt_at`, `finished_at` and `failure`, with an
 * index of unfinished rows by `next_attempt_at`.
 */
export interface OutboxTable {
  name: string
  /** The primary key. */
  key: string
  /** What a claim returns. */
  columns: string
}

/** A message as it is claimed. */
export interface OutboxMessage {
  id: string
  /** Failed attempts so far. */
  attempts: number
}

export function createOutboxStore<Message extends OutboxMessage>(
  database: Queryable,
  { name, key, columns }: OutboxTable,
) {
  return {
    /** Takes messages that are due. They are due again after `claimMs` unless they are finished or postponed, because the process may die. */
    claim: (limit: number, claimMs: number): Promise<Message[]> =>
      database.query<Message>(
        `update ${name} set next_attempt_at = clock_timestamp() + $2::int8 * interval '1 millisecond'
         where ${key} in (
           select ${key} from ${name} where finished_at is null and next_attempt_at <= clock_timestamp()
           order by next_attempt_at limit $1 for update skip locked)
         returning ${key} as id, ${columns}, attempts`,
        [limit, claimMs],
      ),

    /** `failure` null: delivered. */
    finish: (id: string, failure: string | null): Promise<number> =>
      database.execute(
        `update ${name} set finished_at = clock_timestamp(), attempts = attempts + 1, failure = $2 where ${key} = $1`,
        [id, failure],
      ),

    postpone: (id: string, delayMs: number, failure: string): Promise<number> =>
      database.execute(
        `update ${name} set attempts = attempts + 1, failure = $3,
           next_attempt_at = clock_timestamp() + $2::int8 * interval '1 millisecond' where ${key} = $1`,
        [id, delayMs, failure],
      ),
  }
}
