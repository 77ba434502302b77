import { errorResponses } from '../../contract/errors.ts'
import { operatorTokenSchema, reencryptionSchema } from '../../contract/operator.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from './admin-log.ts'
import type { OperatorTokens } from './operator-tokens.ts'
import type { Reencryption } from './reencryption.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

interface OperatorRouteDependencies {
  operatorTokens: OperatorTokens
  reencryption: Reencryption
}

/** The operator token and the secret key. */
export function operatorRoutes({ operatorTokens, reencryption }: OperatorRouteDependencies): Routes {
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
    app.post(
      '/api/secret-key/reencrypt',
      described('reencryptSecrets', 'Encrypt stored secrets with the secret key', {
        description:
          'Encrypts what is stored under PORTICO_SECOND_SECRET_KEY with PORTICO_SECRET_KEY. With `unreadable` 0 the second key is no longer needed. Can be repeated.',
        response: { 200: reencryptionSchema, ...errorResponses(401, 403) },
      }),
      (request) => reencryption.run(actorOf(request)),
    )
  }
}
