import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorResponses } from '../contract/errors.ts'
import {
  type SpaceBody,
  createSpaceSchema,
  idParamsSchema,
  listSpacesQuerySchema,
  spacePageSchema,
  spaceSchema,
  updateSpaceSchema,
} from '../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../http/index.ts'
import { AppError, type OrganisationId } from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import { describeSpace } from './describe-space.ts'
import type { Space } from './space.ts'
import type { Spaces } from './spaces.ts'

const described = describeRoutes('operator', 'Operator: Spaces')
const params = idParamsSchema
const actorOf = (request: FastifyRequest): Actor => ({ name: 'operator', requestId: request.requestId })

/** `/api/spaces`: Spaces and their publication. */
export function spaceRoutes({ spaces }: { spaces: Spaces }): Routes {
  return (app) => {
    addReads(app, spaces)
    addChanges(app, spaces)
    addPublishing(app, spaces)
  }
}

function addReads(app: App, spaces: Spaces) {
  app.get(
    '/api/spaces',
    described('listSpaces', 'List Spaces', {
      description: 'Newest first; of one organisation or of all.',
      querystring: listSpacesQuerySchema,
      response: { 200: spacePageSchema, ...errorResponses(400, 401) },
    }),
    (request) => {
      const { limit, offset, organisationId } = request.query
      return spaces
        .loadPage({ limit, offset, ...(organisationId === undefined ? {} : { organisationId }) })
        .then((page) => ({ total: page.total, limit, offset, items: page.spaces.map(render) }))
    },
  )
  app.get(
    '/api/spaces/:id',
    described('getSpace', 'Get a Space', {
      params,
      response: { 200: spaceSchema, ...errorResponses(401, 404) },
    }),
    (request) => {
      const space = spaces.get(request.params.id)
      if (!space) throw new AppError('space_not_found', `There is no Space ${request.params.id}.`)
      return render(space)
    },
  )
}

function addChanges(app: App, spaces: Spaces) {
  app.post(
    '/api/spaces',
    described('createSpace', 'Create a Space', {
      body: createSpaceSchema,
      response: { 201: spaceSchema, ...errorResponses(400, 401, 404) },
    }),
    async (request, reply) => {
      const { organisationId, ...given } = request.body
      const created = await spaces.create(
        { ...given, organisationId: organisationId as OrganisationId },
        actorOf(request),
      )
      reply.code(201).header('location', `/api/spaces/${created.id}`)
      return render(created)
    },
  )
  app.patch(
    '/api/spaces/:id',
    described('updateSpace', 'Change a Space', {
      description: 'Absent fields keep their values, also within `settings`.',
      params,
      body: updateSpaceSchema,
      response: { 200: spaceSchema, ...errorResponses(400, 401, 404) },
    }),
    (request) => spaces.update(request.params.id, request.body, actorOf(request)).then(render),
  )
  app.delete(
    '/api/spaces/:id',
    described('deleteSpace', 'Delete a Space', {
      description: 'The Space and its endpoint answer 404 at once; its documents are removed in the background.',
      params,
      response: { 204: z.null().describe('Empty.'), ...errorResponses(401, 404) },
    }),
    async (request, reply) => {
      await spaces.remove(request.params.id, actorOf(request))
      return reply.code(204).send(null)
    },
  )
}

function addPublishing(app: App, spaces: Spaces) {
  app.post(
    '/api/spaces/:id/publish',
    described('publishSpace', 'Publish a Space', {
      description: 'Creates the endpoint id when the Space is first published; later calls keep it.',
      params,
      response: { 200: spaceSchema, ...errorResponses(401, 404) },
    }),
    (request) => spaces.publish(request.params.id, actorOf(request)).then(render),
  )
  app.post(
    '/api/spaces/:id/unpublish',
    described('unpublishSpace', 'Unpublish a Space', {
      description: 'The endpoint answers 404 at once, on other instances within a second.',
      params,
      response: { 200: spaceSchema, ...errorResponses(401, 404) },
    }),
    (request) => spaces.unpublish(request.params.id, actorOf(request)).then(render),
  )
}

function render(space: Space): SpaceBody {
  return {
    id: space.id,
    organisationId: space.organisationId,
    ...describeSpace(space),
    createdAt: new Date(space.createdAt).toISOString(),
    updatedAt: new Date(space.updatedAt).toISOString(),
  }
}
