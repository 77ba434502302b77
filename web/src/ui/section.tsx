import { Box, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { Dimmed } from './dimmed.tsx'

/** A part of a page with a heading. */
export function Section(props: { title: string; description?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const { title, description, actions, children } = props
  const id = useId()
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <Box flex="1 1 320px" miw={0}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {description && <Dimmed maw={720}>{description}</Dimmed>}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
