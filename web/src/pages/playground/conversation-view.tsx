import { Box, Center, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnswerView } from './answer-view.tsx'
import { AttachmentList } from './attachment-list.tsx'
import { isAwaitingResults, type Turn, type TurnInput, withoutFailedResults } from './request.ts'

interface ConversationViewProps {
  organisationId: string
  turns: Turn[]
  onResults: (results: Record<string, string>) => void
}

export function ConversationView({ organisationId, turns, onResults }: ConversationViewProps) {
  const { t } = useTranslation('playground')
  const awaiting = isAwaitingResults(turns) ? withoutFailedResults(turns).length - 1 : undefined
  if (turns.length === 0)
    return (
      <Center mih={200}>
        <Text c="dimmed" ta="center" maw={420}>
          {t('empty')}
        </Text>
      </Center>
    )
  return (
    <Stack gap="lg" component="ol" m={0} p={0} style={{ listStyle: 'none' }} aria-label={t('conversation')}>
      {turns.map(({ id, input, answer }, index) => (
        <Stack key={id} component="li" gap="sm">
          {input.kind === 'question' && <Question {...input} />}
          <AnswerView
            organisationId={organisationId}
            answer={answer}
            results={resultsOf(turns[index + 1]?.input)}
            onResults={index === awaiting ? onResults : undefined}
          />
        </Stack>
      ))}
    </Stack>
  )
}

const resultsOf = (input: TurnInput | undefined) => (input?.kind === 'results' ? input.results : undefined)

function Question({ text, attachments }: Extract<TurnInput, { kind: 'question' }>) {
  const { t } = useTranslation('playground')
  return (
    <Box bg="var(--portico-sidebar)" p="sm" style={{ borderRadius: 'var(--mantine-radius-sm)' }}>
      <Dimmed size="xs" fw={600}>
        {t('you')}
      </Dimmed>
      {text !== '' && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{text}</Text>}
      {attachments.length > 0 && <AttachmentList attachments={attachments} />}
    </Box>
  )
}
