import { createHmac, randomBytes } from 'node:crypto'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { Clock, Log } from '../../platform/kernel/index.ts'
import { createOutbox, type Failure, postJson } from './outbox.ts'
import type { Delivery } from './port.ts'
import type { SendMail } from './send-mail.ts'

const table = {
  name: 'alert_deliveries',
  key: 'id',
  columns: 'alert_id as "alertId", event, channel, subject, body',
}
const attemptTimeoutMs = 15_000
/** 10 s, 20 s, 40 s … 2 h: with 14 attempts a receiver may be away for most of a day. */
const delays = { claimMs: 90_000, firstDelayMs: 10_000, longestDelayMs: 2 * 3_600_000 }

export interface AlertDeliveryDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  /** Connects only to addresses that webhooks may have. */
  fetch: typeof fetch
  /** undefined: none is set, and messages to it are dropped. */
  loadWebhook(): Promise<{ url: string; secret: string } | undefined>
  loadRecipients(): Promise<string[]>
  /** undefined: no mail server is configured. */
  sendMail: SendMail | undefined
}

/** Sends messages about alerts; a webhook recognises repeats by `webhook-id`. */
export function createAlertDelivery(deps: AlertDeliveryDeps) {
  return createOutbox<Delivery>({
    ...deps,
    ...delays,
    table,
    noun: 'a message about an alert',
    describe: ({ id, channel }) => ({ delivery: id, channel }),
    send: (delivery) => (delivery.channel === 'webhook' ? sendToWebhook(deps, delivery) : sendByMail(deps, delivery)),
  })
}

async function sendToWebhook(
  { fetch, clock, loadWebhook }: AlertDeliveryDeps,
  { id, body }: Delivery,
): Promise<Failure> {
  const webhook = await loadWebhook()
  // Nothing to send to: the message ends here.
  if (!webhook) return null
  const headers = signedHeaders(webhook.secret, { id, atSeconds: Math.floor(clock.now() / 1000), body })
  return postJson(fetch, webhook.url, { headers, body, timeoutMs: attemptTimeoutMs })
}

async function sendByMail(
  { loadRecipients, sendMail }: AlertDeliveryDeps,
  { id, subject, body }: Delivery,
): Promise<Failure> {
  const recipients = await loadRecipients()
  if (recipients.length === 0) return null
  // Another instance may have the setting; the attempt is repeated.
  if (!sendMail) return { reason: 'this instance has no mail server' }
  await sendMail({ id, to: recipients, subject, text: body })
  return null
}

/** Signatures as https://www.standardwebhooks.com has them (version 1, symmetric): its libraries for receivers verify them. */

const prefix = 'whsec_'
/** The specification allows 24 to 64 bytes. */
const secretBytes = 32

/** A new secret: the prefix and the key in base64. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/** The three headers of a message. `id` is the same for each attempt; the time is that of the attempt, in seconds. */
function signedHeaders(
  secret: string,
  { id, atSeconds, body }: { id: string; atSeconds: number; body: string },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const digest = createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(atSeconds), 'webhook-signature': `v1,${digest}` }
}
