import { errorResponses } from '../contract/errors.ts'
import {
  type AdminLogEntryBody,
  adminLogPageSchema,
  listAdminLogQuerySchema,
  operatorTokenSchema,
} from '../contract/operator.ts'
import { describeRoutes, type Routes } from '../http/index.ts'
import { type AdminLog, type AdminLogEntry, actorOf } from './admin-log.ts'
import type { OperatorTokens } from './operator-tokens.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

/** `/api/admin-log` and the operator token. */
export function operatorRoutes({
  adminLog,
  operatorTokens,
}: {
  adminLog: AdminLog
  operatorTokens: OperatorTokens
}): Routes {
  return (app) => {
    app.get(
      '/api/admin-log',
      described('listAdminLog', 'List administrative changes', {
        description: 'Newest first: who changed what and when, with the changed fields before and after.',
        querystring: listAdminLogQuerySchema,
        response: { 200: adminLogPageSchema, ...errorResponses(400, 401, 403) },
      }),
      (request) => {
        const { limit, offset, organisationId } = request.query
        return adminLog
          .loadPage({ limit, offset, ...(organisationId === undefined ? {} : { organisationId }) })
          .then(({ total, entries }) => ({ total, limit, offset, items: entries.map(render) }))
      },
    )
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

function render(entry: AdminLogEntry): AdminLogEntryBody {
  return { ...entry, at: entry.at.toISOString() }
}
