import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { sessionQuery } from './session.ts'
import { signInAddress } from './sign-in-address.ts'

/** The layouts that pages hang below. Pages are in src/pages; routes.tsx joins them. */

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet })

/** Pages for people who are not signed in, without the sign-in page: see sign-in-address.ts. */
export const publicRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'public',
  component: lazyRouteComponent(() => import('./public-layout.tsx'), 'PublicLayout'),
})

/** Pages with navigation, for signed-in people. The session loads in parallel with the data of the page. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  loader: ({ context, location }) =>
    context.queryClient.ensureQueryData(sessionQuery).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      throw redirect({ href: signInAddress(location.href), reloadDocument: true })
    }),
  // The router shows one placeholder for each load: that of the page, below the frame, and not one in place of both.
  pendingMs: Infinity,
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
})

/** Pages of one organisation. */
export const organisationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: 'organisations/$organisationId',
  component: Outlet,
})

/** Pages of operators. */
export const operatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: 'operator',
  component: Outlet,
})
