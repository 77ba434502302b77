import { Alert, Code, Group, Stack, Text } from '@mantine/core'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConversationTurnBody } from '@contract/conversations.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Time } from '../../ui/time.tsx'
import styles from '../spaces/chat/chat.module.css'
import { ReceiptLinks } from '../spaces/chat/receipt-links.tsx'
import { ReferencesList } from '../spaces/chat/references-list.tsx'
import { OutcomeBadge } from './outcome-badge.tsx'
import { Rating } from './rating.tsx'

const AnswerMarkdown = lazyPart(() => import('../spaces/chat/answer-markdown.tsx'), 'AnswerMarkdown')
const Folded = lazyPart(() => import('./folded.tsx'), 'Folded')

/** Texts below both limits are never high enough to be folded, on any screen. */
const shortText = { characters: 500, lines: 10 }

interface StoredTurnProps {
  spaceId: string
  turn: ConversationTurnBody
  /** The turns above. */
  before: readonly ConversationTurnBody[]
}

/** A question with its answer, as they were stored. */
export function StoredTurn({ spaceId, turn, before }: StoredTurnProps) {
  const { t } = useTranslation('conversations')
  const previous = before.at(-1)?.number ?? null
  const { follows, given, question, questionCut, answer, answerCut, references } = turn
  return (
    <Stack gap="sm" component="article" aria-label={question.slice(0, 100)}>
      {follows !== previous && follows !== null && <Dimmed>{t('turn.follows', { number: follows })}</Dimmed>}
      {given && <GivenMessages given={given} />}
      <Foldable text={question}>
        <div className={styles['question']} style={{ maxWidth: '100%' }}>
          {question}
        </div>
      </Foldable>
      {questionCut && <CutNote />}
      {answer !== '' && (
        <Foldable text={answer}>
          <Suspense fallback={<Text className={styles['wrap']!}>{answer}</Text>}>
            <AnswerMarkdown text={answer} isComplete references={references} />
          </Suspense>
        </Foldable>
      )}
      {answerCut && <CutNote />}
      <Outcome turn={turn} />
      {turn.outcome === 'complete' && <ReferencesList references={references} />}
      <Rating spaceId={spaceId} turn={turn} before={before} />
      <Searches turn={turn} />
      <TurnFacts turn={turn} />
    </Stack>
  )
}

function Foldable({ text, children }: { text: string; children: React.ReactNode }) {
  if (text.length <= shortText.characters && text.split('\n').length <= shortText.lines) return children
  return (
    <Suspense fallback={children}>
      <Folded>{children}</Folded>
    </Suspense>
  )
}

function CutNote() {
  const { t } = useTranslation('conversations')
  return <Dimmed size="xs">{t('turn.cut')}</Dimmed>
}

/** Messages that the client sent before the question, and that belong to no stored turn. */
function GivenMessages({ given }: { given: NonNullable<ConversationTurnBody['given']> }) {
  const { t } = useTranslation('conversations')
  return (
    <Alert color="gray" title={t('turn.given')}>
      <Foldable text={given.messages.map(({ content }) => content).join('\n')}>
        <Stack gap="xs">
          {given.leftOut > 0 && <Dimmed>{t('turn.leftOut', { count: given.leftOut })}</Dimmed>}
          {given.messages.map(({ role, content }, index) => (
            <div key={index}>
              <Text size="xs" fw={600}>
                {t(`role.${role}`)}
              </Text>
              <Text size="sm" className={styles['wrap']!} style={{ whiteSpace: 'pre-wrap' }}>
                {content}
              </Text>
            </div>
          ))}
        </Stack>
      </Foldable>
    </Alert>
  )
}

function Outcome({ turn: { outcome, errorCode } }: { turn: ConversationTurnBody }) {
  const { t } = useTranslation('conversations')
  if (outcome === 'complete') return null
  return (
    <Group gap="xs">
      <OutcomeBadge color={outcome === 'failed' ? 'red' : 'gray'} text={t(`outcome.${outcome}`)} />
      {errorCode !== null && <Code>{errorCode}</Code>}
    </Group>
  )
}

/** What was searched for the answer. */
function Searches({ turn: { sources } }: { turn: ConversationTurnBody }) {
  const { t } = useTranslation('conversations')
  const format = useFormat()
  if (sources.length === 0) return null
  return (
    <Stack gap={2}>
      {sources.map(({ source, query, count, milliseconds }, index) => (
        <Dimmed key={index} size="xs" className={styles['wrap']!}>
          {[source, query === null ? '' : `“${query}”`, t('turn.found', { count }), format.duration(milliseconds)]
            .filter((part) => part !== '')
            .join(' · ')}
        </Dimmed>
      ))}
    </Stack>
  )
}

/** Time, model, cost and receipts. */
function TurnFacts({ turn }: { turn: ConversationTurnBody }) {
  const format = useFormat()
  const { at, model, billedUsd, totalMs, receipts } = turn
  return (
    <Group gap="sm" c="dimmed" fz="xs">
      <Time value={at} />
      <span>{model}</span>
      <span>{format.duration(totalMs)}</span>
      {billedUsd !== null && <span>{format.money(billedUsd)}</span>}
      <ReceiptLinks requestIds={receipts.map(({ requestId }) => requestId)} />
    </Group>
  )
}
