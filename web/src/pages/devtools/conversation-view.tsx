import { Box, Button, Center, Group, Stack, Text, Textarea } from '@mantine/core'
import { IconPlayerStopFilled, IconSend2 } from '@tabler/icons-react'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AnswerView } from './answer-view.tsx'
import type { Turn } from './conversation.ts'

interface ConversationViewProps {
  organisationId: string
  turns: Turn[]
  isRunning: boolean
  onAsk: (question: string) => void
  onStop: () => void
}

export function ConversationView({ organisationId, turns, isRunning, onAsk, onStop }: ConversationViewProps) {
  const { t } = useTranslation('devtools')
  return (
    <Stack gap="md">
      {turns.length === 0 ? (
        <Center mih={200}>
          <Text c="dimmed" ta="center" maw={420}>
            {t('playground.empty')}
          </Text>
        </Center>
      ) : (
        <Stack
          gap="lg"
          component="ol"
          m={0}
          p={0}
          style={{ listStyle: 'none' }}
          aria-label={t('playground.conversation')}
        >
          {turns.map((turn) => (
            <Stack key={turn.id} component="li" gap="sm">
              <Box bg="var(--portico-sidebar)" p="sm" style={{ borderRadius: 'var(--mantine-radius-sm)' }}>
                <Text size="xs" fw={600} c="dimmed">
                  {t('playground.you')}
                </Text>
                <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{turn.question}</Text>
              </Box>
              <AnswerView organisationId={organisationId} answer={turn.answer} />
            </Stack>
          ))}
        </Stack>
      )}
      <QuestionForm isRunning={isRunning} onAsk={onAsk} onStop={onStop} />
    </Stack>
  )
}

function QuestionForm({ isRunning, onAsk, onStop }: Pick<ConversationViewProps, 'isRunning' | 'onAsk' | 'onStop'>) {
  const { t } = useTranslation('devtools')
  const [question, setQuestion] = useState('')
  const send = () => {
    if (question.trim() === '' || isRunning) return
    onAsk(question)
    setQuestion('')
  }
  const sendWithEnter = (event: KeyboardEvent) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <Stack
      gap="xs"
      component="form"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Textarea
        label={t('playground.message')}
        placeholder={t('playground.placeholder')}
        value={question}
        onChange={(event) => setQuestion(event.currentTarget.value)}
        onKeyDown={sendWithEnter}
        autosize
        minRows={3}
        maxRows={14}
        maxLength={200_000}
      />
      <Group justify="space-between">
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {t('playground.keys')}
        </Text>
        {isRunning ? (
          <Button
            variant="default"
            leftSection={<IconPlayerStopFilled size={16} aria-hidden />}
            onClick={onStop}
            ml="auto"
          >
            {t('playground.stop')}
          </Button>
        ) : (
          <Button
            type="submit"
            leftSection={<IconSend2 size={16} aria-hidden />}
            disabled={question.trim() === ''}
            ml="auto"
          >
            {t('playground.send')}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
