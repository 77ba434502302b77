import { ActionIcon, Group, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { PersonBody } from '@contract/people.ts'
import { deleteJson, patchJson } from '../../api/client.ts'
import { changeOneField } from '../../ui/conflict/change-one-field.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { notifyError, notifySuccess } from '../../ui/notify.ts'
import { Dialog } from './dialog.tsx'
import { PasswordLink } from './password-link.tsx'
import { PersonCell } from './person-cell.tsx'
import { Time } from '../../ui/time.tsx'

interface PeopleTableProps {
  people: PersonBody[]
  /** People may sign in with a password. */
  hasPasswords: boolean
  onChanged: () => void
  /** Loads the people again. */
  load: () => Promise<PersonBody[]>
}

/** Accounts with what an operator can change about them. */
export function PeopleTable({ people, hasPasswords, onChanged, load }: PeopleTableProps) {
  const { t } = useTranslation('accounts')
  const [resetOf, setResetOf] = useState<PersonBody>()
  const columns = useColumns({ hasPasswords, onChanged, load, onReset: setResetOf })
  return (
    <>
      <DataTable
        label={t('people.title')}
        columns={columns}
        rows={people}
        rowId={({ id }) => id}
        minimumWidth={760}
        empty={<Dimmed>{t('people.none')}</Dimmed>}
      />
      <Dialog opened={resetOf !== undefined} onClose={() => setResetOf(undefined)} title={t('people.resetLink')}>
        {resetOf && <PasswordLink person={resetOf} onDone={() => setResetOf(undefined)} />}
      </Dialog>
    </>
  )
}

type Actions = Omit<PeopleTableProps, 'people'> & { onReset: (person: PersonBody) => void }

function useColumns({ hasPasswords, onChanged, load, onReset }: Actions): DataColumn<PersonBody>[] {
  const { t } = useTranslation('accounts')
  return useMemo(
    () => [
      column('email', t('person'), (person) => <PersonCell {...person} />, 'email'),
      column('signIn', t('people.signIn'), (person) => t(`people.method.${signInOf(person)}`), signInOf),
      column(
        'twoFactorEnabled',
        t('factor.title'),
        ({ twoFactorEnabled }) => (twoFactorEnabled ? t('factor.on') : t('factor.off')),
        'twoFactorEnabled',
      ),
      column('createdAt', t('people.created'), ({ createdAt }) => <Time value={createdAt} />, 'createdAt'),
      column('actions', '', (person) => (
        <PersonMenu person={person} hasPasswords={hasPasswords} onChanged={onChanged} load={load} onReset={onReset} />
      )),
    ],
    [t, hasPasswords, onChanged, load, onReset],
  )
}

function signInOf({ hasPassword, usesSingleSignOn }: PersonBody) {
  return hasPassword && usesSingleSignOn ? 'both' : usesSingleSignOn ? 'singleSignOn' : 'password'
}

function PersonMenu({ person, hasPasswords, onChanged, load, onReset }: Actions & { person: PersonBody }) {
  const { t } = useTranslation('accounts')
  const { setOperator, remove } = usePersonChanges(person, { onChanged, load })
  const { email, emailVerified, isOperator } = person
  const confirmRemoval = () =>
    openConfirm({
      title: t('people.remove'),
      text: t('people.removeText', { email }),
      confirm: t('people.remove'),
      onConfirm: remove,
    })
  const promote = () =>
    emailVerified
      ? setOperator({ isOperator: true })
      : openConfirm({
          title: t('people.promote'),
          text: t('people.promoteText', { email }),
          confirm: t('people.promote'),
          onConfirm: () => setOperator({ isOperator: true, acceptUnverifiedEmail: true }),
        })
  const confirmDemotion = () =>
    openConfirm({
      title: t('people.demote'),
      text: t('people.demoteText', { email }),
      confirm: t('people.demote'),
      onConfirm: () => setOperator({ isOperator: false }),
    })
  return (
    <Group justify="flex-end">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('people.actions', { email })}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isOperator ? (
            <Menu.Item onClick={confirmDemotion}>{t('people.demote')}</Menu.Item>
          ) : (
            <Menu.Item onClick={promote}>{t('people.promote')}</Menu.Item>
          )}
          {hasPasswords && <Menu.Item onClick={() => onReset(person)}>{t('people.resetLink')}</Menu.Item>}
          <Menu.Divider />
          <Menu.Item c="red" onClick={confirmRemoval}>
            {t('people.remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

function usePersonChanges(person: PersonBody, { onChanged, load }: Pick<Actions, 'onChanged' | 'load'>) {
  const { t } = useTranslation('accounts')
  const { id } = person
  const options = { onError: notifyError, onSettled: onChanged }
  const { mutate: setOperator } = useMutation({
    ...options,
    mutationFn: (given: { isOperator: boolean; acceptUnverifiedEmail?: true }) =>
      changeOneField({
        view: person,
        send: (base) => patchJson(`/api/people/${id}`, given, ifMatch(base)),
        load: async () => (await load()).find((latest) => latest.id === id),
      }),
    onSuccess: () => notifySuccess(t('saved')),
  })
  const { mutate: remove } = useMutation({
    ...options,
    mutationFn: () => deleteJson(`/api/people/${id}`),
    onSuccess: () => notifySuccess(t('people.removed')),
  })
  return { setOperator, remove: () => remove() }
}
