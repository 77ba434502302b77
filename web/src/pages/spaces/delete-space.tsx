import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SpaceView } from '@contract/console-spaces.ts'
import { deleteJson } from '../../api/client.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { spaceListsKey, spaceQuery } from './queries.ts'

/** Deletes a Space after its name was typed. */
export function DeleteSpace({ organisationId, space }: { organisationId: string; space: SpaceView }) {
  const { t } = useTranslation('spaces')
  const [isOpen, dialog] = useDisclosure(false)
  return (
    <Section title={t('delete.title')} description={t('delete.description')}>
      <Group>
        <Button variant="default" c="var(--mantine-color-error)" onClick={dialog.open}>
          {t('delete.open')}
        </Button>
      </Group>
      <Modal opened={isOpen} onClose={dialog.close} title={t('delete.confirmTitle', { name: space.name })}>
        {isOpen && <DeleteForm organisationId={organisationId} space={space} onCancel={dialog.close} />}
      </Modal>
    </Section>
  )
}

function DeleteForm(props: { organisationId: string; space: SpaceView; onCancel: () => void }) {
  const { organisationId, space, onCancel } = props
  const { t } = useTranslation('spaces')
  const [typed, setTyped] = useState('')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => deleteJson(`/api/spaces/${space.id}`),
    onSuccess: async () => {
      notifySuccess(t('delete.done', { name: space.name }))
      // Unsaved changes of a deleted Space are of no use.
      await navigate({ to: '/organisations/$organisationId/spaces', params: { organisationId }, ignoreBlocker: true })
      queryClient.removeQueries({ queryKey: spaceQuery(space.id).queryKey })
      await queryClient.invalidateQueries({ queryKey: spaceListsKey })
    },
    onError: notifyError,
  })
  const { ready, processing, failed } = space.documents
  return (
    <Stack>
      <Text size="sm">{t('delete.text', { count: ready + processing + failed })}</Text>
      <TextInput
        label={t('delete.typeName', { name: space.name })}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <DialogButtons
        onCancel={onCancel}
        submit={t('delete.submit')}
        color="red.9"
        disabled={typed.trim() !== space.name.trim()}
        loading={remove.isPending}
        onSubmit={() => remove.mutate()}
      />
    </Stack>
  )
}
