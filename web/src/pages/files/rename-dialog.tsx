import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { notifySuccess } from '../../ui/notify.ts'
import type { FileActions } from './file-actions.ts'

export function RenameDialog(props: { document: DocumentProgressBody; actions: FileActions; onClose: () => void }) {
  const { document, actions, onClose } = props
  const { t } = useTranslation('files')
  const [name, setName] = useState(document.name)
  const [isSaving, setSaving] = useState(false)
  const trimmed = name.trim()
  async function save(event: FormEvent) {
    event.preventDefault()
    if (trimmed === document.name) return onClose()
    setSaving(true)
    const isSaved = await actions.rename(document.id, trimmed)
    setSaving(false)
    if (!isSaved) return
    notifySuccess(t('rename.done'))
    onClose()
  }
  return (
    <Modal opened onClose={onClose} title={t('rename.title')} centered>
      <form onSubmit={(event) => void save(event)}>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label={t('rename.label')}
            value={name}
            maxLength={255}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={isSaving} disabled={trimmed === ''}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
