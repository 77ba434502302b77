import { Button, Center, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

interface EmptyStateProps {
  title: string
  text?: ReactNode
  action?: ReactNode
  /** Where a search or a filter hides what there is: shows all of it. */
  onClear?: (() => void) | undefined
}

/** Shown where a list has no entries: what belongs here, and the action that adds the first. */
export function EmptyState({ title, text, action, onClear }: EmptyStateProps) {
  const { t } = useTranslation()
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
        {onClear ? (
          <Button variant="default" onClick={onClear}>
            {t('table.clear')}
          </Button>
        ) : (
          action
        )}
      </Stack>
    </Center>
  )
}
