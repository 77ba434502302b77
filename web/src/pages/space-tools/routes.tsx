import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { spaceRoute } from '../spaces/space-route.tsx'

export const spaceToolsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'tools',
  // With the page, not with the first load of every other one.
  loader: async ({ context, params }) => {
    const { toolServersQuery } = await import('./queries.ts')
    return context.queryClient.ensureQueryData(toolServersQuery(params.spaceId))
  },
  component: lazyPage('space-tools', () => import('./space-tools-page.tsx'), 'SpaceToolsPage'),
})

export const spaceToolsRoutes = [spaceToolsRoute] as const
