import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { OwnChatBody } from '@contract/own-chats.ts'
import { patchJson } from '../../api/client.ts'
import { NameDialog } from '../../ui/name-dialog.tsx'
import { notifyError } from '../../ui/notify.ts'
import { ownChatsKey, ownChatsPath } from './own-chat-queries.ts'

export function RenameChat(props: { chat: OwnChatBody; spaceId: string; onClose: () => void }) {
  const { chat, spaceId, onClose } = props
  const { t } = useTranslation('own-chats')
  const queryClient = useQueryClient()
  async function save(title: string) {
    try {
      await patchJson(`${ownChatsPath(spaceId)}/${chat.id}`, { title })
    } catch (error) {
      notifyError(error)
      return false
    }
    await queryClient.invalidateQueries({ queryKey: ownChatsKey(spaceId) })
    return true
  }
  return (
    <NameDialog
      title={t('renameTitle')}
      label={t('name')}
      name={chat.title}
      maximumCharacters={200}
      submit={t('save')}
      onSave={save}
      onClose={onClose}
    />
  )
}
