import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import {
  meSchema,
  peopleQuerySchema,
  personPageSchema,
  personSchema,
  sessionsSchema,
  setupSchema,
  setupStateSchema,
  updateMeSchema,
  updatePersonSchema,
} from '../../contract/people.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../operators/index.ts'
import type { Accounts } from './accounts.ts'
import { describePerson } from './person.ts'

const forOperators = describeRoutes({ role: 'operator' }, 'People')
const forPeople = describeRoutes({ role: 'person' }, 'People')
const forAnyone = describeRoutes('none', 'People')

/** `/api/setup`, `/api/me` and `/api/people`. */
export function peopleRoutes({ accounts }: { accounts: Accounts }): Routes {
  return (app) => {
    addSetup(app, accounts)
    addMe(app, accounts)
    addMyChanges(app, accounts)
    addPeople(app, accounts)
  }
}

function addSetup(app: App, accounts: Accounts) {
  app.get(
    '/api/setup',
    forAnyone('getSetup', 'How can people sign in?', { response: { 200: setupStateSchema } }),
    async () => ({ required: await accounts.needsSetup(), ...(await accounts.signInMethods()) }),
  )
  app.post(
    '/api/setup',
    forOperators('setUp', 'Create the first account', {
      description: 'Once, with the operator token. The account is an operator.',
      body: setupSchema,
      response: { 201: personSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => accounts.setUp(request.body, actorOf(request)).then(describePerson),
  )
}

function addMe(app: App, accounts: Accounts) {
  app.get(
    '/api/me',
    forPeople('getMe', 'The signed-in person', { response: { 200: meSchema, ...errorResponses(401) } }),
    async ({ person }) => {
      if (!person) return { person: null, isOperator: true, sessionId: null, organisations: [] }
      return {
        person: describePerson(await accounts.loadPerson(person.id)),
        isOperator: person.isOperator,
        sessionId: person.sessionId,
        organisations: await accounts.loadMemberships(person.id),
      }
    },
  )
  app.get(
    '/api/me/sessions',
    forPeople('listSessions', 'List the sessions of the signed-in person', {
      description: 'Newest first. Empty for the operator token.',
      response: { 200: sessionsSchema, ...errorResponses(401) },
    }),
    async ({ person }) => {
      const sessions = person ? await accounts.loadSessions(person.id) : []
      const items = sessions.map((session) => ({
        ...session,
        current: session.id === person?.sessionId,
        createdAt: session.createdAt.toISOString(),
        expiresAt: session.expiresAt.toISOString(),
      }))
      return { items }
    },
  )
}

function addMyChanges(app: App, accounts: Accounts) {
  app.patch(
    '/api/me',
    forPeople('updateMe', 'Change the name of the signed-in person', {
      headers: ifMatchHeadersSchema,
      body: updateMeSchema,
      response: { 200: personSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) =>
      accounts
        .rename(request.person?.id, request.body.name, actorOf(request), request.headers['if-match'])
        .then(describePerson),
  )
  app.delete(
    '/api/me/sessions/:id',
    forPeople('endSession', 'End a session of the signed-in person', {
      description: 'Its cookie is invalid at once, on every instance.',
      params: idParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => accounts.endSession(request.person?.id, request.params.id, actorOf(request)),
  )
}

function addPeople(app: App, accounts: Accounts) {
  app.get(
    '/api/people',
    forOperators('listPeople', 'List all accounts', {
      description: 'By email.',
      querystring: peopleQuerySchema,
      response: { 200: personPageSchema, ...errorResponses(400, 401, 403) },
    }),
    async ({ query: { limit, offset, search } }) => {
      const { total, people } = await accounts.loadPersonPage({ limit, offset, search })
      return { total, limit, offset, items: people.map(describePerson) }
    },
  )
  app.patch(
    '/api/people/:id',
    forOperators('updatePerson', 'Make a person an operator, or no operator', {
      description: 'In effect for the next request of the person. 409 if the e-mail of a new operator is not verified.',
      params: idParamsSchema,
      headers: ifMatchHeadersSchema,
      body: updatePersonSchema,
      response: { 200: personSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) =>
      accounts
        .setOperator(request.params.id, request.body, actorOf(request), request.headers['if-match'])
        .then(describePerson),
  )
  app.delete(
    '/api/people/:id',
    forOperators('deletePerson', 'Remove an account', {
      description: 'Its sessions end at once. The admin log keeps its entries.',
      params: idParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => accounts.removePerson(request.params.id, actorOf(request)),
  )
}
