import { SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A few values with their names. */
export function Figures({ items, columns = 4 }: { items: { label: string; value: ReactNode }[]; columns?: number }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, sm: columns }} spacing="md" verticalSpacing="sm" m={0}>
      {items.map(({ label, value }) => (
        <div key={label}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}
