import { Box, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { Dimmed } from './dimmed.tsx'

/** The frame of a page: its title (also of the browser's tab), one line about it, its actions at the right, and the content. */
export function Page(props: { title: string; description?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const { title, description, actions, children } = props
  useEffect(() => {
    document.title = `${title} · Portico`
  }, [title])
  return (
    <Stack gap="lg" w="100%" maw={1600} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        {/* A long description makes room for the actions, where both fit. */}
        <Box miw={0} flex="1 1 440px">
          <Title order={1}>{title}</Title>
          {description && <Dimmed maw={720}>{description}</Dimmed>}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
