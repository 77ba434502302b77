import { ActionIcon, Badge, Group, Stack, Text } from '@mantine/core'
import { IconFileOff, IconPencil, IconTrash } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenQuestionBody } from '@contract/golden-questions.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Time } from '../../ui/time.tsx'
import styles from './golden.module.css'
import { questionOf, type QuestionPage } from './queries.ts'
import { useRemoveQuestion } from './use-questions.ts'

interface TableProps {
  page: QuestionPage
  onEdit: (question: GoldenQuestionBody) => void
  onPage: (offset: number) => void
  onClear: () => void
}

export function QuestionTable({ page, onEdit, onPage, onClear }: TableProps) {
  const { t } = useTranslation('golden-questions')
  const columns = useColumns(onEdit)
  const { items, total, limit, offset, maximum } = page
  const format = useFormat()
  return (
    <Stack gap="xs">
      <PagedTable
        label={t('title')}
        columns={columns}
        rows={items}
        rowId={({ id }) => id}
        empty={<EmptyState title={t('noMatch')} text={t('noMatchText')} onClear={onClear} />}
        minimumWidth={820}
        total={total}
        limit={limit}
        offset={offset}
        onPage={onPage}
      />
      <Dimmed size="xs">{t('maximum', { maximum: format.number(maximum) })}</Dimmed>
    </Stack>
  )
}

function useColumns(onEdit: TableProps['onEdit']): DataColumn<GoldenQuestionBody>[] {
  const { t } = useTranslation('golden-questions')
  return useMemo(
    () => [
      column('question', t('field.question'), (row) => (
        <Text size="sm" lineClamp={3} className={styles['text']!}>
          {questionOf(row)}
        </Text>
      )),
      column('documents', t('field.documents'), (row) => <Documents question={row} />),
      column('facts', t('field.facts'), ({ expectedFacts, mustAbstain }) =>
        mustAbstain ? (
          <Badge variant="default" tt="none" fw={500}>
            {t('noAnswer')}
          </Badge>
        ) : (
          <Text size="sm" lineClamp={2} className={styles['text']!}>
            {expectedFacts.length === 0 ? '–' : expectedFacts.join(' · ')}
          </Text>
        ),
      ),
      column('changed', t('field.changed'), ({ updatedAt }) => <Time value={updatedAt} />),
      column('actions', '', (row) => <Actions question={row} onEdit={onEdit} />),
    ],
    [t, onEdit],
  )
}

function Documents({ question: { expectedDocuments } }: { question: GoldenQuestionBody }) {
  const { t } = useTranslation('golden-questions')
  if (expectedDocuments.length === 0) return <Text size="sm">–</Text>
  return (
    <Stack gap={2}>
      {expectedDocuments.map(({ id, name, exists }) => (
        <Group key={id} gap={6} wrap="nowrap">
          {!exists && <IconFileOff size={14} role="img" aria-label={t('missingDocument')} />}
          <Text size="sm" truncate maw={260}>
            {name}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}

function Actions({ question, onEdit }: { question: GoldenQuestionBody; onEdit: TableProps['onEdit'] }) {
  const { t } = useTranslation('golden-questions')
  const remove = useRemoveQuestion(question.spaceId)
  const text = questionOf(question)
  const ask = () =>
    openConfirm({
      title: t('delete.title'),
      text: t('delete.text', { question: text.length > 200 ? `${text.slice(0, 200)}…` : text }),
      confirm: t('delete.confirm'),
      onConfirm: () => remove.mutate(question.id),
    })
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('edit', { question: text })}
        onClick={() => onEdit(question)}
      >
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('delete.label', { question: text })}
        loading={remove.isPending}
        onClick={ask}
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Group>
  )
}
