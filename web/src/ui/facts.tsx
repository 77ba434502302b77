import { Box, type MantineBreakpoint, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface FactsProps {
  /** One without a value is left out. */
  items: { label: string; value: ReactNode }[]
  columns?: Partial<Record<MantineBreakpoint, number>>
}

/** Values with their names side by side; two columns in a narrow window. */
export function Facts({ items, columns = { md: 4 } }: FactsProps) {
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 2, ...columns }} spacing="md" verticalSpacing="sm">
      {items
        .filter(({ value }) => value !== undefined)
        .map(({ label, value }) => (
          <Box key={label} miw={0}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" m={0} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Box>
        ))}
    </SimpleGrid>
  )
}
