import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { useRights } from '../../../app/session.ts'
import { useFormat } from '../../../i18n/use-format.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { spaceRoute } from '../space-route.tsx'
import { CitationCounts } from './citation-counts.tsx'
import styles from './chat.module.css'
import { isRunning, type Turn } from './turn.ts'
import { ReceiptLinks } from './receipt-links.tsx'
import { ReferencesList } from './references-list.tsx'
import { SourceTimeline } from './source-timeline.tsx'
import { AnchorLink } from '../../../ui/link.tsx'

const AnswerMarkdown = lazyPart(() => import('./answer-markdown.tsx'), 'AnswerMarkdown')

/** A question, what was searched for it, the answer, and what the answer rests on. */
export function TurnView({ turn, onRepeat }: { turn: Turn; onRepeat: (() => void) | undefined }) {
  const { t } = useTranslation('spaces')
  const { question, options, status, text, finishReason, references, citations, hasTools, error } = turn
  return (
    <Stack gap="sm" component="article" aria-label={question.slice(0, 100)} aria-busy={isRunning(turn)}>
      <div className={styles['question']}>{question}</div>
      <SourceTimeline turn={turn} />
      {!hasTools && <Dimmed>{t('chat.noTools')}</Dimmed>}
      {text !== '' && (
        <Suspense fallback={<Text className={styles['wrap']!}>{text}</Text>}>
          <AnswerMarkdown
            text={text}
            isComplete={!isRunning(turn)}
            references={options.inlineSources ? references : []}
          />
        </Suspense>
      )}
      {(finishReason === 'length' || finishReason === 'content_filter') && (
        <Dimmed>{t(`chat.cutOff.${finishReason}`)}</Dimmed>
      )}
      {status === 'stopped' && <Dimmed>{t('chat.stopped')}</Dimmed>}
      {error && <TurnError error={error} onRepeat={onRepeat} />}
      {references && <ReferencesList references={references} />}
      {citations && <CitationCounts counts={citations} />}
      {!isRunning(turn) && <TurnFacts turn={turn} />}
    </Stack>
  )
}

const knownErrors = [
  'insufficient_quota',
  'subscription_required',
  'model_not_found',
  'rate_limit_exceeded',
  'context_length_exceeded',
  'no_connection',
  'upstream_error',
  'upstream_timeout',
  'overloaded',
] as const

/** What went wrong and the way out. Administrators also read the reason. */
function TurnError({ error, onRepeat }: { error: NonNullable<Turn['error']>; onRepeat: (() => void) | undefined }) {
  const { t } = useTranslation('spaces')
  const { organisationId, spaceId } = spaceRoute.useParams()
  const { isAdministrator } = useRights(organisationId)
  const code = knownErrors.find((known) => known === error.code)
  const wayOut =
    error.code === 'insufficient_quota' && isAdministrator
      ? { to: `/organisations/${organisationId}/usage`, text: t('chat.toUsage') }
      : error.code === 'model_not_found'
        ? { to: `/organisations/${organisationId}/spaces/${spaceId}/settings`, text: t('chat.toSettings') }
        : undefined
  return (
    <Alert color="red" title={code ? t(`chatErrors.${code}`) : t('chatErrors.other')} role="alert">
      {error.message !== '' && <Text size="sm">{error.message}</Text>}
      <Group gap="sm" mt="xs">
        {onRepeat && (
          <Button size="compact-sm" variant="default" onClick={onRepeat}>
            {t('chat.repeat')}
          </Button>
        )}
        {wayOut && (
          <AnchorLink to={wayOut.to as '/'} size="sm">
            {wayOut.text}
          </AnchorLink>
        )}
      </Group>
    </Alert>
  )
}

/** Time, cost and receipt of an answer. */
function TurnFacts({ turn }: { turn: Turn }) {
  const { t } = useTranslation('spaces')
  const format = useFormat()
  const { text, cost, milliseconds } = turn
  return (
    <Group gap="sm" c="dimmed" fz="xs">
      {milliseconds !== undefined && <span>{format.duration(milliseconds)}</span>}
      {cost && (
        <>
          <span>{t('chat.cost', { cost: format.money(cost.billedUsd) })}</span>
          <ReceiptLinks requestIds={cost.requests.map(({ requestId }) => requestId)} />
        </>
      )}
      {text !== '' && <CopyButton value={text} label={t('chat.copyAnswer')} />}
    </Group>
  )
}
