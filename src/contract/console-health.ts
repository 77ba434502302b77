import { z } from 'zod'
import { percentiles } from './usage.ts'

/** `GET /api/console/health`: the health of providers over 30 days, of all instances together. */

export const healthDays = 30
/** Circuit events of the page, newest first. */
export const maximumHealthEvents = 200

const count = z.int().min(0)
const day = z.iso.date()
const time = z.iso.datetime()

const figures = {
  calls: count.describe(
    'Calls that the provider answered, failed or rejected as invalid; without rate limits, tests and cancelled calls.',
  ),
  errors: count.describe('The fault of the deployment or of its account; includes streams that broke off.'),
  rateLimited: count,
  availability: z.number().min(0).max(1).nullable().describe('Share of calls without an error; null: no call.'),
  firstBytesMs: percentiles.describe('Until the first bytes of a stream.'),
  totalMs: percentiles.describe('Until the end of an answer.'),
}

const days = z.array(z.object({ day, calls: count, errors: count })).describe('Every day, UTC, oldest first.')

const failingSchema = z
  .object({
    deployment: z.string(),
    model: z.string(),
    provider: z.string(),
    kind: z.enum(['circuit', 'account']).describe('`account`: the provider rejects the key, the account or the model.'),
    since: time,
    errorClass: z.string().nullable(),
    status: z.int().nullable().describe('HTTP status of the failure.'),
    instances: count.describe('Instances that fail to call it.'),
  })
  .meta({ id: 'FailingDeployment' })

export const consoleHealthSchema = z
  .object({
    from: day,
    to: day,
    failing: z.array(failingSchema).describe('What at least one instance fails to call now.'),
    providers: z
      .array(
        z.object({
          id: z.string(),
          enabled: z.boolean(),
          failing: count.describe('Deployments that fail now.'),
          ...figures,
          days,
          errorClasses: z.array(z.object({ class: z.string(), calls: count })).describe('Most first.'),
          deployments: z
            .array(z.object({ id: z.string(), model: z.string(), ...figures }))
            .describe('Those with calls, most calls first.'),
        }),
      )
      .describe('Those with calls or failures, most errors first.'),
    events: z
      .array(
        z.object({
          at: time,
          deployment: z.string(),
          model: z.string().nullable(),
          provider: z.string().nullable().describe('null: the deployment is not in the catalogue any more.'),
          instance: z.string().describe('The process whose circuit it was, until its end.'),
          kind: z.enum(['opened', 'closed']),
          errorClass: z.string().nullable(),
          status: z.int().nullable(),
        }),
      )
      .max(maximumHealthEvents)
      .describe('Circuits that opened and closed, newest first.'),
  })
  .meta({ id: 'ConsoleHealth' })

export const consoleFailingSchema = z.object({ items: z.array(failingSchema) }).meta({ id: 'FailingDeployments' })

export type ConsoleHealthBody = z.output<typeof consoleHealthSchema>
export type FailingDeploymentBody = z.output<typeof failingSchema>
