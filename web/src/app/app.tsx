import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { RouterProvider } from '@tanstack/react-router'
import { OverlayPlace } from '../ui/overlays.tsx'
import { queryClient } from './query-client.ts'
import { router } from './router.ts'
import { SessionPlace } from './session-place.tsx'

/** Every page of the console, at the address of the window. */
export function App() {
  // The page has its frame now.
  useEffect(() => router.subscribe('onRendered', () => document.getElementById('outline')?.remove()), [])
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <OverlayPlace />
      <SessionPlace />
    </QueryClientProvider>
  )
}
