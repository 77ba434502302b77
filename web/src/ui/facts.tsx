import { Box, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Names and values side by side; two columns in a narrow window. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <SimpleGrid component="dl" m={0} cols={{ base: 2, md: 4 }} spacing="md" verticalSpacing="sm">
      {facts.map(([name, value]) => (
        <Box key={name} miw={0}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  )
}
