import { CloseButton, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { readStored, store } from './browser-storage.ts'

export interface Step {
  label: string
  isDone: boolean
  /** Leads to where it is done. */
  action?: ReactNode
}

interface Props {
  /** Names the list in this browser, where a person can dismiss it. */
  id: string
  title: string
  steps: Step[]
  texts: { done: string; open: string; dismiss: string }
}

const keyOf = (id: string) => `portico-steps-${id}`

/** Whether the person has dismissed a list in this browser. */
export const isDismissed = (id: string) => readStored(keyOf(id)) !== null

/** The first steps of a role, in their order. Nothing when all are done, or after the person has dismissed them. */
export function Checklist({ id, title, steps, texts }: Props) {
  const [isHidden, setHidden] = useState(() => isDismissed(id))
  if (isHidden || steps.every(({ isDone }) => isDone)) return null
  const dismiss = () => {
    setHidden(true)
    store(keyOf(id), 'dismissed')
  }
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Title order={2}>{title}</Title>
        <CloseButton aria-label={texts.dismiss} onClick={dismiss} />
      </Group>
      <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {steps.map(({ label, isDone, action }) => (
          <Group key={label} component="li" gap="sm" mih={30} wrap="nowrap">
            <StepIcon isDone={isDone} label={isDone ? texts.done : texts.open} />
            <Text size="sm" flex={1} c={isDone ? 'dimmed' : undefined}>
              {label}
            </Text>
            {isDone ? null : action}
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}

function StepIcon({ isDone, label }: { isDone: boolean; label: string }) {
  const Icon = isDone ? IconCircleCheck : IconCircle
  const color = `var(--mantine-color-${isDone ? 'teal-text' : 'dimmed'})`
  return <Icon size={20} color={color} role="img" aria-label={label} style={{ flex: 'none' }} />
}
