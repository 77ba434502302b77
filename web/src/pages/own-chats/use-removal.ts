import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { OwnChatBody } from '@contract/own-chats.ts'
import { deleteJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { ownChatsKey, ownChatsPath } from './own-chat-queries.ts'

/** Asks before one conversation or all are deleted. `onRemoved` receives the id, or null for all. */
export function useRemoval(spaceId: string, onRemoved: (chatId: string | null) => void) {
  const { t } = useTranslation('own-chats')
  const queryClient = useQueryClient()
  const path = ownChatsPath(spaceId)
  const remove = useMutation({
    mutationFn: (chatId: string | null) =>
      deleteJson<{ chats: number } | undefined>(path + (chatId ? `/${chatId}` : '')),
    onSuccess: async (answer, chatId) => {
      onRemoved(chatId)
      notifySuccess(answer ? t('deletedAll', { count: answer.chats }) : t('deleted'))
      await queryClient.invalidateQueries({ queryKey: ownChatsKey(spaceId) })
    },
    onError: notifyError,
  })
  return {
    askOne: ({ id, title }: OwnChatBody) =>
      openConfirm({
        title: t('deleteQuestion'),
        text: t('deleteText', { title }),
        confirm: t('delete'),
        onConfirm: () => remove.mutate(id),
      }),
    askAll: () =>
      openConfirm({
        title: t('deleteAllQuestion'),
        text: t('deleteAllText'),
        confirm: t('deleteAll'),
        onConfirm: () => remove.mutate(null),
      }),
  }
}
