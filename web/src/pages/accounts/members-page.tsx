import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { MemberBody } from '@contract/people.ts'
import { deleteJson, patchJson } from '../../api/client.ts'
import { sessionQuery } from '../../app/session.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { column, type DataColumn, DataTable, PageSteps } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { InvitationsTable } from './invitations-table.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { PersonCell } from './person-cell.tsx'
import { membersQuery } from './routes.tsx'
import { Select } from '../../ui/select.tsx'
import { Time } from '../../ui/time.tsx'
import { removeColumn } from './remove-column.tsx'

/** Who belongs to an organisation, and who is invited. */
export function MembersPage() {
  const { t } = useTranslation('accounts')
  const { organisationId } = useParams({ strict: false }) as { organisationId: string }
  const [offset, setOffset] = useState(0)
  const { data: first } = useSuspenseQuery(membersQuery(organisationId, 0))
  const { data: view = first } = useQuery(membersQuery(organisationId, offset))
  const [isInviting, dialog] = useDisclosure(false)
  const queryClient = useQueryClient()
  const refresh = useRefresh(organisationId)
  const inviteButton = (
    <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={dialog.open}>
      {t('invite.open')}
    </Button>
  )
  return (
    <Page
      title={t('members.title')}
      description={t('members.text', { organisation: view.organisation.name })}
      actions={view.members.total > 0 && inviteButton}
    >
      {view.members.total === 0 ? (
        <EmptyState title={t('members.none')} text={t('members.noneText')} action={inviteButton} />
      ) : (
        <div>
          <MembersTable
            organisationId={organisationId}
            members={view.members.items}
            onChanged={refresh}
            load={async () =>
              (await queryClient.fetchQuery({ ...membersQuery(organisationId, offset), staleTime: 0 })).members.items
            }
          />
          <PageSteps {...view.members} onChange={setOffset} />
        </div>
      )}
      <Section title={t('invitations.title')} description={t('invitations.text')}>
        <InvitationsTable
          invitations={view.invitations}
          path={`/api/organisations/${organisationId}/invitations`}
          onChanged={refresh}
        />
      </Section>
      <InviteDialog isOpen={isInviting} onClose={dialog.close} onInvited={refresh} organisationId={organisationId} />
    </Page>
  )
}

/** The own role may have changed, too. */
function useRefresh(organisationId: string): () => void {
  const queryClient = useQueryClient()
  return () => {
    void queryClient.invalidateQueries({ queryKey: ['members', organisationId] })
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
}

interface MembersTableProps {
  organisationId: string
  members: MemberBody[]
  onChanged: () => void
  /** Loads the members again. */
  load: () => Promise<MemberBody[]>
}

function MembersTable({ members, ...changes }: MembersTableProps) {
  const { t } = useTranslation('accounts')
  const { setRole, remove } = useMemberChanges(changes)
  const columns = useMemo((): DataColumn<MemberBody>[] => {
    const roles = (['administrator', 'member'] as const).map((value) => ({ value, label: t(`role.${value}`) }))
    const confirmRemoval = ({ personId, email }: MemberBody) =>
      openConfirm({
        title: t('members.remove'),
        text: t('members.removeText', { email }),
        confirm: t('members.remove'),
        onConfirm: () => remove(personId),
      })
    return [
      column('name', t('person'), (member) => <PersonCell {...member} id={member.personId} />, 'name'),
      column(
        'role',
        t('roleLabel'),
        (member) => (
          <Select
            size="xs"
            w={160}
            aria-label={t('members.roleOf', { email: member.email })}
            data={roles}
            value={member.role}
            allowDeselect={false}
            onChange={(role) => role && setRole({ member, role: role as MemberBody['role'] })}
          />
        ),
        'role',
      ),
      column('createdAt', t('members.since'), ({ createdAt }) => <Time value={createdAt} />, 'createdAt'),
      removeColumn({
        text: t('members.remove'),
        describe: ({ email }) => t('members.removeOf', { email }),
        onRemove: confirmRemoval,
      }),
    ]
  }, [t, setRole, remove])
  return <DataTable label={t('members.title')} columns={columns} rows={members} rowId={({ personId }) => personId} />
}

function useMemberChanges({ organisationId, onChanged, load }: Omit<MembersTableProps, 'members'>) {
  const { t } = useTranslation('accounts')
  const path = `/api/organisations/${organisationId}/members`
  const options = { onError: notifyError, onSettled: onChanged }
  const { mutate: setRole } = useMutation({
    ...options,
    mutationFn: ({ member, role }: { member: MemberBody; role: MemberBody['role'] }) =>
      changeOneField({
        view: member,
        send: (base) => patchJson(`${path}/${member.personId}`, { role }, ifMatch(base)),
        load: async () => (await load()).find(({ personId }) => personId === member.personId),
      }),
    onSuccess: () => notifySuccess(t('saved')),
  })
  const { mutate: remove } = useMutation({
    ...options,
    mutationFn: (personId: string) => deleteJson(`${path}/${personId}`),
    onSuccess: () => notifySuccess(t('members.removed')),
  })
  return { setRole, remove }
}
