import { errorResponses } from '../../contract/errors.ts'
import {
  goldenResultPageSchema,
  goldenResultsQuerySchema,
  goldenRunPageSchema,
  goldenRunParamsSchema,
  goldenRunSchema,
  listGoldenRunsQuerySchema,
  publicationGateSchema,
} from '../../contract/golden-runs.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import type { App, Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import type { GoldenRuns } from './golden-runs.ts'

export interface GoldenRunRoutesDependencies {
  runs: GoldenRuns
  getSpace: (id: string) => Space | undefined
}

const path = '/api/spaces/:id/golden-runs'

/** `/api/spaces/{id}/golden-runs`, and the gate before publishing. */
export function goldenRunRoutes({ runs, getSpace }: GoldenRunRoutesDependencies): Routes {
  const context = { runs, ...routesOfSpace(getSpace, 'Golden questions') }
  return (app) => {
    addReads(app, context)
    addChanges(app, context)
  }
}

type Context = RoutesOfSpace & Pick<GoldenRunRoutesDependencies, 'runs'>

function addReads(app: App, { runs, forMembers, spaceOf }: Context) {
  app.get(
    path,
    forMembers('listGoldenRuns', 'List runs of the golden questions of a Space', {
      description: 'The newest 30 are kept.',
      params: idParamsSchema,
      querystring: listGoldenRunsQuerySchema,
      response: { 200: goldenRunPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => runs.loadPage(spaceOf(request.params.id), request.query),
  )
  app.get(
    `${path}/:runId`,
    forMembers('getGoldenRun', 'Get a run of golden questions', {
      params: goldenRunParamsSchema,
      response: { 200: goldenRunSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => runs.load(spaceOf(request.params.id), request.params.runId),
  )
  app.get(
    `${path}/:runId/results`,
    forMembers('listGoldenResults', 'List the results of a run of golden questions', {
      params: goldenRunParamsSchema,
      querystring: goldenResultsQuerySchema,
      response: { 200: goldenResultPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => runs.loadResults(spaceOf(request.params.id), request.params.runId, request.query),
  )
  app.get(
    '/api/spaces/:id/publication-gate',
    forMembers('getPublicationGate', 'Whether the golden questions allow publishing a Space', {
      params: idParamsSchema,
      response: { 200: publicationGateSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => runs.loadGate(spaceOf(request.params.id)),
  )
}

function addChanges(app: App, { runs, forMembers, forActingMembers, spaceOf }: Context) {
  app.post(
    path,
    forActingMembers('startGoldenRun', 'Run the golden questions of a Space', {
      config: { limited: 'call' },
      description:
        'In the background, with the answers and costs of the published chat. 409 while another run of the Space has not ended.',
      params: idParamsSchema,
      response: { 202: goldenRunSchema, ...errorResponses(401, 403, 404, 409, 429) },
    }),
    async (request, reply) => {
      const started = await runs.start(spaceOf(request.params.id), actorOf(request))
      reply.header('location', `/api/spaces/${started.spaceId}/golden-runs/${started.id}`)
      return started
    },
  )
  app.post(
    `${path}/:runId/cancel`,
    forMembers('cancelGoldenRun', 'Cancel a run of golden questions', {
      description: 'Questions without a result become `skipped`.',
      params: goldenRunParamsSchema,
      response: { 200: goldenRunSchema, ...errorResponses(401, 403, 404, 409) },
    }),
    (request) => runs.cancel(spaceOf(request.params.id), request.params.runId, actorOf(request)),
  )
}
