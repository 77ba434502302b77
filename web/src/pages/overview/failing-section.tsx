import { Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { AnchorLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'
import { FailingList } from './failing-list.tsx'
import { failingQuery } from './health-query.ts'

/** Models that fail now; the rest of the page does not wait for it. */
export function FailingSection() {
  const { t } = useTranslation('overview')
  const { data } = useQuery(failingQuery)
  const items = data?.items ?? []
  const models = new Set(items.map(({ deployment }) => deployment)).size
  return (
    <Section
      title={t('health.now')}
      actions={
        <AnchorLink to="/operator/health" size="sm">
          {t('health.open')}
        </AnchorLink>
      }
    >
      <Group gap="xs" aria-live="polite" mih={24}>
        {data && (
          <>
            {models > 0 ? (
              <IconAlertTriangle size={18} color="var(--mantine-color-error)" aria-hidden />
            ) : (
              <IconCircleCheck size={18} color="var(--mantine-color-teal-filled)" aria-hidden />
            )}
            <Text size="sm" fw={500}>
              {models > 0 ? t('health.failing', { count: models }) : t('health.none')}
            </Text>
          </>
        )}
      </Group>
      {items.length > 0 && <FailingList items={items} />}
    </Section>
  )
}
