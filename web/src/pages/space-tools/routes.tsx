import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../../i18n/translations.ts'
import { spaceRoute } from '../spaces/space-route.tsx'

export const spaceToolsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'tools',
  // With the page, not with the first load of every other one.
  loader: async ({ context, params }) => {
    const { toolServersQuery } = await import('./queries.ts')
    return context.queryClient.ensureQueryData(toolServersQuery(params.spaceId))
  },
  component: lazyRouteComponent(() => withTexts('space-tools', import('./space-tools-page.tsx')), 'SpaceToolsPage'),
})

export const spaceToolsRoutes = [spaceToolsRoute] as const
