import { createHmac } from 'node:crypto'
import type { Clock, Log, OrganisationId } from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { createOutbox, type OutboxMessage, postJson } from '../../tenants/alerts/index.ts'
import type { OutboxEvent } from './outbox.store.ts'

const table = { name: 'ledger_outbox', key: 'event_id', columns: 'organisation_id as "organisationId", kind, body' }
const attemptTimeoutMs = 10_000
/** 30 s, 1 min, 2 min … 4 h: with 14 attempts a receiver may be away for a day. */
const delays = { claimMs: 60_000, firstDelayMs: 30_000, longestDelayMs: 4 * 3_600_000 }

export interface WebhookTarget {
  url: string
  /** Signs the body; in clear only in memory. */
  secret: string
}

export interface WebhookDeliveryDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** The webhook of an organisation; undefined: its events are dropped. */
  target(organisationId: OrganisationId): Promise<WebhookTarget | undefined>
}

/** Sends the events of organisations to their webhooks. */
export function createWebhookDelivery(deps: WebhookDeliveryDeps) {
  return createOutbox<OutboxEvent & OutboxMessage>({
    ...deps,
    ...delays,
    table,
    noun: 'a webhook',
    describe: ({ id, organisationId }) => ({ organisationId, eventId: id }),
    async send({ organisationId, kind, body }) {
      const target = await deps.target(organisationId)
      if (!target) return { reason: 'no webhook is set', isFinal: true }
      const signature = signWebhook(target.secret, body, Math.floor(deps.clock.now() / 1000))
      const headers = { 'portico-event': kind, 'portico-signature': signature }
      return postJson(deps.fetch, target.url, { headers, body, timeoutMs: attemptTimeoutMs })
    },
  })
}

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. The time stops a recorded event from being played again later. */
export function signWebhook(secret: string, body: string, atSeconds: number): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')
  return `t=${atSeconds},v1=${digest}`
}
