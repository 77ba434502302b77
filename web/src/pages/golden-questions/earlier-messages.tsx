import { ActionIcon, Button, Group, Stack, Textarea } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { goldenLimits, GoldenMessages } from '@contract/golden-questions.ts'
import { Select } from '../../ui/select.tsx'

/** As the server checks it; one is the question. */
const maximumMessages: (typeof goldenLimits)['messages'] = 20

interface EarlierMessagesProps {
  messages: GoldenMessages
  onChange: (messages: GoldenMessages) => void
}

/** The conversation before the question, for questions that depend on it. */
export function EarlierMessages({ messages, onChange }: EarlierMessagesProps) {
  const { t } = useTranslation('golden-questions')
  const add = () => {
    const role = messages.length % 2 === 0 ? 'user' : 'assistant'
    onChange([...messages, { role, content: '' }])
  }
  const replace = (index: number, change: Partial<GoldenMessages[number]>) =>
    onChange(messages.map((message, at) => (at === index ? { ...message, ...change } : message)))
  return (
    <Stack gap="xs">
      {messages.map(({ role, content }, index) => (
        <Group key={index} gap="xs" align="flex-start" wrap="nowrap">
          <Select
            aria-label={t('form.role', { number: index + 1 })}
            data={[
              { value: 'user', label: t('form.user') },
              { value: 'assistant', label: t('form.assistant') },
            ]}
            value={role}
            onChange={(value) => replace(index, { role: value === 'assistant' ? 'assistant' : 'user' })}
            allowDeselect={false}
            w={130}
            flex="none"
          />
          <Textarea
            aria-label={t('form.message', { number: index + 1 })}
            value={content}
            onChange={({ currentTarget }) => replace(index, { content: currentTarget.value })}
            autosize
            maxRows={5}
            flex={1}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={t('form.removeMessage', { number: index + 1 })}
            onClick={() => onChange(messages.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {messages.length < maximumMessages - 1 && (
        <Button
          variant="subtle"
          size="compact-sm"
          w="fit-content"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={add}
        >
          {t('form.addMessage')}
        </Button>
      )}
    </Stack>
  )
}
