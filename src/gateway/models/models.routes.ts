import { errorResponses } from '../../contract/errors.ts'
import { emptySchema } from '../../contract/operator.ts'
import {
  addDeploymentsSchema,
  deploymentParamsSchema,
  deploymentSchema,
  deploymentsSchema,
  discoveredModelsSchema,
  modelParamsSchema,
  modelSchema,
  modelsSchema,
  newDeploymentParamsSchema,
  newModelParamsSchema,
  patchDeploymentSchema,
  patchModelSchema,
  patchProviderSchema,
  postPriceSchema,
  priceParamsSchema,
  priceSchema,
  pricesSchema,
  probeProviderSchema,
  providerParamsSchema,
  providerSchema,
  providerTestSchema,
  providersSchema,
  putDeploymentSchema,
  putModelSchema,
  putProviderSchema,
  testProviderSchema,
} from '../../contract/models.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import type { OperatorCatalogue } from './operator-catalogue.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator: models')

/** `/api/providers`, `/api/models`, `/api/deployments`: changes by the operator at run time. */
export function modelRoutes({ catalogue }: { catalogue: OperatorCatalogue }): Routes {
  return (app) => {
    addProviders(app, catalogue)
    addProviderActions(app, catalogue)
    addModels(app, catalogue)
    addDeployments(app, catalogue)
    addPrices(app, catalogue)
  }
}

const changedBy = (request: Parameters<typeof actorOf>[0] & { headers: { 'if-match'?: string | undefined } }) => ({
  actor: actorOf(request),
  ifMatch: request.headers['if-match'],
})

function addProviders(app: App, catalogue: OperatorCatalogue) {
  const params = providerParamsSchema
  app.get(
    '/api/providers',
    described('listProviders', 'List providers', { response: { 200: providersSchema, ...errorResponses(401, 403) } }),
    () => ({ data: catalogue.providers() }),
  )
  app.get(
    '/api/providers/:id',
    described('getProvider', 'Get a provider', {
      params,
      response: { 200: providerSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.provider(request.params.id),
  )
  app.put(
    '/api/providers/:id',
    described('putProvider', 'Declare or replace a provider', {
      params,
      description:
        'Replaces the declaration but not the secrets: an absent `apiKey`, `headers` or `credentials` keeps the stored value, null removes it. Another address (scheme, host or port) requires each stored secret again. A body with only `enabled` enables or disables a provider of the configuration. In force at once here, on other instances within a second; calls in flight keep the old settings.',
      headers: ifMatchHeadersSchema,
      body: putProviderSchema,
      response: { 200: providerSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.putProvider(request.params.id, request.body, changedBy(request)),
  )
  app.patch(
    '/api/providers/:id',
    described('patchProvider', 'Change fields of a provider', {
      params,
      description:
        'Keeps absent fields. Another address (scheme, host or port) requires each stored secret again. A provider of the configuration can only be enabled and disabled. In force as after `PUT`.',
      headers: ifMatchHeadersSchema,
      body: patchProviderSchema,
      response: { 200: providerSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.patchProvider(request.params.id, request.body, changedBy(request)),
  )
  app.delete(
    '/api/providers/:id',
    described('deleteProvider', 'Remove the operator’s declaration of a provider', {
      params,
      description: 'A provider of the configuration then has its configured settings again.',
      response: { 204: emptySchema, ...errorResponses(401, 403, 404, 409) },
    }),
    (request) => catalogue.removeProvider(request.params.id, actorOf(request)),
  )
}

function addProviderActions(app: App, catalogue: OperatorCatalogue) {
  const params = providerParamsSchema
  app.post(
    '/api/providers/probe',
    described('probeProvider', 'Try the settings of a provider before they are stored', {
      description:
        'Requests the listing of a provider with these settings and stores nothing. Each model has its price in the price lists that would apply. A failed request returns 200 with `error`. Some providers list their models without a key: only a call proves it.',
      body: probeProviderSchema,
      response: { 200: discoveredModelsSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => catalogue.probeProvider(request.body),
  )
  app.post(
    '/api/providers/:id/test',
    described('testProvider', 'Test a provider with a real call', {
      params,
      description:
        'Requests the listing of the provider, then sends one small completion (or embedding) to its cheapest model, or to `model`. The provider bills it to your account. Without a deployment only the listing is requested. A failed call returns 200 with `ok: false`; a rejected key also appears as the `problem` of the deployments.',
      body: testProviderSchema.nullish(),
      response: { 200: providerTestSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.testProvider(request.params.id, request.body?.model, request.requestId),
  )
  app.post(
    '/api/providers/:id/discover',
    described('discoverModels', 'List the models that a provider offers', {
      params,
      description:
        'Requests the listing of the provider. Each model has its price in the price lists of the provider and its deployments. A failed request returns 200 with `error`.',
      response: { 200: discoveredModelsSchema, ...errorResponses(401, 403, 404, 409) },
    }),
    (request) => catalogue.discoverModels(request.params.id),
  )
  app.post(
    '/api/providers/:id/deployments',
    described('addDeployments', 'Add several models of a provider as deployments', {
      params,
      description: 'All or none. The id of each deployment is the provider, `/` and the model.',
      body: addDeploymentsSchema,
      response: { 201: deploymentsSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.addDeployments(request.params.id, request.body, actorOf(request)),
  )
}

function addModels(app: App, catalogue: OperatorCatalogue) {
  app.get(
    '/api/models',
    described('listCatalogueModels', 'List models with deployments, prices and health', {
      description: 'All models and deployments, including those that cannot be called, with the reason.',
      response: { 200: modelsSchema, ...errorResponses(401, 403) },
    }),
    () => catalogue.models(),
  )
  app.get(
    '/api/models/:id',
    described('getCatalogueModel', 'Get a model', {
      params: modelParamsSchema,
      response: { 200: modelSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.model(request.params.id),
  )
  app.put(
    '/api/models/:id',
    described('putCatalogueModel', 'Declare a model, or override its facts', {
      params: newModelParamsSchema,
      description: 'Replaces the operator’s earlier declaration. It can be called once a deployment serves it.',
      headers: ifMatchHeadersSchema,
      body: putModelSchema,
      response: { 200: modelSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => catalogue.putModel(request.params.id, request.body, changedBy(request)),
  )
  app.patch(
    '/api/models/:id',
    described('patchCatalogueModel', 'Change facts of a model', {
      params: modelParamsSchema,
      headers: ifMatchHeadersSchema,
      body: patchModelSchema,
      response: { 200: modelSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.patchModel(request.params.id, request.body, changedBy(request)),
  )
  app.delete(
    '/api/models/:id',
    described('deleteCatalogueModel', 'Remove the operator’s declaration of a model', {
      params: modelParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.removeModel(request.params.id, actorOf(request)),
  )
}

function addDeployments(app: App, catalogue: OperatorCatalogue) {
  app.get(
    '/api/deployments',
    described('listDeployments', 'List deployments', {
      response: { 200: deploymentsSchema, ...errorResponses(401, 403) },
    }),
    () => ({ data: catalogue.deployments() }),
  )
  app.get(
    '/api/deployments/:id',
    described('getDeployment', 'Get a deployment', {
      params: deploymentParamsSchema,
      response: { 200: deploymentSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.deployment(request.params.id),
  )
  app.put(
    '/api/deployments/:id',
    described('putDeployment', 'Declare a deployment, or override one', {
      params: newDeploymentParamsSchema,
      description:
        'Where a model can be called: a provider, an id on the wire, a hosting and a weight. A new deployment requires `model` and `provider`.',
      headers: ifMatchHeadersSchema,
      body: putDeploymentSchema,
      response: { 200: deploymentSchema, ...errorResponses(400, 401, 403, 409) },
    }),
    (request) => catalogue.putDeployment(request.params.id, request.body, changedBy(request)),
  )
  app.patch(
    '/api/deployments/:id',
    described('patchDeployment', 'Change fields of a deployment', {
      params: deploymentParamsSchema,
      description: 'Overrides fields of a deployment from any source, for example `enabled` and `weight`.',
      headers: ifMatchHeadersSchema,
      body: patchDeploymentSchema,
      response: { 200: deploymentSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.patchDeployment(request.params.id, request.body, changedBy(request)),
  )
  app.delete(
    '/api/deployments/:id',
    described('deleteDeployment', 'Remove the operator’s declaration of a deployment', {
      params: deploymentParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.removeDeployment(request.params.id, actorOf(request)),
  )
}

function addPrices(app: App, catalogue: OperatorCatalogue) {
  app.get(
    '/api/deployments/:id/prices',
    described('listPrices', 'List the prices of a deployment', {
      params: deploymentParamsSchema,
      response: { 200: pricesSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => ({ data: catalogue.prices(request.params.id) }),
  )
  app.post(
    '/api/deployments/:id/prices',
    described('createPrice', 'Set a price from a date on', {
      params: deploymentParamsSchema,
      description:
        'Replaces the prices of the configuration and the snapshot from `validFrom` on. Calls that are already billed keep their price.',
      body: postPriceSchema,
      response: { 201: priceSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => catalogue.addPrice(request.params.id, request.body, actorOf(request)),
  )
  app.delete(
    '/api/deployments/:id/prices/:priceId',
    described('deletePrice', 'Remove one of the operator’s prices', {
      params: priceParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => catalogue.removePrice(request.params.id, request.params.priceId, actorOf(request)),
  )
}
