import { Badge, Button, Code, Group, Loader, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ErasedKind, Erasure } from '@contract/erasures.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { downloadText } from '../../ui/download-text.ts'
import { Time } from '../../ui/time.tsx'

/** Digits of a digest that distinguish two subjects. */
const shownDigits = 12

/** In the order of the page. */
const erasedKinds: readonly ErasedKind[] = [
  'documents',
  'files',
  'chunks',
  'searchTerms',
  'vectors',
  'conversations',
  'conversationTurns',
  'unansweredQuestions',
  'goldenAnswers',
  'citationCounts',
  'usageTags',
]

/** Erasures with their state, newest first. They name nobody: of the subject there is only its digest. */
export function ErasuresTable({ erasures }: { erasures: Erasure[] }) {
  const { t } = useTranslation('data-protection')
  const columns = useMemo(
    (): DataColumn<Erasure>[] => [
      column('kind', t('column.subject'), (erasure) => <Subject {...erasure} />),
      column('requestedAt', t('column.requested'), ({ requestedAt, requestedBy }) => (
        <Stack gap={0}>
          <Time value={requestedAt} />
          <Dimmed size="xs">{requestedBy}</Dimmed>
        </Stack>
      )),
      column('state', t('column.state'), (erasure) => <State {...erasure} />),
      column('removed', t('column.removed'), ({ removed }) => <Removed removed={removed} />),
      column('certificate', t('column.certificate'), (erasure) => <Download erasure={erasure} />),
    ],
    [t],
  )
  return (
    <DataTable
      label={t('list.title')}
      columns={columns}
      rows={erasures}
      rowId={({ id }) => id}
      minimumWidth={760}
      empty={<Dimmed>{t('list.none')}</Dimmed>}
    />
  )
}

function Subject({ kind, subjectDigest }: Erasure) {
  const { t } = useTranslation('data-protection')
  return (
    <Stack gap={0} align="flex-start">
      <Text size="sm">{t(`kind.${kind}`)}</Text>
      <Code>{subjectDigest.slice(0, shownDigits)}</Code>
    </Stack>
  )
}

function State({ state, completedAt, failure }: Erasure) {
  const { t } = useTranslation('data-protection')
  if (state === 'completed')
    return (
      <Stack gap={2} align="flex-start">
        <Badge variant="dot" color="teal" tt="none" fw={500}>
          {t('state.completed')}
        </Badge>
        {completedAt !== null && (
          <Text size="xs" c="dimmed" component="div">
            <Time value={completedAt} />
          </Text>
        )}
      </Stack>
    )
  return (
    <Stack gap={2} align="flex-start">
      <Group gap="xs">
        <Loader size="xs" />
        <Text size="sm">{t('state.running')}</Text>
      </Group>
      {failure !== null && (
        <Text size="xs" c="red.9">
          {t('state.failed', { reason: failure })}
        </Text>
      )}
    </Stack>
  )
}

function Removed({ removed }: Pick<Erasure, 'removed'>) {
  const { t } = useTranslation('data-protection')
  const format = useFormat()
  const counted = erasedKinds.flatMap((kind) => {
    const count = removed[kind]?.count ?? 0
    return count === 0 ? [] : [t(`removed.${kind}`, { count, shown: format.number(count) })]
  })
  return <Text size="sm">{counted.length === 0 ? t('removed.nothing') : counted.join(', ')}</Text>
}

function Download({ erasure: { id, certificate } }: { erasure: Erasure }) {
  const { t } = useTranslation('data-protection')
  if (certificate === null) return null
  const save = () => downloadText(`erasure-${id}.json`, `${JSON.stringify(certificate, null, 2)}\n`, 'application/json')
  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<IconDownload size={14} aria-hidden />}
      aria-label={t('downloadOf', { id })}
      onClick={save}
    >
      {t('download')}
    </Button>
  )
}
