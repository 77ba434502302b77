import { SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
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
      column(
        'name',
        t('insights.document'),
        ({ spaceId, documentId, name }) => (
          <AnchorLink
            to="/organisations/$organisationId/spaces/$spaceId/files/$documentId"
            params={{ organisationId, spaceId, documentId }}
            size="sm"
          >
            {name}
          </AnchorLink>
        ),
        'name',
      ),
      textColumn('space', t('insights.space'), ({ spaceName }) => spaceName ?? t('insights.removed')),
      column('citations', t('insights.citations'), ({ citations }) => format.number(citations), 'citations'),
    ],
    [t, organisationId, format],
  )
}

function useSpaceColumns(): DataColumn<SpaceRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      textColumn('space', t('insights.space'), ({ spaceName }) => spaceName ?? t('insights.removed')),
      column('answers', t('insights.answers'), ({ answers }) => format.number(answers), 'answers'),
      column(
        'unanswered',
        t('insights.unanswered'),
        ({ answers, unanswered }) =>
          t('insights.share', {
            n: format.number(unanswered),
            share: format.percent(answers === 0 ? 0 : unanswered / answers),
          }),
        'unanswered',
      ),
    ],
    [t, format],
  )
}

function useQuestionColumns(): DataColumn<QuestionRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      textColumn('question', t('insights.question'), ({ question }) => question),
      textColumn('space', t('insights.space'), ({ spaceName }) => spaceName ?? t('insights.removed')),
      column('count', t('insights.count'), ({ count }) => format.number(count), 'count'),
      column('lastAskedAt', t('insights.lastAsked'), ({ lastAskedAt }) => <Time value={lastAskedAt} />, 'lastAskedAt'),
    ],
    [t, format],
  )
}
