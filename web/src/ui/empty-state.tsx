import { Center, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Shown where a list has no entries: what belongs here, and the action that adds the first. */
export function EmptyState({ title, text, action }: { title: string; text?: ReactNode; action?: ReactNode }) {
  return (
    <Center py={64}>
      <Stack align="center" gap="xs" maw={480}>
        <Title order={2} ta="center">
          {title}
        </Title>
        {text && (
          <Text c="dimmed" ta="center">
            {text}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  )
}
