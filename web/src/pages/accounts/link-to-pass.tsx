import { Button, Group, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../../ui/copy-field.tsx'

/** A link that is shown once. A server without a public address returns a path; this page then knows the address. */
export function LinkToPass({ text, link, onDone }: { text: string; link: string; onDone: () => void }) {
  const { t } = useTranslation('accounts')
  return (
    <Stack>
      <Text size="sm">{text}</Text>
      <CopyField label={t('link')} value={new URL(link, globalThis.location.origin).href} description={t('linkOnce')} />
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('done')}</Button>
      </Group>
    </Stack>
  )
}
