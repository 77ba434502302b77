import { Modal, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CodeSnippets } from '../../ui/code-block.tsx'
import { createCode } from './code-of-request.ts'
import type { RequestSettings, Turn } from './request.ts'

/** Replaces the key, which this page does not know. */
const keyPlaceholder = 'YOUR_API_KEY'

interface CodeDialogProps {
  settings: RequestSettings
  turns: Turn[]
  baseUrl: string
  opened: boolean
  onClose: () => void
}

/** Programs that send the request on the page. */
export function CodeDialog({ settings, turns, baseUrl, opened, onClose }: CodeDialogProps) {
  const { t } = useTranslation('playground')
  return (
    <Modal opened={opened} onClose={onClose} title={t('code.title')} size="xl">
      <Stack gap="sm">
        <Text size="sm">{t('code.description', { placeholder: keyPlaceholder })}</Text>
        <CodeSnippets snippets={createCode(settings, turns, { baseUrl, apiKey: keyPlaceholder })} />
      </Stack>
    </Modal>
  )
}
