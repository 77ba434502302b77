import {
  type AdminLogPageBody,
  type AdminLogQuery,
  adminLogPageSchema,
  adminLogQuerySchema,
  organisationAdminLogQuerySchema,
} from '../contract/admin-log.ts'
import { errorResponses } from '../contract/errors.ts'
import { idParamsSchema, operatorTokenSchema } from '../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../http/index.ts'
import { AppError } from '../kernel/index.ts'
import { type AdminLog, actorOf } from './admin-log.ts'
import type { OperatorTokens } from './operator-tokens.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

export interface OperatorRoutesDependencies {
  adminLog: AdminLog
  operatorTokens: OperatorTokens
  hasOrganisation: (id: string) => boolean
}

/** The admin log, of all and of one organisation, and the operator token. */
export function operatorRoutes({ adminLog, operatorTokens, hasOrganisation }: OperatorRoutesDependencies): Routes {
  return (app) => {
    addAdminLog(app, adminLog, hasOrganisation)
    app.post(
      '/api/operator-token/rotate',
      described('rotateOperatorToken', 'Replace the operator token', {
        description: 'The token is shown only in this response. A token set by the configuration stays valid.',
        response: { 200: operatorTokenSchema, ...errorResponses(401, 403) },
      }),
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        return { token: await operatorTokens.rotate(actorOf(request)) }
      },
    )
  }
}

function addAdminLog(app: App, adminLog: AdminLog, hasOrganisation: (id: string) => boolean) {
  app.get(
    '/api/admin-log',
    described('listAdminLog', 'List administrative changes', {
      description: 'Newest first: who changed what and when, with the changed fields before and after.',
      querystring: adminLogQuerySchema,
      response: { 200: adminLogPageSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => loadPage(adminLog, request.query),
  )
  const idOf = ({ params }: { params: unknown }) => (params as { id: string }).id.toLowerCase()
  app.get(
    '/api/organisations/:id/admin-log',
    described(
      'listOrganisationAdminLog',
      'List administrative changes of an organisation',
      {
        description: 'Newest first. `GET /api/admin-log` also has the changes of removed organisations.',
        params: idParamsSchema,
        querystring: organisationAdminLogQuerySchema,
        response: { 200: adminLogPageSchema, ...errorResponses(400, 401, 403, 404) },
      },
      {
        role: 'administrator',
        organisation: idOf,
        missing: (request) => noOrganisation(idOf(request)),
      },
    ),
    (request) => {
      const organisationId = idOf(request)
      if (!hasOrganisation(organisationId)) throw noOrganisation(organisationId)
      return loadPage(adminLog, { ...request.query, organisationId })
    },
  )
}

async function loadPage(adminLog: AdminLog, query: AdminLogQuery): Promise<AdminLogPageBody> {
  const { entries, nextCursor } = await adminLog.loadPage({ ...query, actor: query.actor?.toLowerCase() })
  return { items: entries.map((entry) => ({ ...entry, at: entry.at.toISOString() })), nextCursor }
}

function noOrganisation(id: string): AppError {
  return new AppError('organisation_not_found', `There is no organisation ${id}.`)
}
