import { Alert, Badge, Group, Stack } from '@mantine/core'
import type { SpaceSearchResult } from '@contract/space-search.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Section } from '../../../ui/section.tsx'
import styles from '../viewer.module.css'
import { Candidate } from './candidate.tsx'

export function SearchResult({ result }: { result: SpaceSearchResult }) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const { candidates, candidateCount, context, limits, passages } = result
  if (candidates.length === 0 && context === '')
    return <EmptyState title={t('search.nothing')} text={t('search.nothingText')} />
  return (
    <Stack gap="xl">
      <Section
        title={t('search.candidates')}
        description={t('search.candidatesText', {
          shown: format.number(candidates.length),
          found: format.number(candidateCount),
          used: format.number(passages.length),
          limit: format.number(limits.passages),
        })}
      >
        <QueryFacts result={result} />
        <ol className={styles['candidates']}>
          {candidates.map((candidate) => (
            <Candidate key={`${candidate.documentId} ${candidate.chunkIndex}`} candidate={candidate} />
          ))}
        </ol>
      </Section>
      <Section title={t('search.context')} description={t('search.contextText', { model: result.model })}>
        <pre className={styles['context']} tabIndex={0}>
          {context}
        </pre>
      </Section>
      <Timings timings={result.timings} />
    </Stack>
  )
}

function QueryFacts({ result }: { result: SpaceSearchResult }) {
  const { isWhole, query, embedders, vectorWeight, reranking } = result
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const isSpelling = embedders.every(({ hasSemantics }) => !hasSemantics)
  const labels = embedders.map(({ label }) => label).join(', ')
  return (
    <Stack gap="xs">
      {isWhole && <Alert color="gray">{t('search.whole')}</Alert>}
      {query.context.length > 0 && <Alert color="gray">{t('search.withContext')}</Alert>}
      {query.isRewritten && <Alert color="gray">{t('search.rewritten')}</Alert>}
      <Group gap={6}>
        <Dimmed>{t('search.words')}</Dimmed>
        {query.words.map(({ word, weight }) => (
          <Badge key={word} variant="default" tt="none" fw={500} radius="sm">
            {query.context.length > 0 ? t('search.weighted', { word, weight: format.number(weight) }) : word}
          </Badge>
        ))}
      </Group>
      <Dimmed>
        {embedders.length === 0
          ? t('search.wordsOnly')
          : t(isSpelling ? 'search.spelling' : 'search.meaning', { labels, share: format.percent(vectorWeight) })}
      </Dimmed>
      {!isSpelling && <ShareFacts share={result.vectorShare} />}
      {reranking && (
        <Dimmed>
          {t(`reranking.${reranking.outcome}`, { ...reranking, passages: format.number(reranking.passages) })}
        </Dimmed>
      )}
    </Stack>
  )
}

function ShareFacts({
  share: { origin, questions, lexicalRank, fusedRank },
}: {
  share: SpaceSearchResult['vectorShare']
}) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const figures = {
    questions: format.number(questions),
    lexical: format.number(lexicalRank ?? 0),
    fused: format.number(fusedRank ?? 0),
  }
  if (origin !== 'checked' && origin !== 'start') return null
  return <Dimmed>{origin === 'checked' ? t('search.shareChecked', figures) : t('search.shareStart')}</Dimmed>
}

function Timings({ timings }: Pick<SpaceSearchResult, 'timings'>) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  const { total, ...steps } = timings
  return (
    <Section title={t('search.timings')} description={t('search.timingsText', { total: format.duration(total) })}>
      <dl className={styles['timings']}>
        {Object.entries(steps).map(([step, milliseconds]) => (
          <div key={step}>
            <dt>{t(`step.${step as keyof typeof steps}`)}</dt>
            <dd>{t('search.milliseconds', { value: format.number(milliseconds) })}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
