import { Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { GoldenCandidatePageBody } from '@contract/golden-questions.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Time } from '../../ui/time.tsx'
import { AcceptCandidate } from './accept-candidate.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import styles from './golden.module.css'
import { candidatesQuery } from './queries.ts'
import { candidatesRoute } from './routes.tsx'

type Candidate = GoldenCandidatePageBody['items'][number]

/** Unanswered questions of visitors; one click makes one a golden question. */
export function CandidatesPage() {
  const { t } = useTranslation('golden-questions')
  const { organisationId, spaceId } = candidatesRoute.useParams()
  const { offset } = candidatesRoute.useSearch()
  const navigate = candidatesRoute.useNavigate()
  const { data: page } = useSuspenseQuery(candidatesQuery(spaceId, offset))
  const columns = useColumns(spaceId)
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
      {page.total > 0 && <Dimmed>{t('candidates.text')}</Dimmed>}
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
    </GoldenFrame>
  )
}

function useColumns(spaceId: string): DataColumn<Candidate>[] {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return useMemo(
    () => [
      column('question', t('field.question'), ({ question }) => (
        <Text size="sm" className={styles['text']!}>
          {question}
        </Text>
      )),
      column('asked', t('candidates.asked'), ({ asked }) => format.number(asked)),
      column('last', t('candidates.last'), ({ lastAskedAt }) => <Time value={lastAskedAt} />),
      column('actions', '', ({ question }) => <AcceptCandidate spaceId={spaceId} question={question} />),
    ],
    [t, format, spaceId],
  )
}
