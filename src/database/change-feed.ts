import { type ChangeSource, type Clock, describeError, type Log } from '../kernel/index.ts'
import type { Database, Queryable } from './port.ts'

/**
 * Tells every instance, within a second, that something it holds in memory has changed. Not a log of what changed: a topic
 * and an id; the reader loads the row.
 */
export interface ChangeFeed extends ChangeSource {
  /** Calls every subscriber with 'all', so that what it loads has no gap before the first change; rejects when one fails. */
  start(): Promise<void>
  close(): Promise<void>
}

/** Call inside the transaction that makes the change. */
export type RecordChange = (transaction: Queryable, topic: string, id: string) => Promise<void>

const channel = 'portico_changes'
// NOTIFY is for speed only; the poll alone keeps the promise of one second when notifications are lost.
const pollMs = 500
const pruneEveryMs = 60_000
// A reader that was away longer is told 'all'.
const keepMinutes = 10
/** Most changes delivered one by one; after a longer absence loading everything is cheaper. */
const maximumBatch = 1_000

/** Writes the change down; it becomes visible, and is told, when the transaction commits. */
export const recordChange: RecordChange = async (transaction, topic, id) => {
  await transaction.query(
    `with head as (update change_feed_head set sequence = sequence + 1 returning sequence)
     insert into change_feed (sequence, topic, subject_id) select sequence, $1, $2 from head
     returning pg_notify('${channel}', '')::text`,
    [topic, id],
  )
}

interface Subscriber {
  topic: string
  onChange(ids: string[] | 'all'): Promise<void>
  /** What it has not been told yet. */
  pending: Set<string> | 'all'
  delivering: Promise<void> | undefined
}

/** The reading side of the feed; `database` is the control database. */
export function createChangeFeed({ database, clock, log }: { database: Database; clock: Clock; log: Log }): ChangeFeed {
  const subscribers = new Set<Subscriber>()
  let seen: bigint | undefined
  let reading: Promise<void> | undefined
  let readAgain: Promise<void> | undefined
  let stopping = false
  const stops: (() => unknown)[] = []

  async function readNew(): Promise<void> {
    const head = await loadHead(database)
    if (seen === undefined || head <= seen) return
    const missed = head - seen
    const changes = missed > maximumBatch ? [] : await loadChanges(database, seen, head)
    seen = head
    // Numbers have no gaps, so fewer rows than numbers means that some were pruned before they were read here.
    const complete = BigInt(changes.length) === missed
    for (const subscriber of subscribers) {
      if (!complete) subscriber.pending = 'all'
      else if (subscriber.pending !== 'all') {
        for (const change of changes) if (change.topic === subscriber.topic) subscriber.pending.add(change.subjectId)
      }
    }
  }

  /** A read that begins after the call, shared by all who ask while one is under way. */
  function read(): Promise<void> {
    if (!reading) {
      reading = readNew().finally(() => (reading = undefined))
      return reading
    }
    readAgain ??= reading
      .catch(() => {})
      .then(() => {
        readAgain = undefined
        return read()
      })
    return readAgain
  }

  function deliver(subscriber: Subscriber): Promise<void> {
    if (!subscriber.delivering && !hasPending(subscriber)) return Promise.resolve()
    subscriber.delivering ??= deliverAll(subscriber)
    return subscriber.delivering
  }

  async function deliverAll(subscriber: Subscriber): Promise<void> {
    try {
      while (hasPending(subscriber)) {
        const ids = subscriber.pending === 'all' ? 'all' : [...subscriber.pending]
        subscriber.pending = new Set()
        await subscriber.onChange(ids)
      }
    } catch (error) {
      // It may have taken some of them: the next poll lets it load everything.
      subscriber.pending = 'all'
      throw error
    } finally {
      // In the same turn as the last look at `pending`, so that nothing slips in between.
      subscriber.delivering = undefined
    }
  }

  async function readAndDeliver(): Promise<void> {
    await read()
    const results = await Promise.allSettled([...subscribers].map(deliver))
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason
    }
  }

  function sayLater(error: unknown): void {
    if (!stopping) log.warn({ reason: describeError(error) }, 'changes could not be read or taken in; trying again')
  }

  function wake(): void {
    if (!stopping) void readAndDeliver().catch(sayLater)
  }

  async function prune(): Promise<void> {
    await database.execute(
      `delete from change_feed where recorded_at < clock_timestamp() - make_interval(mins => $1)`,
      [keepMinutes],
    )
  }

  return {
    subscribe(topic, onChange) {
      const subscriber: Subscriber = { topic, onChange, pending: new Set(), delivering: undefined }
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },
    async start() {
      stops.push(await database.listen(channel, wake))
      database.onReconnect(wake)
      seen = await loadHead(database)
      for (const subscriber of subscribers) subscriber.pending = 'all'
      await readAndDeliver()
      stops.push(clock.every(pollMs, wake))
      const onPruneError = (error: unknown) => log.warn({ reason: describeError(error) }, 'old changes were not pruned')
      stops.push(clock.every(pruneEveryMs, () => void prune().catch(onPruneError)))
    },
    async caughtUp() {
      // What was committed stays committed: a subscriber that fails is tried again by the poll, and the caller goes on.
      await readAndDeliver().catch(sayLater)
    },
    async close() {
      stopping = true
      for (const stop of stops.splice(0)) await stop()
      await Promise.allSettled([reading, ...[...subscribers].map((subscriber) => subscriber.delivering)])
    },
  }
}

function hasPending({ pending }: Subscriber): boolean {
  return pending === 'all' || pending.size > 0
}

async function loadHead(database: Queryable): Promise<bigint> {
  const [head] = await database.query<{ sequence: bigint }>('select sequence from change_feed_head')
  return head!.sequence
}

function loadChanges(database: Queryable, after: bigint, through: bigint) {
  return database.query<{ topic: string; subjectId: string }>(
    `select topic, subject_id as "subjectId" from change_feed where sequence > $1 and sequence <= $2 order by sequence`,
    [after, through],
  )
}
