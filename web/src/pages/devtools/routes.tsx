import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import { createRoute } from '@tanstack/react-router'
import { jsonQuery } from '../../api/queries.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

/** State of the gateway, API key and models: the data of Developer Tools and of the playground. */
export const developerToolsQuery = (organisationId: string) =>
  jsonQuery<DeveloperToolsView>(
    ['developer-tools', organisationId],
    `/api/console/organisations/${organisationId}/developer-tools`,
  )

const developerToolsRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'developer-tools',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(developerToolsQuery(params.organisationId)),
  component: lazyPage('devtools', () => import('./developer-tools-page.tsx'), 'DeveloperToolsPage'),
})

const playgroundRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'playground',
  validateSearch: (search: Record<string, unknown>): { model?: string } =>
    typeof search['model'] === 'string' ? { model: search['model'] } : {},
  loader: ({ context, params }) => context.queryClient.ensureQueryData(developerToolsQuery(params.organisationId)),
  component: lazyPage(['devtools', 'playground'], () => import('../playground/playground-page.tsx'), 'PlaygroundPage'),
})

export const devtoolsRoutes = [developerToolsRoute, playgroundRoute] as const
