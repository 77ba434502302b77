import { errorResponses } from '../../contract/errors.ts'
import {
  createSpaceSchema,
  emptySchema,
  idParamsSchema,
  listSpacesQuerySchema,
  publishSpaceQuerySchema,
  spacePageSchema,
  spaceSchema,
  updateSpaceSchema,
} from '../../contract/operator.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import {
  type App,
  describeRoutes,
  forbidden,
  isAdministratorOf,
  type Routes,
  ownerOf,
  visibleOrganisations,
} from '../../platform/http/index.ts'
import { AppError, type OrganisationId } from '../../platform/kernel/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { renderSpace } from './describe-space.ts'
import { type RoutesOfSpace, routesOfSpace } from './space-scope.routes.ts'
import { defaultSpaceSettings } from './space-change.ts'
import type { SpaceSettings } from './space.ts'
import type { Spaces } from './spaces.ts'

const tag = 'Operator: Spaces'
const params = idParamsSchema

const organisationIn = (body: unknown) => (body as { organisationId: string }).organisationId
/** Members of the organisation in the body. */
const creators = {
  role: 'member',
  organisation: ({ body }: { body: unknown }) => organisationIn(body).toLowerCase(),
  missing: ({ body }: { body: unknown }) =>
    new AppError('organisation_not_found', `There is no organisation ${organisationIn(body)}.`, {
      param: 'organisationId',
    }),
} as const

/** `/api/spaces`: Spaces and their publication. */
export function spaceRoutes({ spaces }: { spaces: Spaces }): Routes {
  const ofSpace = routesOfSpace(spaces.get, tag)
  return (app) => {
    addReads(app, spaces, ofSpace)
    addChanges(app, spaces, ofSpace)
    addPublishing(app, spaces, ofSpace)
  }
}

function addReads(app: App, spaces: Spaces, { forMembers, spaceOf }: RoutesOfSpace) {
  app.get(
    '/api/spaces',
    describeRoutes({ role: 'person' }, tag)('listSpaces', 'List Spaces', {
      description: 'Newest first; of one organisation or of all. People see the Spaces of their organisations.',
      querystring: listSpacesQuerySchema,
      response: { 200: spacePageSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => {
      const { limit, offset, organisationId, search } = request.query
      const visible = visibleOrganisations(request, 'member')
      const filter = {
        owner: ownerOf(request),
        ...(organisationId === undefined ? {} : { organisationId }),
        ...(search === undefined ? {} : { search }),
        ...(visible && { visible }),
      }
      return spaces
        .loadPage({ limit, offset, ...filter })
        .then((page) => ({ total: page.total, limit, offset, items: page.spaces.map(renderSpace) }))
    },
  )
  app.get(
    '/api/spaces/:id',
    forMembers('getSpace', 'Get a Space', { params, response: { 200: spaceSchema, ...errorResponses(401, 403, 404) } }),
    (request) => renderSpace(spaceOf(request.params.id)),
  )
}

const administratorSettings = [
  'keepUnansweredQuestions',
  'keepConversations',
  'conversationDays',
  'requiredFilter',
] as const
type AdministratorSettings = Pick<SpaceSettings, (typeof administratorSettings)[number]>

/** Administrators decide whose texts are kept and who reads what. Members may send these settings unchanged. */
function assertMaySet(
  request: Parameters<typeof isAdministratorOf>[0],
  organisationId: string,
  settings: { [Name in keyof AdministratorSettings]?: AdministratorSettings[Name] | undefined } = {},
  current: AdministratorSettings = defaultSpaceSettings,
) {
  const isChanged = administratorSettings.some(
    (name) => JSON.stringify(settings[name] ?? current[name]) !== JSON.stringify(current[name]),
  )
  if (isChanged && !isAdministratorOf(request, organisationId)) throw forbidden('an administrator of the organisation')
}

function addChanges(app: App, spaces: Spaces, { forMembers }: RoutesOfSpace) {
  app.post(
    '/api/spaces',
    describeRoutes(creators, tag)('createSpace', 'Create a Space', {
      body: createSpaceSchema,
      response: { 201: spaceSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    async (request, reply) => {
      const { organisationId, ...given } = request.body
      assertMaySet(request, organisationId, given.settings)
      const created = await spaces.create(
        { ...given, organisationId: organisationId as OrganisationId },
        actorOf(request),
      )
      reply.header('location', `/api/spaces/${created.id}`)
      return renderSpace(created)
    },
  )
  app.patch(
    '/api/spaces/:id',
    forMembers('updateSpace', 'Change a Space', {
      description: 'Absent fields keep their values, also within `settings`.',
      params,
      headers: ifMatchHeadersSchema,
      body: updateSpaceSchema,
      response: { 200: spaceSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => {
      const space = spaces.get(request.params.id)
      if (space) assertMaySet(request, space.organisationId, request.body.settings, space.settings)
      const ifMatch = request.headers['if-match']
      return spaces.update(request.params.id, request.body, actorOf(request), ifMatch).then(renderSpace)
    },
  )
  app.delete(
    '/api/spaces/:id',
    forMembers('deleteSpace', 'Delete a Space', {
      description: 'The Space and its endpoint answer 404 at once; its documents are removed in the background.',
      params,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => spaces.remove(request.params.id, actorOf(request)),
  )
}

function addPublishing(app: App, spaces: Spaces, { forAdministrators }: RoutesOfSpace) {
  app.post(
    '/api/spaces/:id/publish',
    forAdministrators('publishSpace', 'Publish a Space', {
      description:
        'Creates the endpoint id when the Space is first published; later calls keep it. 409 if the Space has a gate that its golden questions do not pass.',
      params,
      querystring: publishSpaceQuerySchema,
      response: { 200: spaceSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => spaces.publish(request.params.id, actorOf(request), request.query.overrideReason).then(renderSpace),
  )
  app.post(
    '/api/spaces/:id/unpublish',
    forAdministrators('unpublishSpace', 'Unpublish a Space', {
      description: 'The endpoint answers 404 at once, on other instances within a second.',
      params,
      response: { 200: spaceSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => spaces.unpublish(request.params.id, actorOf(request)).then(renderSpace),
  )
}
