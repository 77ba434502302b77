import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorResponses } from '../../../contract/errors.ts'
import { idParamsSchema } from '../../../contract/operator.ts'
import { documentParamsSchema } from '../../../contract/documents.ts'
import {
  newWebSourceSchema,
  webSourcePageSchema,
  webSourcePlaceSchema,
  webSourceQuerySchema,
  spaceSourceParamsSchema,
  webSourceSchema,
} from '../../../contract/web-sources.ts'
import type { ChangeAuthor } from '../change-author.ts'
import { type App, describeRoutes, type Routes } from '../../../platform/http/index.ts'
import type { SpaceId } from '../../../platform/kernel/index.ts'
import { actingMembersOf, noSpace } from '../document-members.ts'
import { memberTexts } from '../document-metadata.ts'
import { acceptBodyTexts } from '../document-requests.routes.ts'
import { renderWebSource, type WebSource } from './web-source.ts'
import type { WebSources } from './web-sources.ts'

export interface WebSourceRoutesDependencies {
  webSources: WebSources
  findSpace: (id: string) => { id: SpaceId; organisationId: string } | undefined
  /** The author of a change that a request makes, for the admin log. */
  authorOf: (request: FastifyRequest) => ChangeAuthor
}

const noBody = z.null().describe('No body.')

/** `/v2/documents/sources`, and `/api/spaces/{id}/sources` for people. */
export function webSourceRoutes(dependencies: WebSourceRoutesDependencies): Routes {
  return (app) => {
    addForKeys(app, dependencies)
    void app.register(async (scope: unknown) => {
      acceptBodyTexts(scope as App)
      addForPeople(scope as App, dependencies)
    })
  }
}

function addForKeys(app: App, { webSources }: WebSourceRoutesDependencies) {
  const described = describeRoutes('organisation', 'Documents, version 2')
  const params = documentParamsSchema
  app.get(
    '/v2/documents/sources',
    described('listWebSources', 'List the web addresses of a Space', {
      description: 'Newest first.',
      querystring: webSourceQuerySchema,
      response: { 200: webSourcePageSchema, ...errorResponses(400, 401, 404) },
    }),
    (request) => {
      const { spaceId, ...page } = request.query
      const listed = webSources.list(request.organisation, spaceId.toLowerCase() as SpaceId, page)
      return listed.then((found) => renderPage(found, page))
    },
  )
  app.get(
    '/v2/documents/sources/:id',
    described('getWebSource', 'Get a web address', {
      params,
      response: { 200: webSourceSchema, ...errorResponses(401, 404) },
    }),
    (request) => webSources.get(request.organisation, request.params.id).then(renderWebSource),
  )
  app.post(
    '/v2/documents/sources/:id/refresh',
    described('refreshWebSource', 'Read a web address again now', {
      params,
      response: { 202: webSourceSchema, ...errorResponses(401, 404) },
    }),
    (request) => webSources.readNow(request.organisation, request.params.id).then(renderWebSource),
  )
  app.delete(
    '/v2/documents/sources/:id',
    described('deleteWebSource', 'Stop reading a web address', {
      description: 'Its documents stay.',
      params,
      response: { 204: noBody, ...errorResponses(401, 404) },
    }),
    (request) => webSources.remove(request.organisation, request.params.id),
  )
}

function addForPeople(app: App, dependencies: WebSourceRoutesDependencies) {
  const { webSources, findSpace, authorOf } = dependencies
  const access = actingMembersOf((id) => findSpace(id)?.organisationId, noSpace)
  const forMembers = describeRoutes(access, 'Operator: Documents')
  app.get(
    '/api/spaces/:id/sources',
    forMembers('listSpaceWebSources', 'List the web addresses of a Space', {
      params: idParamsSchema,
      querystring: webSourcePlaceSchema,
      response: { 200: webSourcePageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    ({ params, query, organisation }) => {
      const space = findSpace(params.id)
      if (!space) throw noSpace()
      return webSources.list(organisation, space.id, query).then((found) => renderPage(found, query))
    },
  )
  app.post(
    '/api/spaces/:id/sources',
    forMembers('addSpaceWebSource', 'Add a document from a web address', {
      config: { limited: 'upload' },
      description: 'As `POST /v2/documents` with JSON.',
      params: idParamsSchema,
      body: newWebSourceSchema,
      response: { 202: webSourceSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => {
      const { organisation, body, bodyText = '{}' } = request
      const space = findSpace(request.params.id)
      if (!space) throw noSpace()
      const metadataText = memberTexts(bodyText).get('metadata')
      return webSources.add(organisation, space.id, body, metadataText, authorOf(request)).then(renderWebSource)
    },
  )
  addChangesForPeople(app, dependencies, forMembers)
}

function addChangesForPeople(
  app: App,
  { webSources, findSpace, authorOf }: WebSourceRoutesDependencies,
  forMembers: ReturnType<typeof describeRoutes>,
) {
  /** The source, if it is of the Space of the path. */
  async function find({ organisation, params }: FastifyRequest) {
    const { id, sourceId } = params as z.infer<typeof spaceSourceParamsSchema>
    const source = await webSources.get(organisation, sourceId, 'sourceId')
    if (source.spaceId !== findSpace(id)?.id) throw noSpace()
    return source
  }
  app.post(
    '/api/spaces/:id/sources/:sourceId/refresh',
    forMembers('refreshSpaceWebSource', 'Read a web address again now', {
      params: spaceSourceParamsSchema,
      response: { 202: webSourceSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) =>
      find(request)
        .then(({ id }) => webSources.readNow(request.organisation, id, authorOf(request)))
        .then(renderWebSource),
  )
  app.delete(
    '/api/spaces/:id/sources/:sourceId',
    forMembers('deleteSpaceWebSource', 'Stop reading a web address', {
      description: 'Its documents stay.',
      params: spaceSourceParamsSchema,
      response: { 204: noBody, ...errorResponses(401, 403, 404) },
    }),
    (request) => find(request).then(({ id }) => webSources.remove(request.organisation, id, authorOf(request))),
  )
}

function renderPage({ total, items }: { total: number; items: WebSource[] }, page: { limit: number; offset: number }) {
  return { total, limit: page.limit, offset: page.offset, items: items.map(renderWebSource) }
}
