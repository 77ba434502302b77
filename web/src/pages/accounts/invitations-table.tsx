import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { InvitationBody } from '@contract/people.ts'
import { deleteJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Time } from '../../ui/time.tsx'
import { removeColumn } from './remove-column.tsx'

interface InvitationsTableProps {
  invitations: { total: number; items: InvitationBody[] }
  /** The collection of the invitations: an invitation is below it. */
  path: string
  onChanged: () => void
}

/** Open invitations, newest first. Their links cannot be read again. */
export function InvitationsTable({ invitations, path, onChanged }: InvitationsTableProps) {
  const { t } = useTranslation('accounts')
  const remove = useMutation({
    mutationFn: (id: string) => deleteJson(`${path}/${id}`),
    onSuccess: () => {
      notifySuccess(t('invitations.withdrawn'))
      onChanged()
    },
    onError: notifyError,
  })
  const columns = useMemo((): DataColumn<InvitationBody>[] => {
    const withdraw = ({ id, email }: InvitationBody) =>
      openConfirm({
        title: t('invitations.withdraw'),
        text: t('invitations.withdrawText', { email }),
        confirm: t('invitations.withdraw'),
        onConfirm: () => remove.mutate(id),
      })
    return [
      textColumn('email', t('email'), ({ email }) => email),
      textColumn('role', t('roleLabel'), ({ role }) => t(`role.${role}`)),
      textColumn('invitedBy', t('invitations.by'), ({ invitedBy }) => invitedBy),
      column('expiresAt', t('invitations.expires'), ({ expiresAt }) => <Time value={expiresAt} />, 'expiresAt'),
      removeColumn({
        text: t('invitations.withdraw'),
        describe: ({ email }) => t('invitations.withdrawOf', { email }),
        onRemove: withdraw,
      }),
    ]
  }, [t, remove.mutate])
  return (
    <>
      <DataTable
        label={t('invitations.title')}
        columns={columns}
        rows={invitations.items}
        rowId={({ id }) => id}
        empty={<Dimmed>{t('invitations.none')}</Dimmed>}
      />
      {invitations.total > invitations.items.length && (
        <Dimmed>{t('invitations.more', { shown: invitations.items.length, total: invitations.total })}</Dimmed>
      )}
    </>
  )
}
