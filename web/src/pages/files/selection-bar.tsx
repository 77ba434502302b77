import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconJson, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { notifyWarning } from '../../ui/notify.ts'
import type { FileActions } from './file-actions.ts'
import type { FileSelection } from './use-selection.ts'

const MetadataOfManyDialog = lazyPart(() => import('./metadata-of-many-dialog.tsx'), 'MetadataOfManyDialog')

/** What can be done with the selected files. */
export function SelectionBar({ selection, actions }: { selection: FileSelection; actions: FileActions }) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const [isEditing, metadata] = useDisclosure(false)
  const { count } = selection
  if (count === 0) return null
  const counted = { count, n: format.number(count) }
  async function start(kind: 'delete' | 'retry') {
    const isStarted = await actions.start(kind, selection.toRequest(), (operation) => {
      if (operation.total === 0) notifyWarning(t('operation.nothing'))
    })
    if (isStarted) selection.clear()
  }
  const confirmDelete = () =>
    openConfirm({
      title: t('delete.manyTitle', counted),
      text: t('delete.manyText'),
      confirm: t('action.delete'),
      onConfirm: () => void start('delete'),
    })
  return (
    <Group gap="xs" role="toolbar" aria-label={t('selection.count', counted)}>
      <Text size="sm" fw={600} role="status">
        {t('selection.count', counted)}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconRefresh size={14} aria-hidden />}
        onClick={() => void start('retry')}
      >
        {t('selection.retry')}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconJson size={14} aria-hidden />}
        onClick={metadata.open}
      >
        {t('action.metadata')}
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        leftSection={<IconTrash size={14} aria-hidden />}
        onClick={confirmDelete}
      >
        {t('selection.delete')}
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
        {t('selection.clear')}
      </Button>
      <OnceOpened opened={isEditing}>
        <MetadataOfManyDialog opened={isEditing} selection={selection} actions={actions} onClose={metadata.close} />
      </OnceOpened>
    </Group>
  )
}
