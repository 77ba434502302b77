import { Stack } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Dims its content while other data of the page load. The content is not rendered again for that. */
export function LoadingStack({ children }: { children: ReactNode }) {
  const isLoading = useRouterState({ select: (state) => state.isLoading })
  return (
    <Stack gap="xl" aria-busy={isLoading} style={{ opacity: isLoading ? 0.6 : 1, transition: 'opacity 150ms' }}>
      {children}
    </Stack>
  )
}
