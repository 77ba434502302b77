import { createHmac, randomBytes } from 'node:crypto'

/** Signatures as https://www.standardwebhooks.com has them (version 1, symmetric): its libraries for receivers verify them. */

const prefix = 'whsec_'
/** The specification allows 24 to 64 bytes. */
const secretBytes = 32

/** A new secret: the prefix and the key in base64. */
export function createWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/** The three headers of a message. `id` is the same for each attempt; the time is that of the attempt, in seconds. */
export function signedHeaders(
  secret: string,
  { id, atSeconds, body }: { id: string; atSeconds: number; body: string },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const digest = createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(atSeconds), 'webhook-signature': `v1,${digest}` }
}
