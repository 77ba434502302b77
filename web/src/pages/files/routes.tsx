import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { withTexts } from '../../i18n/translations.ts'
import { spaceRoute } from '../spaces/space-route.tsx'
import { readListSearch, windowQuery } from './document-queries.ts'

export const filesRoutes = [
  createRoute({
    getParentRoute: () => spaceRoute,
    path: 'files',
    validateSearch: readListSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, params, deps }) => context.queryClient.ensureQueryData(windowQuery(params.spaceId, deps, 0)),
    component: lazyRouteComponent(() => withTexts(['files', 'failures'], import('./files-page.tsx')), 'FilesPage'),
  }),
] as const
