import { z } from 'zod'
import {
  alertDeliveriesQuerySchema,
  alertDeliveryPageSchema,
  type AlertDeliveryBody,
  alertPageSchema,
  alertSettingsChangeSchema,
  alertSettingsSchema,
  alertsQuerySchema,
  alertTestSchema,
  alertWebhookChangeSchema,
  alertWebhookSchema,
  organisationAlertsSchema,
} from '../../contract/alerts.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import { errorResponses } from '../../contract/errors.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, invalidField } from '../../platform/kernel/index.ts'
import { actorOf } from '../operators/index.ts'
import { administrators, noOrganisation } from '../organisations/index.ts'
import { renderAlert } from './alert-messages.ts'
import type { Alerts } from './alerts.ts'
import type { StoredDelivery } from './port.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator: alerts')
const describedForAdministrators = describeRoutes(administrators, 'Operator: alerts')
const shownOfOrganisation = 50

/** Alerts of the installation with their settings and messages, and the budget alerts of an organisation. */
export function alertRoutes({
  alerts,
  hasOrganisation,
}: {
  alerts: Alerts
  hasOrganisation: (id: string) => boolean
}): Routes {
  return (app) => {
    addAlerts(app, alerts)
    addSettings(app, alerts)
    addDeliveries(app, alerts)
    app.get(
      '/api/organisations/:id/alerts',
      describedForAdministrators('listOrganisationAlerts', 'Budget alerts of an organisation', {
        params: z.object({ id: z.string() }),
        response: { 200: organisationAlertsSchema, ...errorResponses(401, 403, 404) },
      }),
      async ({ params: { id } }) => {
        if (!hasOrganisation(id)) throw noOrganisation(id)
        return { items: (await alerts.loadOfOrganisation(id, shownOfOrganisation)).map(renderAlert) }
      },
    )
  }
}

function addAlerts(app: App, alerts: Alerts) {
  app.get(
    '/api/alerts',
    described('listAlerts', 'Alerts, newest first', {
      querystring: alertsQuerySchema,
      response: { 200: alertPageSchema, ...errorResponses(400, 401, 403) },
    }),
    async ({ query: { state, limit, cursor } }) => {
      const filter = { state, limit: limit + 1, after: parseCursor(cursor) }
      const [found, open] = await Promise.all([alerts.loadPage(filter), alerts.countOpen()])
      const items = found.slice(0, limit)
      const nextCursor = found.length > limit ? cursorOf(items.at(-1)!.raisedAt, items.at(-1)!.id) : null
      return { items: items.map(renderAlert), open, nextCursor }
    },
  )
  app.post(
    '/api/alerts/test',
    described('testAlerts', 'Send a test message', {
      description: 'The message is sent in the background; its delivery shows the outcome.',
      body: alertTestSchema,
      response: { 202: z.object({ id: z.uuid() }), ...errorResponses(400, 401, 403) },
    }),
    async ({ body }) => ({ id: await alerts.sendTest(body.channel) }),
  )
}

function addSettings(app: App, alerts: Alerts) {
  app.get(
    '/api/alerts/settings',
    described('getAlertSettings', 'Settings of alerts', {
      response: { 200: alertSettingsSchema, ...errorResponses(401, 403) },
    }),
    () => alerts.loadSettings(),
  )
  app.patch(
    '/api/alerts/settings',
    described('patchAlertSettings', 'Change settings of alerts', {
      description: 'Only what the body names changes.',
      headers: ifMatchHeadersSchema,
      body: alertSettingsChangeSchema,
      response: { 200: alertSettingsSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => alerts.changeSettings(request.body, actorOf(request), request.headers['if-match']),
  )
  app.put(
    '/api/alerts/webhook',
    described('putAlertWebhook', 'Set the webhook for alerts', {
      description:
        'Makes a new secret. Messages are signed as Standard Webhooks has it: `webhook-id`, `webhook-timestamp`, `webhook-signature`.',
      headers: ifMatchHeadersSchema,
      body: alertWebhookChangeSchema,
      response: { 200: alertWebhookSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => alerts.setWebhook(request.body.url, actorOf(request), request.headers['if-match']),
  )
  app.delete(
    '/api/alerts/webhook',
    described('deleteAlertWebhook', 'Remove the webhook for alerts', {
      headers: ifMatchHeadersSchema,
      response: { 204: z.void(), ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => alerts.removeWebhook(actorOf(request), request.headers['if-match']),
  )
}

function addDeliveries(app: App, alerts: Alerts) {
  app.get(
    '/api/alerts/deliveries',
    described('listAlertDeliveries', 'Messages about alerts, newest first', {
      querystring: alertDeliveriesQuerySchema,
      response: { 200: alertDeliveryPageSchema, ...errorResponses(400, 401, 403) },
    }),
    async ({ query: { limit, cursor } }) => {
      const found = await alerts.loadDeliveries(limit + 1, parseCursor(cursor))
      const items = found.slice(0, limit)
      const nextCursor = found.length > limit ? cursorOf(items.at(-1)!.createdAt, items.at(-1)!.id) : null
      return { items: items.map(renderDelivery), nextCursor }
    },
  )
  app.post(
    '/api/alerts/deliveries/:deliveryId/resend',
    described('resendAlertDelivery', 'Send a message about an alert again', {
      description: 'With the same `webhook-id`.',
      params: z.object({ deliveryId: z.uuid() }),
      response: { 202: z.object({ id: z.uuid() }), ...errorResponses(400, 401, 403, 404) },
    }),
    async ({ params: { deliveryId } }) => {
      if (!(await alerts.resend(deliveryId))) throw new AppError('not_found', 'There is no message with this id.')
      return { id: deliveryId }
    },
  )
}

function renderDelivery(delivery: StoredDelivery): AlertDeliveryBody {
  const { subject, createdAt, nextAttemptAt, finishedAt, failure, ...rest } = delivery
  return {
    ...rest,
    title: subject,
    state: finishedAt === null ? 'waiting' : failure === null ? 'delivered' : 'failed',
    createdAt: createdAt.toISOString(),
    nextAttemptAt: finishedAt === null ? nextAttemptAt.toISOString() : null,
    failure,
  }
}

const cursorOf = (at: Date, id: string) => `${at.getTime()}_${id}`

function parseCursor(cursor: string | undefined): { atMs: number; id: string } | undefined {
  if (cursor === undefined) return undefined
  const [, atMs, id] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (atMs === undefined || id === undefined) {
    throw invalidField('cursor', '`cursor` is not the `nextCursor` of a page.')
  }
  return { atMs: Number(atMs), id }
}
