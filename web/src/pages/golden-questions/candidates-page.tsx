import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenCandidatePageBody, GoldenMessages } from '@contract/golden-questions.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { type DataColumn, PagedTable, unsortedColumn } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Time } from '../../ui/time.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import styles from './golden.module.css'
import { candidatesQuery } from './queries.ts'
import { candidatesRoute } from './routes.tsx'
import { useSaveQuestion } from './use-questions.ts'

const QuestionDialog = lazyPart(() => import('./question-dialog.tsx'), 'QuestionDialog')

type Candidate = GoldenCandidatePageBody['items'][number]

/** Unanswered questions of visitors; one click makes one a golden question. */
export function CandidatesPage() {
  const { t } = useTranslation('golden-questions')
  const { organisationId, spaceId } = candidatesRoute.useParams()
  const { offset } = candidatesRoute.useSearch()
  const navigate = candidatesRoute.useNavigate()
  const { data: page } = useSuspenseQuery(candidatesQuery(spaceId, offset))
  const [chosen, setChosen] = useState('')
  const [isEditing, editing] = useDisclosure(false)
  const complete = useCallback(
    (question: string) => {
      setChosen(question)
      editing.open()
    },
    [editing],
  )
  const columns = useColumns(spaceId, complete)
  const toSettings = (
    <AnchorLink to="/organisations/$organisationId/spaces/$spaceId/settings" params={{ organisationId, spaceId }}>
      {t('candidates.toSettings')}
    </AnchorLink>
  )
  const empty = page.isKept ? (
    <EmptyState title={t('candidates.empty')} text={t('candidates.emptyText')} />
  ) : (
    <EmptyState title={t('candidates.notKept')} text={t('candidates.notKeptText')} action={toSettings} />
  )
  return (
    <GoldenFrame>
      {page.total > 0 && (
        <Text size="sm" c="dimmed">
          {t('candidates.text')}
        </Text>
      )}
      <PagedTable
        label={t('part.candidates')}
        columns={columns}
        rows={page.items}
        rowId={({ question }) => question}
        empty={empty}
        total={page.total}
        limit={page.limit}
        offset={page.offset}
        onPage={(next) => void navigate({ search: next > 0 ? { offset: next } : {} })}
      />
      <OnceOpened opened={isEditing}>
        <QuestionDialog
          spaceId={spaceId}
          opened={isEditing}
          question={undefined}
          text={chosen}
          onClose={editing.close}
        />
      </OnceOpened>
    </GoldenFrame>
  )
}

function useColumns(spaceId: string, onComplete: (question: string) => void): DataColumn<Candidate>[] {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return useMemo(
    () => [
      unsortedColumn('question', t('field.question'), ({ question }) => (
        <Text size="sm" className={styles['text']!}>
          {question}
        </Text>
      )),
      unsortedColumn('asked', t('candidates.asked'), ({ asked }) => format.number(asked)),
      unsortedColumn('last', t('candidates.last'), ({ lastAskedAt }) => <Time value={lastAskedAt} />),
      unsortedColumn('actions', '', ({ question }) => (
        <Accept spaceId={spaceId} question={question} onComplete={onComplete} />
      )),
    ],
    [t, format, spaceId, onComplete],
  )
}

/** Adds the question as it is: from then on it must be answered. Documents and facts can be added at once or later. */
function Accept(props: { spaceId: string; question: string; onComplete: (question: string) => void }) {
  const { spaceId, question, onComplete } = props
  const { t } = useTranslation('golden-questions')
  const save = useSaveQuestion(spaceId)
  const accept = async () => {
    const messages: GoldenMessages = [{ role: 'user', content: question }]
    const given = { messages, expectedDocuments: [], expectedFacts: [], mustAbstain: false }
    try {
      await save.mutateAsync({ id: undefined, question: given })
      notifySuccess(t('candidates.added'))
    } catch (error) {
      notifyError(error)
    }
  }
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onComplete(question)}
        aria-label={t('candidates.completeQuestion', { question })}
      >
        {t('candidates.complete')}
      </Button>
      <Button
        size="compact-sm"
        leftSection={<IconPlus size={14} aria-hidden />}
        loading={save.isPending}
        onClick={() => void accept()}
        aria-label={t('candidates.addQuestion', { question })}
      >
        {t('candidates.add')}
      </Button>
    </Group>
  )
}
