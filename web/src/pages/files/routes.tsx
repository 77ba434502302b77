import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { spaceRoute } from '../spaces/space-route.tsx'
import { readListSearch, windowQuery } from './document-queries.ts'

export const filesRoutes = [
  createRoute({
    getParentRoute: () => spaceRoute,
    path: 'files',
    validateSearch: readListSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, params, deps }) => context.queryClient.ensureQueryData(windowQuery(params.spaceId, deps, 0)),
    component: lazyPage(['files', 'failures'], () => import('./files-page.tsx'), 'FilesPage'),
  }),
] as const
