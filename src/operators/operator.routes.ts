import { errorResponses } from '../contract/errors.ts'
import { operatorTokenSchema } from '../contract/operator.ts'
import { describeRoutes, type Routes } from '../http/index.ts'
import { actorOf } from './admin-log.ts'
import type { OperatorTokens } from './operator-tokens.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

/** The operator token. */
export function operatorRoutes({ operatorTokens }: { operatorTokens: OperatorTokens }): Routes {
  return (app) => {
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
