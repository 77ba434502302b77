import type { Database } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, repeatWork, sharedOwner } from '../../platform/kernel/index.ts'
import { digestConversation } from './chain.ts'
import type { SubjectDigest } from './storable-turns.store.ts'
import { keepMessages, makeTurn } from './make-turn.ts'
import { removeOldOwn } from './own/own-retention.store.ts'
import { removeOld } from './retention.store.ts'
import type { AskedQuestion, GivenAnswer } from './turn.ts'
import { createTurnWriter } from './turn-writer.ts'
import { writeTurns } from './write-turns.store.ts'

export type ConversationService = ReturnType<typeof createConversations>

interface ConversationDependencies {
  database: Database
  subjectDigest: SubjectDigest
  clock: Clock
  log: Log
}

/** A killed process loses the answers of this time. */
const flushEveryMs = 1_000
const sweepEveryMs = 600_000

/** Stores the conversations of published chats and of people in the console, in batches next to the answers. */
export function createConversations({ database, subjectDigest, clock, log }: ConversationDependencies) {
  const writer = createTurnWriter({
    write: (spaceId, turns) =>
      writeTurns(database.for(sharedOwner), spaceId, turns, { nowMs: clock.now(), subjectDigest }),
    log,
  })
  /** Resolves when every answer that has ended is with the writer, in the order of their ends. */
  let adding = Promise.resolve()

  async function flush() {
    await adding
    await writer.flush()
  }

  const stopFlushing = clock.every(flushEveryMs, () => void flush())
  const sweeps = repeatWork({
    clock,
    everyMs: sweepEveryMs,
    async work(signal) {
      await removeOld(database.for(sharedOwner), clock.now(), signal)
      await removeOldOwn(database.for(sharedOwner), clock.now(), signal)
    },
    onFailed: (error) => log.warn({ reason: describeError(error) }, 'old conversations could not be removed'),
  })

  return {
    /** Keeps a question of a Space with `keepConversations`. Call the result once, with what became of it. Neither throws or waits. */
    begin({ messages, ...place }: AskedQuestion): (answer: GivenAnswer) => void {
      const kept = { place, atMs: clock.now(), ...keepMessages(messages) }
      const digests = digestConversation(messages, place.user)
      // An answer may never end; nobody waits for its digests then.
      digests.catch(() => {})
      return (answer) => {
        adding = adding
          .then(async () => writer.add(makeTurn(kept, await digests, answer)))
          .catch((error: unknown) => log.error({ reason: describeError(error) }, 'an answer could not be stored'))
      }
    },
    /** Writes every answer that has ended. */
    flush,
    /** Deletes what is too old or erased, now instead of within `sweepEveryMs`. */
    sweep: sweeps.run,
    async close(): Promise<void> {
      stopFlushing()
      await Promise.all([sweeps.close(), flush()])
    },
  }
}
