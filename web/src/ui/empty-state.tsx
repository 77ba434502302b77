import { Button, Center, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { type Drawing, Illustration } from './illustration.tsx'

interface EmptyStateProps {
  title: string
  text?: ReactNode
  action?: ReactNode
  /** Where a search or a filter hides what there is: shows all of it. */
  onClear?: (() => void) | undefined
  /** `open` by default, and `search` with `onClear`. */
  drawing?: Drawing
}

/** Shown where a list has no entries: what belongs here, and the action that adds the first. */
export function EmptyState({ title, text, action, onClear, drawing }: EmptyStateProps) {
  const { t } = useTranslation()
  return (
    <Center py={48}>
      <Stack align="center" gap="xs">
        <Illustration drawing={drawing ?? (onClear ? 'search' : 'open')} />
        <Title order={2} ta="center" maw={480}>
          {title}
        </Title>
        {text && (
          <Text c="dimmed" ta="center" maw={480}>
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
