import { Button, Code, CopyButton, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconCopy, IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { downloadText } from '../../ui/download-text.ts'

/** The backup codes, which nobody can read again. */
export function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const { t } = useTranslation('accounts')
  const text = codes.join('\n')
  return (
    <Stack>
      <Text size="sm">{t('factor.codesText')}</Text>
      <SimpleGrid cols={2} spacing="xs" aria-label={t('factor.codes')} role="group">
        {codes.map((code) => (
          <Code key={code} ta="center" fz="sm">
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button variant="default" leftSection={<IconCopy size={16} aria-hidden />} onClick={copy}>
                {copied ? t('copied') : t('factor.copyCodes')}
              </Button>
            )}
          </CopyButton>
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            onClick={() => downloadText('portico-backup-codes.txt', `${text}\n`, 'text/plain')}
          >
            {t('factor.download')}
          </Button>
        </Group>
        <Button onClick={onDone}>{t('factor.stored')}</Button>
      </Group>
    </Stack>
  )
}
