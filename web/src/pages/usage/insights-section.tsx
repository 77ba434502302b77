import { SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { useUsage } from './use-usage.ts'
import { AnchorLink } from '../../ui/link.tsx'

type DocumentRow = UsageReport['topDocuments'][number]
type SpaceRow = UsageReport['unanswered'][number]
type QuestionRow = UsageReport['unansweredQuestions'][number]

/** What published chats were asked: the documents that answers cite, and the questions that no document answers. */
export function InsightsSection({ report }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const documents = useDocumentColumns()
  const spaces = useSpaceColumns()
  const { topDocuments, unanswered, unansweredQuestions } = report
  if (topDocuments.length === 0 && unanswered.length === 0) return null
  return (
    <Section title={t('insights.title')} description={t('insights.description')}>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <DataTable
          label={t('insights.documents')}
          columns={documents}
          rows={topDocuments}
          rowId={({ documentId }) => documentId}
          empty={<Text c="dimmed">{t('insights.noDocuments')}</Text>}
          minimumWidth={320}
        />
        <DataTable
          label={t('insights.spaces')}
          columns={spaces}
          rows={unanswered}
          rowId={({ spaceId }) => spaceId}
          minimumWidth={320}
        />
      </SimpleGrid>
      <Questions questions={unansweredQuestions} />
    </Section>
  )
}

function Questions({ questions }: { questions: QuestionRow[] }) {
  const { t } = useTranslation('usage')
  const columns = useQuestionColumns()
  return (
    <Stack gap="xs">
      <Title order={3}>{t('insights.questions')}</Title>
      <DataTable
        label={t('insights.questions')}
        columns={columns}
        rows={questions}
        rowId={({ spaceId, question }) => `${spaceId} ${question}`}
        empty={<Dimmed>{t('insights.noQuestions')}</Dimmed>}
        minimumWidth={480}
      />
    </Stack>
  )
}

function useDocumentColumns(): DataColumn<DocumentRow>[] {
  const { t } = useTranslation('usage')
  const { organisationId } = useUsage()
  const format = useFormat()
  return useMemo(
    () => [
      {
        accessorKey: 'name',
        header: t('insights.document'),
        cell: ({ row: { original } }) => (
          <AnchorLink
            to="/organisations/$organisationId/spaces/$spaceId/files/$documentId"
            params={{ organisationId, spaceId: original.spaceId, documentId: original.documentId }}
            size="sm"
          >
            {original.name}
          </AnchorLink>
        ),
      },
      { id: 'space', header: t('insights.space'), accessorFn: ({ spaceName }) => spaceName ?? t('insights.removed') },
      {
        accessorKey: 'citations',
        header: t('insights.citations'),
        cell: ({ row }) => format.number(row.original.citations),
      },
    ],
    [t, organisationId, format],
  )
}

function useSpaceColumns(): DataColumn<SpaceRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      { id: 'space', header: t('insights.space'), accessorFn: ({ spaceName }) => spaceName ?? t('insights.removed') },
      { accessorKey: 'answers', header: t('insights.answers'), cell: ({ row }) => format.number(row.original.answers) },
      {
        accessorKey: 'unanswered',
        header: t('insights.unanswered'),
        cell: ({ row: { original } }) =>
          t('insights.share', {
            n: format.number(original.unanswered),
            share: format.percent(original.answers === 0 ? 0 : original.unanswered / original.answers),
          }),
      },
    ],
    [t, format],
  )
}

function useQuestionColumns(): DataColumn<QuestionRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      { accessorKey: 'question', header: t('insights.question') },
      { id: 'space', header: t('insights.space'), accessorFn: ({ spaceName }) => spaceName ?? t('insights.removed') },
      { accessorKey: 'count', header: t('insights.count'), cell: ({ row }) => format.number(row.original.count) },
      {
        accessorKey: 'lastAskedAt',
        header: t('insights.lastAsked'),
        cell: ({ row }) => <Time value={row.original.lastAskedAt} />,
      },
    ],
    [t, format],
  )
}
