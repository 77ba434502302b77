import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentFailureCode } from '@contract/documents.ts'
import type { DocumentOperationBody } from '@contract/document-progress.ts'
import { getJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { notifyError, notifyWarning } from '../../ui/notify.ts'
import styles from './files.module.css'

interface RunningOperationsProps {
  spaceId: string
  operations: DocumentOperationBody[]
  onStop: (operationId: string) => void
}

/** Work on many documents that is in progress. */
export function RunningOperations({ spaceId, operations, onStop }: RunningOperationsProps) {
  const { t } = useTranslation('files')
  const format = useFormat()
  useEndOfOperations(spaceId, operations)
  return operations.map(({ id, kind, done, total }) => {
    const text = t(`operation.${kind}`, { done: format.number(done), total: format.number(total) })
    return (
      <Group key={id} gap="sm">
        <Text size="sm" role="status">
          {text}
        </Text>
        <Progress
          flex="1 1 120px"
          maw={420}
          size="sm"
          value={total === 0 ? 100 : (done / total) * 100}
          aria-label={text}
        />
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${t('operation.stop')}: ${text}`}
          onClick={() => onStop(id)}
        >
          {t('operation.stop')}
        </Button>
      </Group>
    )
  })
}

/** Reports files that an operation has left as they are, when it ends while the page shows it. */
function useEndOfOperations(spaceId: string, operations: DocumentOperationBody[]): void {
  const { t } = useTranslation('files')
  const format = useFormat()
  const running = useRef<DocumentOperationBody[]>([])
  useEffect(() => {
    const ended = running.current.filter((before) => !operations.some(({ id }) => id === before.id))
    running.current = operations
    for (const { id, kind } of ended) {
      if (kind !== 'metadata') continue
      getJson<DocumentOperationBody>(`/api/spaces/${spaceId}/documents/operations/${id}`).then(({ skipped }) => {
        if (skipped > 0) notifyWarning(t('operation.skipped', { count: skipped, n: format.number(skipped) }))
      }, notifyError)
    }
  }, [spaceId, operations, t, format])
}

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
