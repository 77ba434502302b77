import { z } from 'zod'
import { errorResponses } from '../contract/errors.ts'
import { idParamsSchema } from '../contract/operator.ts'
import {
  meSchema,
  pageQuerySchema,
  type PersonBody,
  personPageSchema,
  personSchema,
  sessionsSchema,
  setupSchema,
  setupStateSchema,
  updatePersonSchema,
} from '../contract/people.ts'
import type { App, Routes } from '../http/index.ts'
import { actorOf } from '../operators/index.ts'
import type { Accounts } from './accounts.ts'
import type { PersonRecord } from './person.ts'

const tags = ['People']
const operators = { auth: { role: 'operator' } } as const
const everyone = { auth: { role: 'person' } } as const
const nothing = z.null().describe('Empty.')

/** `/api/setup`, `/api/me` and `/api/people`. */
export function peopleRoutes({ accounts }: { accounts: Accounts }): Routes {
  return (app) => {
    addSetup(app, accounts)
    addMe(app, accounts)
    addPeople(app, accounts)
  }
}

function addSetup(app: App, accounts: Accounts) {
  app.get(
    '/api/setup',
    {
      config: { auth: 'none' },
      schema: {
        tags,
        summary: 'Does the first account have to be created?',
        operationId: 'getSetup',
        response: { 200: setupStateSchema },
      },
    },
    async () => ({ required: await accounts.needsSetup() }),
  )
  app.post(
    '/api/setup',
    {
      config: operators,
      schema: {
        tags,
        summary: 'Create the first account',
        operationId: 'setUp',
        description: 'Once, with the operator token. The account is an operator.',
        body: setupSchema,
        response: { 201: personSchema, ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request, reply) => {
      const person = await accounts.setUp(request.body, actorOf(request))
      return reply.code(201).send(render(person))
    },
  )
}

function addMe(app: App, accounts: Accounts) {
  app.get(
    '/api/me',
    {
      config: everyone,
      schema: {
        tags,
        summary: 'The signed-in person',
        operationId: 'getMe',
        response: { 200: meSchema, ...errorResponses(401) },
      },
    },
    async ({ person }) => {
      if (!person) return { person: null, isOperator: true, sessionId: null, organisations: [] }
      const memberships = await accounts.loadMemberships(person.id)
      return {
        person: render(await accounts.loadPerson(person.id)),
        isOperator: person.isOperator,
        sessionId: person.sessionId,
        organisations: memberships.map(({ organisationId: id, organisationName: name, role }) => ({ id, name, role })),
      }
    },
  )
  app.get(
    '/api/me/sessions',
    {
      config: everyone,
      schema: {
        tags,
        summary: 'List the sessions of the signed-in person',
        operationId: 'listSessions',
        description: 'Newest first. Empty for the operator token.',
        response: { 200: sessionsSchema, ...errorResponses(401) },
      },
    },
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
  app.delete(
    '/api/me/sessions/:id',
    {
      config: everyone,
      schema: {
        tags,
        summary: 'End a session of the signed-in person',
        operationId: 'endSession',
        description: 'Its cookie is invalid at once, on every instance.',
        params: idParamsSchema,
        response: { 204: nothing, ...errorResponses(401, 403, 404) },
      },
    },
    async ({ person, params }, reply) => {
      await accounts.endSession(person?.id ?? '00000000-0000-0000-0000-000000000000', params.id)
      return reply.code(204).send(null)
    },
  )
}

function addPeople(app: App, accounts: Accounts) {
  app.get(
    '/api/people',
    {
      config: operators,
      schema: {
        tags,
        summary: 'List all accounts',
        operationId: 'listPeople',
        description: 'By email.',
        querystring: pageQuerySchema,
        response: { 200: personPageSchema, ...errorResponses(400, 401, 403) },
      },
    },
    async ({ query: { limit, offset } }) => {
      const { total, people } = await accounts.loadPersonPage({ limit, offset })
      return { total, limit, offset, items: people.map(render) }
    },
  )
  app.patch(
    '/api/people/:id',
    {
      config: operators,
      schema: {
        tags,
        summary: 'Make a person an operator, or no operator',
        operationId: 'updatePerson',
        description: 'In effect for the next request of the person.',
        params: idParamsSchema,
        body: updatePersonSchema,
        response: { 200: personSchema, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => accounts.setOperator(request.params.id, request.body.isOperator, actorOf(request)).then(render),
  )
  app.delete(
    '/api/people/:id',
    {
      config: operators,
      schema: {
        tags,
        summary: 'Remove an account',
        operationId: 'deletePerson',
        description: 'Its sessions end at once. The admin log keeps its entries.',
        params: idParamsSchema,
        response: { 204: nothing, ...errorResponses(401, 403, 404) },
      },
    },
    async (request, reply) => {
      await accounts.removePerson(request.params.id, actorOf(request))
      return reply.code(204).send(null)
    },
  )
}

function render(person: PersonRecord): PersonBody {
  return { ...person, createdAt: person.createdAt.toISOString() }
}
