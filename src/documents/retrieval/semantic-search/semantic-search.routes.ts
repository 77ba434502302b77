import { errorResponses } from '../../../contract/errors.ts'
import { putSemanticSearchSchema, semanticSearchSchema } from '../../../contract/semantic-search.ts'
import { ifMatchHeadersSchema } from '../../../contract/settings-version.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import { actorOf } from '../../../tenants/operators/index.ts'
import type { LocalModel } from './local-model.ts'
import type { SemanticSearch } from './semantic-search.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator: search')
const path = '/api/semantic-search'
const localPath = `${path}/local-model`

interface SemanticSearchRoutesDependencies {
  semanticSearch: SemanticSearch
  localModel: Pick<LocalModel, 'start' | 'stop'>
}

/** The embedding model of the installation: what is offered and costs, the choice, and the progress of indexing. */
export function semanticSearchRoutes({ semanticSearch, localModel }: SemanticSearchRoutesDependencies): Routes {
  return (app) => {
    app.get(
      path,
      described('getSemanticSearch', 'Search by meaning: models, costs and progress', {
        response: { 200: semanticSearchSchema, ...errorResponses(401, 403) },
      }),
      () => semanticSearch.view(),
    )
    app.put(
      path,
      described('enableSemanticSearch', 'Search by meaning with an embedding model', {
        description:
          'All documents are embedded in the background, each billed to its organisation; until the end, search uses the model before. On every instance. 409 if the configuration names an embedder, or if the instance that answers cannot run the local model.',
        headers: ifMatchHeadersSchema,
        body: putSemanticSearchSchema,
        response: { 200: semanticSearchSchema, ...errorResponses(400, 401, 403, 409) },
      }),
      (request) =>
        semanticSearch.turnOn(request.body.model, { actor: actorOf(request), ifMatch: request.headers['if-match'] }),
    )
    app.delete(
      path,
      described('disableSemanticSearch', 'Search by spelling again', {
        description: 'With the built-in embedder, which costs nothing. 409 if the configuration names an embedder.',
        headers: ifMatchHeadersSchema,
        response: { 200: semanticSearchSchema, ...errorResponses(400, 401, 403, 409) },
      }),
      (request) => semanticSearch.turnOff({ actor: actorOf(request), ifMatch: request.headers['if-match'] }),
    )
    app.post(
      localPath,
      described('installLocalModel', 'Fetch the open model that needs no provider', {
        description:
          'Into the data folder of the instance that answers; every file is checked against its known hash. It continues what an earlier call has fetched, and changes no setting. 409 while it runs.',
        response: { 202: semanticSearchSchema, ...errorResponses(401, 403, 409) },
      }),
      async () => {
        await localModel.start()
        return semanticSearch.view()
      },
    )
    app.delete(
      localPath,
      described('stopLocalModel', 'Stop fetching the open model', {
        description: 'On whichever instance it runs. What was fetched stays for the next time.',
        response: { 200: semanticSearchSchema, ...errorResponses(401, 403) },
      }),
      async () => {
        await localModel.stop()
        return semanticSearch.view()
      },
    )
  }
}
