import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { DocumentFailureCode } from '@contract/documents.ts'
import { useFormat } from '../../i18n/use-format.ts'
import styles from './files.module.css'

interface FailuresProps {
  failures: Record<string, number>
  onShow: (code: DocumentFailureCode) => void
  onRetry: (code: DocumentFailureCode) => void
}

/** What failed, by reason, with what to do about it. */
export function Failures({ failures, onShow, onRetry }: FailuresProps) {
  const { t } = useTranslation('files')
  const { t: reasonText } = useTranslation('failures')
  const format = useFormat()
  const byCode = (Object.entries(failures) as [DocumentFailureCode, number][]).toSorted(
    ([, left], [, right]) => right - left,
  )
  const total = byCode.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  return (
    <Alert
      variant="default"
      icon={<IconAlertCircle className={styles['bad']} aria-hidden />}
      title={t('failures.title', { count: total, n: format.number(total) })}
    >
      <Stack
        gap="xs"
        mah={150}
        tabIndex={0}
        role="group"
        aria-label={t('failures.title', { count: total, n: format.number(total) })}
        style={{ overflow: 'auto' }}
      >
        {byCode.map(([code, count]) => (
          <Group key={code} justify="space-between" align="flex-start" gap="xs">
            <Text size="sm" flex="1 1 300px" maw={900}>
              <Text span inherit fw={600}>
                {t('filter.withCount', { label: reasonText(`failure.${code}`), n: format.number(count) })}
              </Text>{' '}
              {reasonText(`advice.${code}`)}
            </Text>
            <Group gap={4} wrap="nowrap">
              <Button
                size="compact-sm"
                variant="subtle"
                onClick={() => onShow(code)}
                aria-label={`${t('failures.show')}: ${reasonText(`failure.${code}`)}`}
              >
                {t('failures.show')}
              </Button>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => onRetry(code)}
                aria-label={`${t('failures.retryAll', { n: format.number(count) })}: ${reasonText(`failure.${code}`)}`}
              >
                {t('failures.retryAll', { n: format.number(count) })}
              </Button>
            </Group>
          </Group>
        ))}
      </Stack>
    </Alert>
  )
}
