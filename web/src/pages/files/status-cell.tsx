import { Badge, Button, Group, Popover, Progress, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { WarningText } from '../../ui/failures/warning-text.tsx'
import styles from './files.module.css'

/** Status with stage; of a failed document the reason, and what to do in a popover. */
export function StatusCell({ document, onRetry }: { document: DocumentProgressBody; onRetry: () => void }) {
  const { t } = useTranslation('files')
  if (document.error) return <FailureStatus error={document.error} onRetry={onRetry} />
  if (document.status === 'processing') return <ProcessingStatus document={document} />
  return (
    <Group gap={6} wrap="nowrap">
      <Badge variant="dot" color="teal" tt="none" fw={500}>
        {t('status.ready')}
      </Badge>
      <Warnings document={document} />
    </Group>
  )
}

function ProcessingStatus({ document }: { document: DocumentProgressBody }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const { stage, partsDone, partsTotal, queue } = document
  const queueText = ({ place, estimatedSeconds }: NonNullable<typeof queue>) =>
    estimatedSeconds === null
      ? t('stage.queuedPlace', { place: format.number(place) })
      : t('stage.queuedMinutes', {
          place: format.number(place),
          n: format.number(Math.max(1, Math.ceil(estimatedSeconds / 60))),
        })
  const done = partsDone === null ? '' : format.number(partsDone)
  const text =
    stage === 'extracting' && partsDone !== null && partsTotal !== null
      ? t('stage.extractingPages', { done, total: format.number(partsTotal) })
      : stage === 'indexing' && partsDone !== null
        ? t('stage.indexingParts', { done })
        : stage === 'queued' && queue
          ? queueText(queue)
          : t(`stage.${stage}`)
  const share = partsTotal ? ((partsDone ?? 0) / partsTotal) * 100 : undefined
  const isRunning = stage !== 'queued'
  return (
    <Stack gap={3} miw={0}>
      <Text size="sm" truncate c={isRunning ? undefined : 'dimmed'}>
        {text}
      </Text>
      <Progress
        size={3}
        value={isRunning ? (share ?? 100) : 0}
        animated={isRunning && share === undefined}
        striped={share === undefined}
        aria-label={text}
      />
    </Stack>
  )
}

function FailureStatus({ error, onRetry }: { error: NonNullable<DocumentProgressBody['error']>; onRetry: () => void }) {
  const { t } = useTranslation('files')
  const { t: reasonText } = useTranslation('failures')
  return (
    <Popover width={340} position="bottom-start" shadow="md" withArrow trapFocus>
      <Popover.Target>
        <UnstyledButton className={styles['failure']}>
          <Badge variant="light" color="red" tt="none" fw={500} className={styles['badge']}>
            {reasonText(`failure.${error.code}`)}
          </Badge>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" align="flex-start">
          <Text size="sm" fw={600}>
            {reasonText(`failure.${error.code}`)}
          </Text>
          <Text size="sm">{reasonText(`advice.${error.code}`)}</Text>
          <Dimmed size="xs">{t('failures.serverSays', { message: error.message })}</Dimmed>
          <Button size="xs" variant="default" onClick={onRetry}>
            {t('action.retry')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

function Warnings({ document: { warnings } }: { document: DocumentProgressBody }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  if (warnings.length === 0) return null
  const label = t('table.warnings', { count: warnings.length, n: format.number(warnings.length) })
  return (
    <Popover width={340} position="bottom-start" shadow="md" withArrow trapFocus>
      <Popover.Target>
        <UnstyledButton aria-label={label} title={label} className={styles['warning']}>
          <IconAlertTriangle size={16} aria-hidden />
          {format.number(warnings.length)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" tabIndex={0} component="ul" className={styles['warnings']!} aria-label={label}>
          {warnings.map((warning, index) => (
            <li key={index}>
              <WarningText warning={warning} />
            </li>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
