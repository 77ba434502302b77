import {
  type PublicationView,
  publicationSchema,
  type SpaceDocumentsView,
  type SpaceListQuery,
  spaceListQuerySchema,
  spaceListSchema,
  type SpaceListView,
  type SpaceModelsView,
  spaceModelsSchema,
  type SpaceView,
  spaceViewSchema,
} from '../contract/console-spaces.ts'
import { errorResponses } from '../contract/errors.ts'
import { idParamsSchema } from '../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../platform/http/index.ts'
import type { Clock } from '../platform/kernel/index.ts'
import type { OfferedModel } from '../gateway/models/index.ts'
import { members, noOrganisation, type Organisation, type Organisations } from '../tenants/organisations/index.ts'
import { type RoutesOfSpace, renderSpace, routesOfSpace, type Space, type Spaces } from '../chat/spaces/index.ts'
import { originOf } from './origin.ts'
import { listSelectableModels } from './selectable-models.ts'

export interface SpaceViewDependencies {
  spaces: Pick<Spaces, 'get' | 'loadPage' | 'defaultModel'>
  organisations: Pick<Organisations, 'get' | 'loadRecord'>
  loadTotals: (organisationId: string, spaceIds: readonly string[]) => Promise<(spaceId: string) => SpaceDocumentsView>
  offeredModels: (organisation: Organisation, nowMs: number) => OfferedModel[]
  isModelAvailable: (organisation: Organisation, model: string) => boolean
  fallbackModel: (organisation: Organisation) => string | undefined
  publicUrl: string | undefined
  clock: Clock
}

const tag = 'Console: Spaces'

/** Spaces with their documents, models and publication: one request for each page. */
export function spaceViewRoutes(dependencies: SpaceViewDependencies): Routes {
  const ofSpace = routesOfSpace(dependencies.spaces.get, tag)
  return (app) => {
    addLists(app, dependencies)
    addSpace(app, dependencies, ofSpace)
    addPublication(app, dependencies, ofSpace)
  }
}

function organisationOf({ organisations }: SpaceViewDependencies, id: string): Organisation {
  const organisation = organisations.get(id)
  if (!organisation) throw noOrganisation(id)
  return organisation
}

function addLists(app: App, dependencies: SpaceViewDependencies) {
  const { spaces, offeredModels, isModelAvailable, clock } = dependencies
  const described = describeRoutes(members, tag)
  app.get(
    '/api/console/organisations/:id/spaces',
    described('viewSpaces', 'Spaces of an organisation with their documents', {
      description: 'Newest first.',
      params: idParamsSchema,
      querystring: spaceListQuerySchema,
      response: { 200: spaceListSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadList(dependencies, request.params.id, request.query),
  )
  app.get(
    '/api/console/organisations/:id/space-models',
    described('viewSpaceModels', 'Models that a Space of the organisation can use, with prices', {
      params: idParamsSchema,
      response: { 200: spaceModelsSchema, ...errorResponses(401, 403, 404) },
    }),
    (request): SpaceModelsView => {
      const organisation = organisationOf(dependencies, request.params.id)
      const nowMs = clock.now()
      return {
        ...listSelectableModels(offeredModels(organisation, nowMs), organisation, nowMs),
        defaultModel: isModelAvailable(organisation, spaces.defaultModel) ? spaces.defaultModel : null,
      }
    },
  )
}

function addSpace(app: App, dependencies: SpaceViewDependencies, { forMembers, spaceOf }: RoutesOfSpace) {
  app.get(
    '/api/console/spaces/:id',
    forMembers('viewSpace', 'A Space with its settings and documents', {
      params: idParamsSchema,
      response: { 200: spaceViewSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => loadSpace(dependencies, spaceOf(request.params.id)),
  )
}

function addPublication(app: App, dependencies: SpaceViewDependencies, { forAdministrators, spaceOf }: RoutesOfSpace) {
  app.get(
    '/api/console/spaces/:id/publication',
    forAdministrators('viewPublication', 'The endpoint of a Space, and what its callers need', {
      params: idParamsSchema,
      response: { 200: publicationSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => loadPublication(dependencies, spaceOf(request.params.id), originOf(request)),
  )
}

function withoutText(space: Space): PublicationView['space'] {
  const { instructions: _instructions, settings: _settings, ...fields } = renderSpace(space)
  return fields
}

async function loadList(
  dependencies: SpaceViewDependencies,
  organisationId: string,
  query: SpaceListQuery,
): Promise<SpaceListView> {
  const { spaces, loadTotals, isModelAvailable } = dependencies
  const organisation = organisationOf(dependencies, organisationId)
  const { search, state, limit, offset } = query
  const page = await spaces.loadPage({
    organisationId: organisation.id,
    limit,
    offset,
    ...(search === undefined ? {} : { search }),
    ...(state === undefined ? {} : { published: state === 'published' }),
  })
  const totalsOf = await loadTotals(
    organisation.id,
    page.spaces.map(({ id }) => id),
  )
  const items = page.spaces.map((space) => ({
    ...withoutText(space),
    modelAvailable: isModelAvailable(organisation, space.model),
    documents: totalsOf(space.id),
  }))
  return { total: page.total, limit, offset, items }
}

async function loadSpace(dependencies: SpaceViewDependencies, space: Space): Promise<SpaceView> {
  const { loadTotals, isModelAvailable, fallbackModel } = dependencies
  const organisation = organisationOf(dependencies, space.organisationId)
  const totalsOf = await loadTotals(space.organisationId, [space.id])
  return {
    ...renderSpace(space),
    modelAvailable: isModelAvailable(organisation, space.model),
    documents: totalsOf(space.id),
    fallbackModel: fallbackModel(organisation) ?? null,
  }
}

/** `origin`: as the browser reached this server, where the configuration has no public address. */
async function loadPublication(
  dependencies: SpaceViewDependencies,
  space: Space,
  origin: string,
): Promise<PublicationView> {
  const { organisations, loadTotals, isModelAvailable, publicUrl } = dependencies
  const [{ organisation, apiKey }, totalsOf] = await Promise.all([
    organisations.loadRecord(space.organisationId),
    loadTotals(space.organisationId, [space.id]),
  ])
  const baseUrl = (publicUrl ?? origin).replace(/\/+$/, '')
  return {
    space: withoutText(space),
    modelAvailable: isModelAvailable(organisation, space.model),
    documents: totalsOf(space.id),
    baseUrl,
    endpointUrl: space.endpointId === null ? null : `${baseUrl}/v1/endpoints/${space.endpointId}/chat`,
    apiKey: apiKey && { prefix: apiKey.prefix, lastFour: apiKey.lastFour },
  }
}
