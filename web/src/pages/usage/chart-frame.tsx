import { Box, Skeleton } from '@mantine/core'
import { type ReactNode, Suspense } from 'react'

/** The place of a chart while its code loads. The table next to a chart has the same figures for those who cannot see it. */
export function ChartFrame({ label, height, children }: { label: string; height: number; children: ReactNode }) {
  return (
    <Box component="figure" m={0} aria-label={label}>
      <Suspense fallback={<Skeleton height={height} />}>{children}</Suspense>
    </Box>
  )
}
