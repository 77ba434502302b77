import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OwnChatBody } from '@contract/own-chats.ts'
import { patchJson } from '../../api/client.ts'
import { notifyError } from '../../ui/notify.ts'
import { ownChatsKey, ownChatsPath } from './own-chat-queries.ts'

export function RenameChat(props: { chat: OwnChatBody; spaceId: string; onClose: () => void }) {
  const { chat, spaceId, onClose } = props
  const { t } = useTranslation('own-chats')
  const queryClient = useQueryClient()
  const [title, setTitle] = useState(chat.title)
  const trimmed = title.trim()
  const save = useMutation({
    mutationFn: () => patchJson(`${ownChatsPath(spaceId)}/${chat.id}`, { title: trimmed }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ownChatsKey(spaceId) })
      onClose()
    },
    onError: notifyError,
  })
  return (
    <Modal opened onClose={onClose} title={t('renameTitle')} centered closeButtonProps={{ 'aria-label': t('cancel') }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="md">
          <TextInput
            data-autofocus
            label={t('name')}
            value={title}
            maxLength={200}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={trimmed === ''}>
              {t('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
