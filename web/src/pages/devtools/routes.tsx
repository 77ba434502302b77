import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import type { ReceiptBody } from '@contract/usage.ts'
import { queryOptions } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { getJson } from '../../api/client.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'

/** State of the gateway, API key and models: the data of Developer Tools and of the playground. */
export const developerToolsQuery = (organisationId: string) =>
  queryOptions({
    queryKey: ['developer-tools', organisationId],
    queryFn: ({ signal }) =>
      getJson<DeveloperToolsView>(`/api/console/organisations/${organisationId}/developer-tools`, { signal }),
  })

/** A receipt never changes. */
export const receiptQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['receipt', requestId],
    queryFn: ({ signal }) => getJson<ReceiptBody>(`/api/usage/${encodeURIComponent(requestId)}`, { signal }),
    staleTime: Infinity,
  })

const developerToolsRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'developer-tools',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(developerToolsQuery(params.organisationId)),
  component: lazyRouteComponent(
    () => withTexts('devtools', import('./developer-tools-page.tsx')),
    'DeveloperToolsPage',
  ),
})

const playgroundRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'playground',
  validateSearch: (search: Record<string, unknown>): { model?: string } =>
    typeof search['model'] === 'string' ? { model: search['model'] } : {},
  loader: ({ context, params }) => context.queryClient.ensureQueryData(developerToolsQuery(params.organisationId)),
  component: lazyRouteComponent(
    () => withTexts(['devtools', 'playground'], import('../playground/playground-page.tsx')),
    'PlaygroundPage',
  ),
})

const receiptSearchRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts',
  component: lazyRouteComponent(() => withTexts('devtools', import('./receipt-page.tsx')), 'ReceiptSearchPage'),
})

const receiptRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts/$requestId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(receiptQuery(params.requestId)),
  component: lazyRouteComponent(() => withTexts('devtools', import('./receipt-page.tsx')), 'ReceiptPage'),
  errorComponent: lazyRouteComponent(() => withTexts('devtools', import('./receipt-page.tsx')), 'ReceiptError'),
})

export const devtoolsRoutes = [developerToolsRoute, playgroundRoute, receiptSearchRoute, receiptRoute] as const
