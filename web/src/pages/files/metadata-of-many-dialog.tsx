import '@mantine/core/styles/Pill.css'
import '@mantine/core/styles/PillsInput.css'
import { JsonInput, Stack, TagsInput, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { notifyWarning } from '../../ui/notify.ts'
import type { FileActions } from './file-actions.ts'
import { useMetadataText } from './use-metadata-text.ts'
import type { FileSelection } from './use-selection.ts'

interface MetadataOfManyDialogProps {
  opened: boolean
  selection: FileSelection
  actions: FileActions
  onClose: () => void
}

/** Sets and removes fields of the metadata of all selected files. Other fields stay as they are. */
export function MetadataOfManyDialog({ opened, selection, actions, onClose }: MetadataOfManyDialogProps) {
  const { t } = useTranslation('files')
  const format = useFormat()
  const counted = { count: selection.count, n: format.number(selection.count) }
  return (
    <Dialog opened={opened} onClose={onClose} title={t('metadataOfMany.title', counted)} size="lg" centered>
      <ChangeForm {...{ selection, actions, onClose }} />
    </Dialog>
  )
}

function ChangeForm({ selection, actions, onClose }: Omit<MetadataOfManyDialogProps, 'opened'>) {
  const { t } = useTranslation('files')
  const [text, setText] = useState('')
  const [removed, setRemoved] = useState<string[]>([])
  const [isSaving, setSaving] = useState(false)
  const { problem, limit } = useMetadataText(text)
  const setsNothing = problem === undefined && (text.trim() === '' || Object.keys(JSON.parse(text)).length === 0)
  async function save() {
    setSaving(true)
    const change = { set: text.trim() === '' ? '{}' : text, remove: removed }
    const isStarted = await actions.changeMetadata(selection.toRequest(), change, ({ total }) => {
      if (total === 0) notifyWarning(t('metadataOfMany.nothing'))
    })
    setSaving(false)
    if (!isStarted) return
    onClose()
    selection.clear()
  }
  return (
    <Stack gap="md">
      <Text size="sm">{t('metadataOfMany.text')}</Text>
      <JsonInput
        data-autofocus
        label={t('metadataOfMany.set')}
        description={t('metadata.hint', { limit })}
        placeholder='{"department": "Sales"}'
        value={text}
        onChange={setText}
        error={problem}
        autosize
        minRows={4}
        maxRows={12}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <TagsInput
        label={t('metadataOfMany.remove')}
        description={t('metadataOfMany.removeHint')}
        value={removed}
        onChange={setRemoved}
        // A key may contain any character.
        splitChars={[]}
        maxTags={1000}
        clearable={false}
      />
      <DialogButtons
        onCancel={onClose}
        submit={t('metadataOfMany.submit')}
        loading={isSaving}
        disabled={problem !== undefined || (setsNothing && removed.length === 0)}
        onSubmit={() => void save()}
      />
    </Stack>
  )
}
