import { type ChangeSource, type Clock, describeError, type Log, sharedOwner } from '../kernel/index.ts'
import type { Database, Queryable } from './port.ts'

/**
 * Notifies every instance, within a second, that a row in its memory has changed. A change is a topic and an id; the reader
 * loads the row.
 */
export interface ChangeFeed extends ChangeSource {
  /** Calls every subscriber with 'all', so that no change is missed between its load and the first change. Rejects when one fails. */
  start(): Promise<void>
  close(): Promise<void>
}

/** Call inside the transaction that makes the change. */
export type RecordChange = (transaction: Queryable, topic: string, id: string) => Promise<void>

const channel = 'portico_changes'
// NOTIFY only makes delivery faster. The poll delivers within a second when notifications are lost.
const pollMs = 500
const pruneEveryMs = 60_000
// A reader that was offline longer than this reloads everything.
const keepMinutes = 10
/** Most changes delivered by id. Above it, reloading everything is cheaper. */
const maximumBatch = 1_000

/** Records the change. It becomes visible, and notifies the readers, when the transaction commits. */
export const recordChange: RecordChange = async (transaction, topic, id) => {
  await transaction.query(
    `with head as (update change_feed_head set sequence = sequence + 1 returning sequence)
     insert into change_feed (sequence, topic, subject_id) select sequence, $1, $2 from head
     returning pg_notify('${channel}', '')::text`,
    [topic, id],
  )
}

/** The reading side of the feed; `database` is the control database. */
export function createChangeFeed({ database, clock, log }: { database: Database; clock: Clock; log: Log }): ChangeFeed {
  const shared = database.for(sharedOwner)
  const subscribers = createSubscribers()
  let seen: bigint | undefined
  let stopping = false
  const stops: (() => unknown)[] = []

  const reading = createSharedRun(async () => {
    const head = await loadHead(shared)
    if (seen === undefined || head === seen) return
    // A replica that was behind has become the server: the numbers that it lost are given again, to other changes.
    if (head < seen) {
      seen = head
      return subscribers.note('all')
    }
    const missed = head - seen
    const changes = missed > maximumBatch ? [] : await loadChanges(shared, seen, head)
    seen = head
    // Numbers have no gaps, so fewer rows than numbers means that some were pruned before they were read here.
    subscribers.note(BigInt(changes.length) === missed ? changes : 'all')
  })

  async function readAndDeliver(): Promise<void> {
    await reading.run()
    await subscribers.deliver()
  }

  function warn(error: unknown): void {
    if (!stopping) log.warn({ reason: describeError(error) }, 'changes could not be read or applied; retrying')
  }

  function wake(): void {
    if (!stopping) void readAndDeliver().catch(warn)
  }

  return {
    subscribe: subscribers.add,
    async start() {
      stops.push(await database.listen(channel, wake))
      database.onReconnect(wake)
      seen = await loadHead(shared)
      subscribers.note('all')
      await readAndDeliver()
      stops.push(clock.every(pollMs, wake))
      const onPruneError = (error: unknown) => log.warn({ reason: describeError(error) }, 'old changes were not pruned')
      stops.push(clock.every(pruneEveryMs, () => void prune(shared).catch(onPruneError)))
    },
    async caughtUp() {
      // The change is committed already: the poll delivers it again to a subscriber that fails, and the caller continues.
      await readAndDeliver().catch(warn)
    },
    async close() {
      stopping = true
      for (const stop of stops.splice(0)) await stop()
      await Promise.allSettled([reading.current(), subscribers.delivered()])
    },
  }
}

/** Runs `work` one call at a time. A call of `run` starts a new run; the calls that arrive during a run share the next one. */
function createSharedRun(work: () => Promise<void>) {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined

  function run(): Promise<void> {
    if (!current) {
      current = work().finally(() => (current = undefined))
      return current
    }
    next ??= current
      .catch(() => {})
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
  return { run, current: () => current }
}

interface Change {
  topic: string
  subjectId: string
}

interface Subscriber {
  topic: string
  onChange(ids: string[] | 'all'): Promise<void>
  /** Changes that are not delivered yet. */
  pending: Set<string> | 'all'
  delivering: Promise<void> | undefined
}

/** The subscribers, each with the changes that are not delivered to it yet. */
function createSubscribers() {
  const subscribers = new Set<Subscriber>()

  return {
    add(topic: string, onChange: Subscriber['onChange']): () => void {
      const subscriber: Subscriber = { topic, onChange, pending: new Set(), delivering: undefined }
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },

    /** 'all' if changes may have been missed. */
    note(changes: readonly Change[] | 'all'): void {
      for (const subscriber of subscribers) {
        if (changes === 'all') subscriber.pending = 'all'
        else if (subscriber.pending !== 'all') {
          for (const change of changes) if (change.topic === subscriber.topic) subscriber.pending.add(change.subjectId)
        }
      }
    },

    /** Resolves when nothing is pending; rejects when a subscriber fails, after all have been called. */
    async deliver(): Promise<void> {
      const results = await Promise.allSettled([...subscribers].map(deliverTo))
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason
      }
    },

    delivered: () => Promise.allSettled([...subscribers].map((subscriber) => subscriber.delivering)),
  }
}

function deliverTo(subscriber: Subscriber): Promise<void> {
  if (!subscriber.delivering && !hasPending(subscriber)) return Promise.resolve()
  subscriber.delivering ??= deliverPending(subscriber)
  return subscriber.delivering
}

async function deliverPending(subscriber: Subscriber): Promise<void> {
  try {
    while (hasPending(subscriber)) {
      const ids = subscriber.pending === 'all' ? 'all' : [...subscriber.pending]
      subscriber.pending = new Set()
      await subscriber.onChange(ids)
    }
  } catch (error) {
    // The subscriber may have applied some of the changes, so the next poll makes it reload everything.
    subscriber.pending = 'all'
    throw error
  } finally {
    // In the same turn as the last check of `pending`, so that no change is missed in between.
    subscriber.delivering = undefined
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
  return database.query<Change>(
    `select topic, subject_id as "subjectId" from change_feed where sequence > $1 and sequence <= $2 order by sequence`,
    [after, through],
  )
}

async function prune(database: Queryable): Promise<void> {
  await database.execute(`delete from change_feed where recorded_at < clock_timestamp() - make_interval(mins => $1)`, [
    keepMinutes,
  ])
}
