import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import {
  createPasswordResetSchema,
  invitationTokenParamsSchema,
  newPasswordResetSchema,
  passwordResetSchema,
  usePasswordResetSchema,
} from '../../contract/people.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../operators/index.ts'
import type { Accounts } from './accounts.ts'
import type { PasswordReset } from './person.ts'

const forOperators = describeRoutes({ role: 'operator' }, 'People')
const forAnyone = describeRoutes('none', 'People')

/** Links with which a person sets a new password. */
export function passwordResetRoutes({ accounts }: { accounts: Accounts }): Routes {
  return (app) => {
    addCreation(app, accounts)
    addUse(app, accounts)
  }
}

function addCreation(app: App, accounts: Accounts) {
  app.post(
    '/api/people/:id/password-reset',
    forOperators('createPasswordReset', 'Make a link with which a person sets a new password', {
      description:
        'The link is shown only in this response. It can be used once, within 24 hours, and replaces an earlier one.',
      params: idParamsSchema,
      body: createPasswordResetSchema,
      response: { 201: newPasswordResetSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) =>
      accounts.createPasswordReset(request.params.id, request.body, actorOf(request)).then(({ token, ...made }) => ({
        ...render(made),
        token,
        url: accounts.linkTo(`/console/password-resets/${token}`),
      })),
  )
}

function addUse(app: App, accounts: Accounts) {
  app.get(
    '/api/password-resets/:token',
    forAnyone('getPasswordReset', 'Read a link for a new password', {
      params: invitationTokenParamsSchema,
      response: { 200: passwordResetSchema, ...errorResponses(404, 429) },
    }),
    async ({ params, ip }) => render(await accounts.findPasswordReset(params.token, ip)),
  )
  app.post(
    '/api/password-resets/:token',
    forAnyone('usePasswordReset', 'Set a new password', {
      description: 'Ends all sessions of the person. The link can be used once.',
      params: invitationTokenParamsSchema,
      body: usePasswordResetSchema,
      response: { 204: emptySchema, ...errorResponses(400, 404, 409, 429) },
    }),
    ({ params, body, requestId, ip }) =>
      accounts.usePasswordReset(params.token, body.password, { requestId, clientAddress: ip }),
  )
}

function render({ email, name, removesSecondFactor, expiresAt }: PasswordReset) {
  return { email, name, removesSecondFactor, expiresAt: expiresAt.toISOString() }
}
