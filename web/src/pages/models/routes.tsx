import type { DeploymentsView, ModelsView, ModelView, ProvidersView } from '@contract/console-models.ts'
import type { ModelKind } from '@contract/model-kinds.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { createRoute } from '@tanstack/react-router'
import { jsonQuery, withQuery } from '../../api/queries.ts'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

/** All queries of these pages; a change of the catalogue invalidates them together. */
export const catalogueKey = ['catalogue'] as const

/**
 * Between two requests of the page of deployments. Polling instead of an event stream: the view is computed when it is read, each request may
 * reach another instance, and a hidden page stops requesting.
 */
const refreshMs = 3_000

export interface ListSearch {
  search?: string
  offset?: number
  /** The entry whose drawer is open. */
  open?: string
}

export interface DeploymentsSearch extends ListSearch {
  state?: DeploymentsState
  provider?: string
}

export interface ModelsSearch extends ListSearch {
  availability?: ModelsAvailability
  kind?: ModelKind
}

export const modelKinds = ['chat', 'embedding', 'rerank'] as const satisfies ModelKind[]
export const deploymentsStates = ['all', 'trouble', 'serving', 'disabled'] as const
export type DeploymentsState = (typeof deploymentsStates)[number]
export const modelsAvailabilities = ['all', 'callable', 'eu', 'not_callable'] as const
export type ModelsAvailability = (typeof modelsAvailabilities)[number]

export const pageSizes = { providers: 100, deployments: 50, models: 200 } as const

/** Something hides entries of the list. */
export const isFiltered = ({ offset: _offset, open: _open, ...filters }: ListSearch) =>
  Object.values(filters).some((value) => value !== undefined)

export const providersQuery = ({ search, offset = 0 }: ListSearch) =>
  jsonQuery<ProvidersView>(
    [...catalogueKey, 'providers', { search, offset }],
    withQuery('/api/console/providers', { search, offset, limit: pageSizes.providers }),
  )

export const deploymentsQuery = ({ search, offset = 0, state, provider }: DeploymentsSearch) =>
  jsonQuery<DeploymentsView>(
    [...catalogueKey, 'deployments', { search, offset, state, provider }],
    withQuery('/api/console/deployments', { search, offset, state, provider, limit: pageSizes.deployments }),
    { refetchInterval: refreshMs, placeholderData: keepPreviousData },
  )

export const modelsQuery = ({ search, offset = 0, availability, kind }: ModelsSearch) =>
  jsonQuery<ModelsView>(
    [...catalogueKey, 'models', { search, offset, availability, kind }],
    withQuery('/api/console/models', { search, offset, availability, kind, limit: pageSizes.models }),
  )

export const modelQuery = (id: string) =>
  jsonQuery<ModelView>([...catalogueKey, 'model', id], `/api/console/models/${encodeURIComponent(id)}`)

function readList(search: Record<string, unknown>): ListSearch {
  const { search: text, offset, open } = search
  return {
    ...(typeof text === 'string' && text !== '' && { search: text }),
    ...(typeof offset === 'number' && offset > 0 && { offset }),
    ...(typeof open === 'string' && { open }),
  }
}

const oneOf = <Value extends string>(values: readonly Value[], value: unknown): Value | undefined =>
  values.find((one) => one === value)

const providersRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'providers',
  validateSearch: readList,
  loaderDeps: ({ search: { open: _open, ...deps } }) => deps,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(providersQuery(deps)),
  component: lazyPage('models', () => import('./providers-page.tsx'), 'ProvidersPage'),
})

const deploymentsRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'deployments',
  validateSearch: (search: Record<string, unknown>): DeploymentsSearch => {
    const state = oneOf(deploymentsStates, search['state'])
    const { provider } = search
    return {
      ...readList(search),
      ...(state && { state }),
      ...(typeof provider === 'string' && { provider }),
    }
  },
  loaderDeps: ({ search: { open: _open, ...deps } }) => deps,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(deploymentsQuery(deps)),
  component: lazyPage('models', () => import('./deployments-page.tsx'), 'DeploymentsPage'),
})

const modelsRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'models',
  validateSearch: (search: Record<string, unknown>): ModelsSearch => {
    const availability = oneOf(modelsAvailabilities, search['availability'])
    const kind = oneOf(modelKinds, search['kind'])
    return { ...readList(search), ...(availability && { availability }), ...(kind && { kind }) }
  },
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(modelsQuery(deps)),
  component: lazyPage('models', () => import('./models-page.tsx'), 'ModelsPage'),
})

const modelRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'models/$modelId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(modelQuery(params.modelId)),
  component: lazyPage('models', () => import('./model-page.tsx'), 'ModelPage'),
})

export const modelRoutes = [providersRoute, deploymentsRoute, modelsRoute, modelRoute] as const
