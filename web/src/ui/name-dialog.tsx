import { Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { DialogButtons } from './dialog-buttons.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  title: string
  label: string
  name: string
  maximumCharacters: number
  submit: string
  /** The new name without blanks around it. Resolves to whether the dialog may close. */
  onSave: (name: string) => Promise<boolean>
  onClose: () => void
}

/** Changes one name. */
export function NameDialog({ title, label, name, maximumCharacters, submit, onSave, onClose }: Props) {
  const [text, setText] = useState(name)
  const [isSaving, setSaving] = useState(false)
  async function save(event: FormEvent) {
    event.preventDefault()
    setSaving(true)
    const isSaved = await onSave(text.trim())
    setSaving(false)
    if (isSaved) onClose()
  }
  return (
    <Dialog opened onClose={onClose} title={title} centered>
      <form onSubmit={(event) => void save(event)}>
        <Stack gap="md">
          <TextInput
            data-autofocus
            label={label}
            value={text}
            maxLength={maximumCharacters}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <DialogButtons onCancel={onClose} submit={submit} loading={isSaving} disabled={text.trim() === ''} />
        </Stack>
      </form>
    </Dialog>
  )
}
