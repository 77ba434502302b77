import {
  deploymentsViewQuerySchema,
  deploymentsViewSchema,
  modelsViewQuerySchema,
  modelsViewSchema,
  modelViewSchema,
  providersViewQuerySchema,
  providersViewSchema,
} from '../contract/console-models.ts'
import { errorResponses } from '../contract/errors.ts'
import { modelParamsSchema } from '../contract/models.ts'
import { describeRoutes, type Routes } from '../platform/http/index.ts'
import type { CatalogueViews } from '../gateway/models/index.ts'

const described = describeRoutes({ role: 'operator' }, 'Console: models')

/**
 * The operator's pages of providers, deployments and models. The page of deployments requests its view every few seconds instead of keeping
 * a stream open: the view is computed from memory when it is read, an instance has no event for it, and a hidden page stops requesting.
 */
export function modelViewRoutes({ views }: { views: CatalogueViews }): Routes {
  return (app) => {
    app.get(
      '/api/console/providers',
      described('viewProviders', 'Providers with credentials, connections and last test', {
        querystring: providersViewQuerySchema,
        response: { 200: providersViewSchema, ...errorResponses(400, 401, 403) },
      }),
      (request) => views.providers(request.query),
    )
    app.get(
      '/api/console/deployments',
      described('viewDeployments', 'Deployments with the health that this instance observes', {
        querystring: deploymentsViewQuerySchema,
        response: { 200: deploymentsViewSchema, ...errorResponses(400, 401, 403) },
      }),
      (request) => views.deployments(request.query),
    )
    app.get(
      '/api/console/models',
      described('viewModels', 'Models with prices and availability', {
        querystring: modelsViewQuerySchema,
        response: { 200: modelsViewSchema, ...errorResponses(400, 401, 403) },
      }),
      (request) => views.models(request.query),
    )
    app.get(
      '/api/console/models/:id',
      described('viewModel', 'A model with its deployments and dated prices', {
        params: modelParamsSchema,
        response: { 200: modelViewSchema, ...errorResponses(401, 403, 404) },
      }),
      (request) => views.model(request.params.id),
    )
  }
}
