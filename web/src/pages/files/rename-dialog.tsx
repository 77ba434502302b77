import { useTranslation } from 'react-i18next'
import type { DocumentProgressBody } from '@contract/document-progress.ts'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import type { FileActions } from './file-actions.ts'

export function RenameDialog(props: { document: DocumentProgressBody; actions: FileActions; onClose: () => void }) {
  const { document, actions, onClose } = props
  const { t } = useTranslation('files')
  async function save(name: string) {
    if (name === document.name) return true
    const isSaved = await actions.rename(document.id, name)
    if (isSaved) notifySuccess(t('rename.done'))
    return isSaved
  }
  return (
    <NameDialog
      title={t('rename.title')}
      label={t('rename.label')}
      name={document.name}
      maximumCharacters={255}
      submit={t('action.save')}
      onSave={save}
      onClose={onClose}
    />
  )
}
