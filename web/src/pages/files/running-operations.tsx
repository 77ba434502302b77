import { Button, Group, Progress, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentOperationBody } from '@contract/document-progress.ts'
import { getJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { notifyError, notifyWarning } from '../../ui/notify.ts'

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
