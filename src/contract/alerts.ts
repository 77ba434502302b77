import { z } from 'zod'
import { queryInteger } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** Alerts of the installation: what they are about, their settings, and the messages about them. */

export const alertKinds = ['budget', 'velocity', 'provider', 'model', 'disk', 'certificate', 'ledger', 'jobs'] as const
export type AlertKind = (typeof alertKinds)[number]

/** The threshold of each kind, with its unit in the name of the setting's text. */
export const alertThresholds: Readonly<Record<AlertKind, { default: number; minimum: number; maximum: number }>> = {
  // Per cent of the budget; 100 is always an alert as well.
  budget: { default: 80, minimum: 1, maximum: 100 },
  // Multiple of the usual spend of an hour.
  velocity: { default: 6, minimum: 2, maximum: 1_000 },
  // Minutes.
  provider: { default: 2, minimum: 0, maximum: 1_440 },
  model: { default: 2, minimum: 0, maximum: 1_440 },
  // Per cent of free space.
  disk: { default: 10, minimum: 1, maximum: 90 },
  // Days until a certificate ends.
  certificate: { default: 14, minimum: 1, maximum: 90 },
  // Hours between two audits of the ledger; 0: none.
  ledger: { default: 24, minimum: 0, maximum: 168 },
  // Failed attempts of one job.
  jobs: { default: 5, minimum: 1, maximum: 100 },
}

export const maximumRecipients = 20

const time = z.iso.datetime()
const kind = z.enum(alertKinds)

export const alertSchema = z
  .object({
    id: z.uuid(),
    kind,
    subject: z.string().describe('What the alert is about; unique among the open alerts of its kind.'),
    organisationId: z.uuid().nullable(),
    severity: z.enum(['warning', 'critical']),
    title: z.string().describe('One English sentence.'),
    details: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe('The figures of the sentence, for texts in other languages.'),
    raisedAt: time,
    resolvedAt: time.nullable().describe('null: the alert is open.'),
  })
  .meta({ id: 'Alert' })

export const alertsQuerySchema = z.object({
  state: z.enum(['open', 'resolved']).optional(),
  limit: queryInteger(1, 100).default(50),
  cursor: z.string().max(100).optional().describe('`nextCursor` of the page before.'),
})

export const alertPageSchema = z
  .object({
    items: z.array(alertSchema).describe('Newest first.'),
    open: z.int().describe('Open alerts of all kinds.'),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'AlertPage' })

export const organisationAlertsSchema = z
  .object({ items: z.array(alertSchema).describe('The last 50 budget alerts of the organisation, newest first.') })
  .meta({ id: 'OrganisationAlerts' })

const kindSettings = z.object({
  enabled: z.boolean(),
  threshold: z.number(),
})

const recipients = z.array(z.email().max(320)).max(maximumRecipients)

export const alertSettingsSchema = z
  .object({
    kinds: z.record(kind, kindSettings),
    recipients: recipients.describe('Addresses that get an e-mail for each alert that is raised or resolved.'),
    mail: z.object({
      configured: z.boolean().describe('`mail` is set in the configuration of the instance that answers.'),
    }),
    webhook: z.object({ url: z.string() }).nullable(),
    version: settingsVersionSchema,
  })
  .meta({ id: 'AlertSettings' })

export const alertSettingsChangeSchema = z
  .strictObject({
    kinds: z.partialRecord(kind, z.strictObject({ enabled: z.boolean().optional(), threshold: z.number().optional() })),
    recipients: recipients.optional(),
  })
  .partial()
  .meta({ id: 'AlertSettingsChange' })

export const alertWebhookChangeSchema = z
  .strictObject({ url: z.string().max(2_000) })
  .meta({ id: 'AlertWebhookChange' })

export const alertWebhookSchema = z
  .object({
    url: z.string(),
    secret: z.string().describe('`whsec_` and the key in base64, as Standard Webhooks has it. Shown only now.'),
  })
  .meta({ id: 'AlertWebhook' })

export const alertChannels = ['webhook', 'email'] as const

export const alertTestSchema = z.strictObject({ channel: z.enum(alertChannels) }).meta({ id: 'AlertTest' })

export const alertDeliverySchema = z
  .object({
    id: z.uuid().describe('The `webhook-id`, the same for each attempt.'),
    alertId: z.uuid().nullable().describe('null: a test.'),
    event: z.enum(['alert.raised', 'alert.resolved', 'alert.test']),
    channel: z.enum(alertChannels),
    title: z.string(),
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int(),
    createdAt: time,
    nextAttemptAt: time.nullable().describe('null: no further attempt.'),
    failure: z.string().nullable().describe('Of the last attempt.'),
  })
  .meta({ id: 'AlertDelivery' })

export const alertDeliveriesQuerySchema = z.object({
  limit: queryInteger(1, 100).default(50),
  cursor: z.string().max(100).optional().describe('`nextCursor` of the page before.'),
})

export const alertDeliveryPageSchema = z
  .object({ items: z.array(alertDeliverySchema).describe('Newest first.'), nextCursor: z.string().nullable() })
  .meta({ id: 'AlertDeliveryPage' })

export type AlertBody = z.output<typeof alertSchema>
export type AlertPageBody = z.output<typeof alertPageSchema>
export type AlertSettingsBody = z.output<typeof alertSettingsSchema>
export type AlertSettingsChange = z.output<typeof alertSettingsChangeSchema>
export type AlertDeliveryBody = z.output<typeof alertDeliverySchema>
export type AlertDeliveryPageBody = z.output<typeof alertDeliveryPageSchema>
export type AlertChannel = (typeof alertChannels)[number]
