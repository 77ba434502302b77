import { Anchor, Badge, Group, Progress, Stack, Text } from '@mantine/core'
import type { ExplainedCandidateBody } from '@contract/space-search.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../i18n/use-format.ts'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { documentRoute, searchRoute } from '../routes.tsx'
import { usePlace } from '../use-place.ts'
import styles from '../viewer.module.css'
import { AnchorLink } from '../../../ui/link.tsx'

/** Characters of a passage that the address of the viewer carries. */
const quoteLength = 300

/** A candidate of a search: its text, its scores, and its number in the context or why it has none. */
export function Candidate({ candidate }: { candidate: ExplainedCandidateBody }) {
  const { t } = useTranslation('viewer')
  const { number, outcome, fusedRank } = candidate
  const color = number === null ? 'dimmed' : undefined
  return (
    <li className={styles['candidate']} data-used={number !== null}>
      <Text fw={700} size="lg" ff="monospace" c={color} aria-hidden>
        {number === null ? '–' : `[${number}]`}
      </Text>
      <Stack gap={6} miw={0}>
        <Group gap="xs">
          <PassageLink candidate={candidate} />
          <Badge variant={number === null ? 'default' : 'light'} tt="none" radius="sm">
            {number === null ? t(`outcome.${outcome}`) : t('search.number', { number })}
          </Badge>
        </Group>
        <PlaceLine candidate={candidate} />
        <PassageText text={candidate.text} color={color} />
      </Stack>
      <div className={styles['scores']}>
        <Rerank candidate={candidate} />
        <Score
          label={t('search.fused')}
          share={candidate.score}
          value={candidate.score}
          rank={fusedRank}
          color="portico"
        />
        <OptionalScore label={t('search.lexical')} score={candidate.lexical} color="blue" />
        <OptionalScore label={t('search.vector')} score={candidate.vector} color="grape" />
      </div>
    </li>
  )
}

function PassageLink({ candidate }: { candidate: ExplainedCandidateBody }) {
  const { organisationId, spaceId } = searchRoute.useParams()
  const { documentId, documentName, pageFrom, characterFrom, characterTo, text } = candidate
  const search = {
    ...(pageFrom === null ? {} : { page: pageFrom, quote: [...text].slice(0, quoteLength).join('') }),
    from: characterFrom,
    to: characterTo,
  }
  return (
    <AnchorLink
      to={documentRoute.to as '/'}
      params={{ organisationId, spaceId, documentId } as never}
      search={search as never}
      fw={600}
    >
      {documentName}
    </AnchorLink>
  )
}

function PlaceLine({ candidate }: { candidate: ExplainedCandidateBody }) {
  const place = usePlace(candidate)
  const parts = [place, candidate.headingPath.join(' › ')].filter((part) => part !== '')
  if (parts.length === 0) return null
  return <Dimmed>{parts.join(' · ')}</Dimmed>
}

function PassageText({ text, color }: { text: string; color: string | undefined }) {
  const { t } = useTranslation('viewer')
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > 400
  return (
    <>
      <Text size="sm" c={color} className={styles['passage']} lineClamp={isOpen || !isLong ? undefined : 4}>
        {text}
      </Text>
      {isLong && (
        <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setOpen(!isOpen)}>
          {t(isOpen ? 'search.less' : 'search.more')}
        </Anchor>
      )}
    </>
  )
}

/** The score of the reranker, and where the passage would be without it. */
function Rerank({ candidate: { rerankScore, rank, fusedRank } }: { candidate: ExplainedCandidateBody }) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  if (rerankScore === null) return null
  const values = { value: format.number(rerankScore), rank: format.number(rank), before: format.number(fusedRank) }
  return (
    <Group justify="space-between" gap="xs" className={styles['score']}>
      <Text size="xs">{t('search.rerank')}</Text>
      <Dimmed size="xs">{rank === fusedRank ? t('search.score', values) : t('search.moved', values)}</Dimmed>
    </Group>
  )
}

interface ScoreProps {
  label: string
  share: number
  value: number
  rank: number
  color: string
}

function Score({ label, share, value, rank, color }: ScoreProps) {
  const { t } = useTranslation('viewer')
  const format = useFormat()
  return (
    <div className={styles['score']}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs">{label}</Text>
        <Dimmed size="xs">{t('search.score', { value: format.number(value), rank: format.number(rank) })}</Dimmed>
      </Group>
      <Progress value={share * 100} color={color} size="sm" aria-label={label} />
    </div>
  )
}

function OptionalScore({
  label,
  score,
  color,
}: Pick<ScoreProps, 'label' | 'color'> & {
  score: ExplainedCandidateBody['lexical']
}) {
  const { t } = useTranslation('viewer')
  if (score) return <Score label={label} share={score.share} value={score.score} rank={score.rank} color={color} />
  return (
    <Group justify="space-between" gap="xs" className={styles['score']}>
      <Text size="xs">{label}</Text>
      <Dimmed size="xs">{t('search.noScore')}</Dimmed>
    </Group>
  )
}
