import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { NewInvitationBody } from '@contract/people.ts'
import { postJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Select } from '../../ui/select.tsx'
import { Dialog } from './dialog.tsx'
import { LinkToPass } from './link-to-pass.tsx'
import { Problem } from './problem.tsx'
import { useSentForm } from './use-sent-form.ts'

interface InviteDialogProps {
  isOpen: boolean
  onClose: () => void
  /** The list of invitations has a new entry. */
  onInvited: () => void
  /** Absent: an invitation to become an operator. */
  organisationId?: string
}

/** Invites a person. The link is shown once, for the inviter to pass on. */
export function InviteDialog({ isOpen, onClose, onInvited, organisationId }: InviteDialogProps) {
  const { t } = useTranslation('accounts')
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      title={organisationId === undefined ? t('invite.operatorTitle') : t('invite.title')}
    >
      <Invite organisationId={organisationId} onInvited={onInvited} onClose={onClose} />
    </Dialog>
  )
}

interface InviteProps {
  organisationId: string | undefined
  onInvited: () => void
  onClose: () => void
}

function Invite({ organisationId, onInvited, onClose }: InviteProps) {
  const { t } = useTranslation('accounts')
  const [made, setMade] = useState<NewInvitationBody>()
  const { submit, problem, isBusy } = useSentForm(async ({ email, role }) => {
    setMade(
      organisationId === undefined
        ? await postJson('/api/operator-invitations', { email })
        : await postJson(`/api/organisations/${organisationId}/invitations`, { email, role }),
    )
    onInvited()
  })
  if (made) return <LinkToPass text={t('invite.made', { email: made.email })} link={made.url} onDone={onClose} />
  const roles = (['member', 'administrator'] as const).map((value) => ({ value, label: t(`role.${value}`) }))
  return (
    <form onSubmit={submit}>
      <Stack>
        <Problem text={problem} />
        <TextInput name="email" type="email" label={t('email')} required withAsterisk={false} data-autofocus />
        {organisationId === undefined ? (
          <Dimmed>{t('invite.operatorText')}</Dimmed>
        ) : (
          <Select
            name="role"
            label={t('roleLabel')}
            description={t('invite.roleText')}
            data={roles}
            defaultValue="member"
            allowDeselect={false}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            {t('invite.submit')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
