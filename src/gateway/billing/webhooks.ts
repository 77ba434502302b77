import { createHmac } from 'node:crypto'
import { type Clock, describeError, type Log, type OrganisationId, userAgent } from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { claimDue, finishEvent, type OutboxEvent, putOffEvent } from './outbox.store.ts'

/** Events that are sent in one round, at the same time. */
const roundSize = 16
/** A taken event is due again after this time; longer than one attempt may last. */
const claimMs = 60_000
const attemptTimeoutMs = 10_000
/** 30 s, 1 min, 2 min … 4 h: with 14 attempts a receiver may be away for a day. */
const firstDelayMs = 30_000
const longestDelayMs = 4 * 3_600_000
const maximumAttempts = 14
const maximumFailureLength = 200

export interface WebhookTarget {
  url: string
  /** Signs the body; in clear only in memory. */
  secret: string
}

export interface WebhookDelivery {
  /** Sends what is due once. Returns the number of events taken. */
  deliverDue(): Promise<number>
}

export interface WebhookDeliveryDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** The webhook of an organisation; undefined: its events are dropped. */
  target(organisationId: OrganisationId): Promise<WebhookTarget | undefined>
}

/** Delivers events at least once: a receiver recognises repeats by the event's id. */
export function createWebhookDelivery(deps: WebhookDeliveryDeps): WebhookDelivery {
  const { database, clock, log } = deps

  async function deliver(event: OutboxEvent): Promise<void> {
    const target = await deps.target(event.organisationId)
    if (!target) return finishEvent(database, event.eventId, 'no webhook is set')
    const failure = await attempt(target, event)
    if (failure === null) return finishEvent(database, event.eventId, null)
    const attempts = event.attempts + 1
    log.warn({ organisationId: event.organisationId, eventId: event.eventId, attempts, failure }, 'a webhook failed')
    if (attempts >= maximumAttempts) return finishEvent(database, event.eventId, failure)
    return putOffEvent(database, event.eventId, Math.min(firstDelayMs * 2 ** event.attempts, longestDelayMs), failure)
  }

  /** null: delivered. Redirects are not followed: the address is the one that was set. */
  async function attempt(target: WebhookTarget, event: OutboxEvent): Promise<string | null> {
    try {
      const response = await deps.fetch(target.url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'portico-event': event.kind,
          'portico-signature': signWebhook(target.secret, event.body, Math.floor(clock.now() / 1000)),
        },
        body: event.body,
        signal: AbortSignal.timeout(attemptTimeoutMs),
      })
      await response.body?.cancel()
      return response.ok ? null : `status ${response.status}`
    } catch (error) {
      return describeError(error).slice(0, maximumFailureLength)
    }
  }

  return {
    async deliverDue() {
      const events = await claimDue(database, roundSize, claimMs)
      await Promise.all(
        events.map((event) =>
          deliver(event).catch((error: unknown) => log.error({ error: describeError(error) }, 'a webhook got stuck')),
        ),
      )
      return events.length
    },
  }
}

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. The time stops a recorded event from being played again later. */
export function signWebhook(secret: string, body: string, atSeconds: number): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')
  return `t=${atSeconds},v1=${digest}`
}
