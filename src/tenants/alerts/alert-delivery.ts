import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, userAgent } from '../../platform/kernel/index.ts'
import { claimDeliveries, finishDelivery, postponeDelivery } from './deliveries.store.ts'
import type { Delivery } from './port.ts'
import type { SendMail } from './send-mail.ts'
import { signedHeaders } from './standard-webhook.ts'

/** Messages that are sent in one round, at the same time. */
const roundSize = 16
/** A taken message is due again after this time; longer than one attempt may last. */
const claimMs = 90_000
const attemptTimeoutMs = 15_000
/** 10 s, 20 s, 40 s … 2 h: with 14 attempts a receiver may be away for most of a day. */
const firstDelayMs = 10_000
const longestDelayMs = 2 * 3_600_000
export const maximumAttempts = 14
const maximumFailureLength = 200

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

/** Sends messages at least once: a receiver recognises repeats by `webhook-id`. */
export function createAlertDelivery(deps: AlertDeliveryDeps) {
  const { database, log } = deps

  async function deliver(delivery: Delivery): Promise<void> {
    const failure =
      delivery.channel === 'webhook' ? await sendToWebhook(deps, delivery) : await sendByMail(deps, delivery)
    if (failure === null) return finishDelivery(database, delivery.id, null)
    const attempts = delivery.attempts + 1
    log.warn({ delivery: delivery.id, channel: delivery.channel, attempts, failure }, 'a message about an alert failed')
    if (attempts >= maximumAttempts) return finishDelivery(database, delivery.id, failure)
    return postponeDelivery(
      database,
      delivery.id,
      Math.min(firstDelayMs * 2 ** delivery.attempts, longestDelayMs),
      failure,
    )
  }

  return {
    /** Sends what is due once. Returns the number of messages taken. */
    async deliverDue(): Promise<number> {
      const due = await claimDeliveries(database, roundSize, claimMs)
      await Promise.all(
        due.map((delivery) =>
          deliver(delivery).catch((error: unknown) =>
            log.error({ error: describeError(error) }, 'a message about an alert got stuck'),
          ),
        ),
      )
      return due.length
    },
  }
}

/** null: delivered. Redirects are not followed: the address is the one that was set. */
async function sendToWebhook(
  { fetch: send, clock, loadWebhook }: AlertDeliveryDeps,
  { id, body }: Delivery,
): Promise<string | null> {
  try {
    const webhook = await loadWebhook()
    // Nothing to send to: the message ends here.
    if (!webhook) return null
    const atSeconds = Math.floor(clock.now() / 1000)
    const response = await send(webhook.url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...signedHeaders(webhook.secret, { id, atSeconds, body }),
      },
      body,
      signal: AbortSignal.timeout(attemptTimeoutMs),
    })
    await response.body?.cancel()
    return response.ok ? null : `status ${response.status}`
  } catch (error) {
    return describeError(error).slice(0, maximumFailureLength)
  }
}

async function sendByMail(
  { loadRecipients, sendMail }: AlertDeliveryDeps,
  { id, subject, body }: Delivery,
): Promise<string | null> {
  try {
    const recipients = await loadRecipients()
    if (recipients.length === 0) return null
    // Another instance may have the setting; the attempt is repeated.
    if (!sendMail) return 'this instance has no mail server'
    await sendMail({ id, to: recipients, subject, text: body })
    return null
  } catch (error) {
    return describeError(error).slice(0, maximumFailureLength)
  }
}
