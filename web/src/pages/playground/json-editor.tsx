import { Button, Group, Stack, Switch, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { findJsonProblem, indentJson } from '../../ui/json-text.ts'
import type { JsonProblem } from './tool-definitions.ts'

interface JsonEditorProps {
  /** Of the switch that shows the editor. */
  title: string
  description: string
  label: string
  isOn: boolean
  text: string
  problem: JsonProblem | undefined
  /** What the gateway refused. */
  refusal: string | undefined
  /** A problem is shown from the first attempt to send on, or after the editor was left. */
  showsProblem: boolean
  examples: { label: string; text: string }[]
  onSwitch: (isOn: boolean) => void
  onChange: (text: string) => void
}

/** A part of the request that a person writes as JSON. */
export function JsonEditor(props: JsonEditorProps) {
  const { title, description, label, isOn, text, problem, refusal, showsProblem, examples, onSwitch, onChange } = props
  const { t } = useTranslation('playground')
  const describe = useProblemText()
  const [wasLeft, setLeft] = useState(false)
  const shown = problem && (showsProblem || wasLeft) ? describe(problem) : refusal
  return (
    <Stack gap="xs">
      <Switch
        label={title}
        description={description}
        checked={isOn}
        onChange={({ currentTarget }) => onSwitch(currentTarget.checked)}
      />
      {isOn && (
        <>
          <Textarea
            label={label}
            value={text}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
            onBlur={() => setLeft(true)}
            error={shown}
            autosize
            minRows={6}
            maxRows={18}
            spellCheck={false}
            autoCapitalize="off"
            styles={{
              input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 'var(--mantine-font-size-xs)' },
            }}
          />
          <Group gap="xs" role="group" aria-label={t('json.examples', { name: title })}>
            <Dimmed size="xs">{t('json.example')}</Dimmed>
            {examples.map((example) => (
              <Button key={example.label} variant="default" size="compact-xs" onClick={() => onChange(example.text)}>
                {example.label}
              </Button>
            ))}
            <Button
              variant="default"
              size="compact-xs"
              ml="auto"
              disabled={findJsonProblem(text) !== undefined}
              onClick={() => onChange(indentJson(text))}
            >
              {t('json.format')}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  )
}

function useProblemText() {
  const { t } = useTranslation('playground')
  const format = useFormat()
  return (problem: JsonProblem): string => {
    if (problem.what === 'syntax') return t('json.syntax', { line: problem.line, column: problem.column })
    if ('limit' in problem)
      return t(`json.${problem.what}`, {
        limit:
          problem.what === 'tooLarge' ? `${format.number(problem.limit / 1024)} KiB` : format.number(problem.limit),
      })
    const said = t(`json.${problem.what}`)
    return problem.place === '' ? said : `${problem.place}: ${said}`
  }
}
