import type { DeploymentsViewQuery, ModelsViewQuery } from '../../../contract/console-models.ts'
import { deploymentsView } from './deployment-view.ts'
import { modelsView, modelView } from './model-view.ts'
import { providersView } from './provider-view.ts'
import type { ViewContext } from './view-context.ts'

/** What the console shows of providers, deployments and models. Contains no secrets. */
export type CatalogueViews = ReturnType<typeof createCatalogueViews>

export function createCatalogueViews(context: ViewContext) {
  return {
    providers: (query: { search?: string | undefined; limit: number; offset: number }) => providersView(context, query),
    deployments: (query: DeploymentsViewQuery) => deploymentsView(context, query),
    models: (query: ModelsViewQuery) => modelsView(context, query),
    /** Throws `not_found`. */
    model: (id: string) => modelView(context, id),
  }
}
