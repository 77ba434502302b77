import { createRouter } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { ErrorState } from '../ui/error-state.tsx'
import { LoadingState } from '../ui/loading-state.tsx'
import { NotFoundState } from '../ui/not-found-state.tsx'
import { queryClient } from './query-client.ts'
import { routeTree } from './routes.tsx'
import { signInAddress } from './sign-in-address.ts'

export const router = createRouter({
  routeTree,
  basepath: '/console',
  context: { queryClient },
  // Query decides whether data is fresh.
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 300,
  defaultPendingComponent: LoadingState,
  defaultErrorComponent: ErrorState,
  defaultNotFoundComponent: NotFoundState,
  scrollRestoration: true,
})

/** A session that has ended leads to the sign-in page, and from there back. */
queryClient.getQueryCache().config.onError = (error) => {
  if (!(error instanceof ApiError) || error.status !== 401) return
  globalThis.location.replace(signInAddress(router.latestLocation.href))
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
