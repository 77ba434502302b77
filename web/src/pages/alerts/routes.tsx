import { createRoute } from '@tanstack/react-router'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

export const alertViews = ['open', 'resolved', 'messages', 'settings'] as const
export type AlertView = (typeof alertViews)[number]

export const alertsRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'alerts',
  validateSearch: (search: Record<string, unknown>): { view?: AlertView } => {
    const view = alertViews.find((one) => one === search['view'])
    return view === undefined ? {} : { view }
  },
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { queryClient }, deps: { view = 'open' } }) => {
    const { alertSettingsQuery, alertsQuery, deliveriesQuery } = await import('./alert-queries.ts')
    if (view === 'settings') await queryClient.ensureQueryData(alertSettingsQuery)
    else if (view === 'messages') await queryClient.ensureInfiniteQueryData(deliveriesQuery)
    else await queryClient.ensureInfiniteQueryData(alertsQuery(view))
  },
  component: lazyPage('alerts', () => import('./alerts-page.tsx'), 'AlertsPage'),
})

export const alertRoutes = [alertsRoute] as const
