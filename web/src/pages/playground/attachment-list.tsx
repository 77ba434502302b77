import { ActionIcon, Group, Paper, Text } from '@mantine/core'
import { IconFileTypePdf, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import type { Attachment } from './attachments.ts'

/** Previews of the files of a message. */
export function AttachmentList(props: { attachments: readonly Attachment[]; onRemove?: (id: number) => void }) {
  const { attachments, onRemove } = props
  const { t } = useTranslation('playground')
  const format = useFormat()
  return (
    <Group gap="xs" component="ul" m={0} p={0} mt={4} style={{ listStyle: 'none' }} aria-label={t('files.list')}>
      {attachments.map(({ id, name, kind, bytes, dataUrl }) => (
        <Paper key={id} component="li" withBorder p={6} maw="100%">
          <Group gap="xs" wrap="nowrap">
            {kind === 'image' ? (
              <img src={dataUrl} alt="" width={48} height={48} style={{ objectFit: 'cover', flex: 'none' }} />
            ) : (
              <IconFileTypePdf size={32} aria-hidden style={{ flex: 'none' }} />
            )}
            <div style={{ minWidth: 0 }}>
              <Text size="xs" truncate maw={180}>
                {name}
              </Text>
              <Dimmed size="xs">{format.bytes(bytes)}</Dimmed>
            </div>
            {onRemove && (
              <ActionIcon variant="subtle" aria-label={t('files.remove', { name })} onClick={() => onRemove(id)}>
                <IconX size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        </Paper>
      ))}
    </Group>
  )
}
