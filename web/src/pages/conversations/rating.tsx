import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconThumbDown, IconThumbUp } from '@tabler/icons-react'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import type { ConversationTurnBody } from '@contract/conversations.ts'
import type { goldenLimits, GoldenMessages } from '@contract/golden-questions.ts'
import { withTexts } from '../../i18n/translations.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import styles from '../spaces/chat/chat.module.css'

const AcceptCandidate = lazyPart(
  () => withTexts('golden-questions', import('../golden-questions/accept-candidate.tsx')),
  'AcceptCandidate',
)

interface RatingProps {
  spaceId: string
  turn: ConversationTurnBody
  /** The turns that are shown above. */
  before: readonly ConversationTurnBody[]
}

/** What the visitor thinks of the answer. A question with a bad one can become a golden question. */
export function Rating({ spaceId, turn, before }: RatingProps) {
  const { t } = useTranslation('conversations')
  if (turn.rating === null) return null
  const { rating, reason } = turn.rating
  const isDown = rating === 'down'
  const Icon = isDown ? IconThumbDown : IconThumbUp
  return (
    <Alert color={isDown ? 'red' : 'green'} icon={<Icon size={18} aria-hidden />} title={t(`rating.${rating}`)}>
      <Stack gap="xs">
        {reason !== null && (
          <Text size="sm" className={styles['wrap']!}>
            {reason}
          </Text>
        )}
        {isDown && (
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('rating.golden')}</Text>
            <Suspense>
              <AcceptCandidate spaceId={spaceId} question={turn.question} earlier={earlierOf(turn, before)} />
            </Suspense>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

/** As the server checks them, with the question. */
const maximumMessages: (typeof goldenLimits)['messages'] = 20
const maximumCharacters: (typeof goldenLimits)['messageCharacters'] = 8_000

/** The messages before the question, as far as a golden question may have them. */
function earlierOf(turn: ConversationTurnBody, before: readonly ConversationTurnBody[]): GoldenMessages {
  const earlier: GoldenMessages = []
  let characters = turn.question.length
  for (let previous = previousOf(turn, before); previous; previous = previousOf(previous, before)) {
    const { question, answer } = previous
    characters += question.length + answer.length
    if (characters > maximumCharacters || earlier.length + 3 > maximumMessages || answer === '') break
    earlier.unshift({ role: 'user', content: question }, { role: 'assistant', content: answer })
  }
  return earlier
}

const previousOf = ({ follows }: ConversationTurnBody, before: readonly ConversationTurnBody[]) =>
  before.find(({ number }) => number === follows)
