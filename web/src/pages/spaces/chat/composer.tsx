import { Button, Group, Switch, Textarea } from '@mantine/core'
import { IconPlayerStopFilled, IconSend } from '@tabler/icons-react'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../../ui/dimmed.tsx'
import { LeaveGuard } from '../../../ui/leave-guard.tsx'
import styles from './chat.module.css'
import type { ChatOptions } from './turn.ts'

/** As the server checks it. */
const maximumQuestion = 200_000

/** The question and its options. Enter sends it, Shift+Enter starts a new line. */
export function Composer(props: {
  /** What the Space requires next to the question is there. */
  isReady: boolean
  isRunning: boolean
  options: ChatOptions
  onOptions: (options: ChatOptions) => void
  onAsk: (question: string) => void
  onStop: () => void
}) {
  const { isReady, isRunning, options, onOptions, onAsk, onStop } = props
  const { t } = useTranslation('spaces')
  const [question, setQuestion] = useState('')
  const canSend = question.trim() !== '' && isReady && !isRunning
  const send = () => {
    if (!canSend) return
    onAsk(question.trim())
    setQuestion('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className={styles['composer']}>
      <LeaveGuard isDirty={question.trim() !== ''} keepsWithinPath />
      <Textarea
        aria-label={t('chat.question')}
        placeholder={t('chat.placeholder')}
        value={question}
        onChange={({ currentTarget }) => setQuestion(currentTarget.value)}
        onKeyDown={onKeyDown}
        maxLength={maximumQuestion}
        autosize
        minRows={2}
        maxRows={10}
        autoFocus
      />
      <Group justify="space-between" mt="xs" gap="sm">
        <Group gap="lg">
          <Switch
            size="xs"
            label={t('chat.inlineSources')}
            checked={options.inlineSources}
            onChange={({ currentTarget }) => onOptions({ ...options, inlineSources: currentTarget.checked })}
          />
          <Switch
            size="xs"
            label={t('chat.agentic')}
            checked={options.agentic}
            onChange={({ currentTarget }) => onOptions({ ...options, agentic: currentTarget.checked })}
          />
        </Group>
        {isRunning ? (
          <Button variant="default" leftSection={<IconPlayerStopFilled size={14} aria-hidden />} onClick={onStop}>
            {t('chat.stop')}
          </Button>
        ) : (
          <Button leftSection={<IconSend size={14} aria-hidden />} onClick={send} disabled={!canSend}>
            {t('chat.send')}
          </Button>
        )}
      </Group>
      {options.agentic && (
        <Dimmed size="xs" mt={6}>
          {t('chat.agenticHint')}
        </Dimmed>
      )}
    </div>
  )
}
