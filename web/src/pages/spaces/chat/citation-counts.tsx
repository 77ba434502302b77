import { ActionIcon, Group, Popover, Stack, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { PreviewCitations } from '@contract/chat.ts'

const outcomes = ['supported', 'moved', 'dropped', 'unchecked', 'attributed'] as const

/** What the check of citations did with the markers of the model, and what the numbers mean. */
export function CitationCounts({ counts }: { counts: PreviewCitations }) {
  const { t } = useTranslation('spaces')
  const seen = outcomes.filter((outcome) => counts[outcome] > 0)
  if (seen.length === 0) return null
  const summary = seen.map((outcome) => t(`citations.${outcome}`, { count: counts[outcome] })).join(' · ')
  return (
    <Group gap={4} c="dimmed" fz="xs" wrap="nowrap">
      <span>
        {t('citations.title')}: {summary}
      </span>
      <Popover width={340} position="top" shadow="md" withArrow trapFocus>
        <Popover.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('citations.explain')}>
            <IconInfoCircle size={15} aria-hidden />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs" tabIndex={0}>
            <Text size="sm">{t('citations.explainText')}</Text>
            {outcomes.map((outcome) => (
              <Text key={outcome} size="sm">
                <Text span fw={600} size="sm">
                  {t(`citations.${outcome}`, { count: counts[outcome] })}:
                </Text>{' '}
                {t(`citations.${outcome}Text`)}
              </Text>
            ))}
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  )
}
