import { Button, Code, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { IconTool } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { findJsonProblem, indentJson } from '../../ui/json-text.ts'
import type { ToolCall } from './request.ts'

interface ToolCallsProps {
  calls: ToolCall[]
  isComplete: boolean
  /** Of the next turn; undefined before they were sent. */
  results: Readonly<Record<string, string>> | undefined
  /** Undefined: the calls take no results, because they are not complete or the conversation continued without them. */
  onResults: ((results: Record<string, string>) => void) | undefined
}

/** The calls of one answer, with the results that a person types. */
export function ToolCalls({ calls, isComplete, results, onResults }: ToolCallsProps) {
  const { t } = useTranslation('playground')
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [isChecked, setChecked] = useState(false)
  const send = () => {
    setChecked(true)
    if (calls.some(({ id }) => !typed[id]?.trim())) return
    onResults?.(Object.fromEntries(calls.map(({ id }) => [id, typed[id]!])))
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
      {calls.map((call) => (
        <CallCard key={call.id} {...{ call, isComplete }}>
          {onResults ? (
            <Textarea
              label={t('calls.result', { name: call.name })}
              placeholder={t('calls.placeholder')}
              value={typed[call.id] ?? ''}
              onChange={({ currentTarget: { value } }) => setTyped((all) => ({ ...all, [call.id]: value }))}
              error={isChecked && !typed[call.id]?.trim() ? t('calls.resultMissing') : undefined}
              autosize
              minRows={2}
              maxRows={12}
              maxLength={200_000}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
          ) : (
            isComplete && (
              <>
                <Dimmed size="xs" fw={600}>
                  {t('calls.sent')}
                </Dimmed>
                {results ? <JsonOrText text={results[call.id] ?? ''} /> : <Text size="sm">{t('calls.leftOut')}</Text>}
              </>
            )
          )}
        </CallCard>
      ))}
      {onResults && (
        <Group justify="space-between">
          <Dimmed size="xs" role="status">
            {t('calls.waiting', { count: calls.length })}
          </Dimmed>
          <Button type="submit" ml="auto">
            {t('calls.send', { count: calls.length })}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function CallCard(props: { call: ToolCall; isComplete: boolean; children: React.ReactNode }) {
  const { call, isComplete, children } = props
  const { t } = useTranslation('playground')
  return (
    <Paper withBorder p="sm" component="section" aria-label={t('calls.call', { name: call.name })}>
      <Stack gap={6}>
        <Group gap={6} wrap="nowrap">
          <IconTool size={16} aria-hidden style={{ flex: 'none' }} />
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {call.name}
          </Text>
        </Group>
        <Dimmed size="xs" fw={600}>
          {t('calls.arguments')}
        </Dimmed>
        {isComplete ? <JsonOrText text={call.arguments} /> : <Block text={call.arguments} />}
        {isComplete && findJsonProblem(call.arguments) !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)">
            {t('calls.noJson')}
          </Text>
        )}
        {children}
      </Stack>
    </Paper>
  )
}

/** JSON is indented; other text stays as it is. */
const JsonOrText = ({ text }: { text: string }) => (
  <Block text={findJsonProblem(text) === undefined ? indentJson(text) : text} />
)

const Block = ({ text }: { text: string }) => (
  <Code block fz="xs" tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
    {text === '' ? ' ' : text}
  </Code>
)
