import type { OwnedDatabase } from '../../platform/database/index.ts'
import { describeError, type Log, userAgent } from '../../platform/kernel/index.ts'
import { createOutboxStore, type OutboxMessage, type OutboxTable } from './outbox.store.ts'

/** Messages that are sent in one round, at the same time. */
const roundSize = 16
const maximumAttempts = 14
const maximumFailureLength = 200

/** null: delivered. `isFinal`: there is nothing to send to, so it is not repeated. */
export type Failure = { reason: string; isFinal?: boolean } | null

export interface OutboxOptions<Message extends OutboxMessage> {
  database: OwnedDatabase
  table: OutboxTable
  log: Log
  /** Of log lines: `a webhook`. */
  noun: string
  /** The fields of a log line about a message. */
  describe(message: Message): Record<string, unknown>
  /** Makes one attempt. A rejection counts as a failure. */
  send(message: Message): Promise<Failure>
  /** A claimed message is due again after this time; longer than one attempt may last. */
  claimMs: number
  /** The delay doubles with each attempt, up to the longest. */
  firstDelayMs: number
  longestDelayMs: number
}

/** Sends messages at least once, with 14 attempts at most: a receiver recognises repeats by the message's id. */
export function createOutbox<Message extends OutboxMessage>(options: OutboxOptions<Message>) {
  const { log, noun, claimMs, firstDelayMs, longestDelayMs } = options
  const store = createOutboxStore<Message>(options.database, options.table)

  async function deliver(message: Message): Promise<unknown> {
    const failure = await options
      .send(message)
      .catch((error: unknown): Failure => ({ reason: describeError(error).slice(0, maximumFailureLength) }))
    if (failure === null) return store.finish(message.id, null)
    const { reason, isFinal = false } = failure
    if (isFinal) return store.finish(message.id, reason)
    const attempts = message.attempts + 1
    log.warn({ ...options.describe(message), attempts, failure: reason }, `${noun} failed`)
    if (attempts >= maximumAttempts) return store.finish(message.id, reason)
    return store.postpone(message.id, Math.min(firstDelayMs * 2 ** message.attempts, longestDelayMs), reason)
  }

  return {
    /** Sends what is due once. Returns the number of messages taken. */
    async deliverDue(): Promise<number> {
      const due = await store.claim(roundSize, claimMs)
      await Promise.all(
        due.map((message) =>
          deliver(message).catch((error: unknown) => log.error({ error: describeError(error) }, `${noun} got stuck`)),
        ),
      )
      return due.length
    },
  }
}

/** Posts JSON. Redirects are not followed: the address is the one that was set. */
export async function postJson(
  send: typeof fetch,
  url: string,
  { headers, body, timeoutMs }: { headers: Record<string, string>; body: string; timeoutMs: number },
): Promise<Failure> {
  const response = await send(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
    body,
    signal: AbortSignal.timeout(timeoutMs),
  })
  await response.body?.cancel()
  return response.ok ? null : { reason: `status ${response.status}` }
}
