import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrganisationBody } from '@contract/operator.ts'
import { deleteJson } from '../../api/client.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'

/** The removal of an organisation, confirmed with its name. */
export function DeleteOrganisation({ organisation, spaces }: { organisation: OrganisationBody; spaces: number }) {
  const { t } = useTranslation('operator')
  const [isOpen, dialog] = useDisclosure(false)
  const isBlocked = spaces > 0
  return (
    <Section
      title={t('danger.title')}
      description={isBlocked ? t('danger.blocked', { count: spaces }) : t('danger.text')}
    >
      <Group>
        <Button color="red" variant="light" disabled={isBlocked} onClick={dialog.open}>
          {t('danger.open')}
        </Button>
      </Group>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={t('danger.confirmTitle', { name: organisation.name })}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <ConfirmWithName organisation={organisation} onCancel={dialog.close} />
      </Modal>
    </Section>
  )
}

function ConfirmWithName({ organisation, onCancel }: { organisation: OrganisationBody; onCancel: () => void }) {
  const { t } = useTranslation('operator')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () => deleteJson(`/api/organisations/${organisation.id}`),
    async onSuccess() {
      await navigate({ to: '/operator/organisations' })
      queryClient.removeQueries({ queryKey: ['operator', 'organisation', organisation.id] })
      await queryClient.invalidateQueries({ queryKey: ['operator', 'organisations'] })
      notifySuccess(t('danger.done', { name: organisation.name }))
    },
    onError: notifyError,
  })
  const isSame = typed.trim() === organisation.name.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isSame) remove.mutate()
      }}
    >
      <Stack>
        <Text size="sm">{t('danger.text')}</Text>
        <TextInput
          label={t('danger.type', { name: organisation.name })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
          autoComplete="off"
        />
        <DialogButtons
          onCancel={onCancel}
          submit={t('danger.confirm')}
          color="red"
          disabled={!isSame}
          loading={remove.isPending}
        />
      </Stack>
    </form>
  )
}
