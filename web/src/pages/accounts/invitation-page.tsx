import { Anchor, Button, Divider, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { MeBody, OpenInvitationBody } from '@contract/people.ts'
import { ApiError, getJson, postJson } from '../../api/client.ts'
import { signInAddress } from '../../app/sign-in-address.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { NewPassword } from './new-password.tsx'
import { Problem, useProblemText } from './problem.tsx'
import { invitationQuery } from './routes.tsx'
import { SingleSignOnButton } from './single-sign-on-button.tsx'

export function InvitationPage() {
  const { t } = useTranslation('accounts')
  const format = useFormat()
  const { token } = useParams({ strict: false }) as { token: string }
  const { data: invitation } = useSuspenseQuery(invitationQuery(token))
  const [problem, setProblem] = useState<string>()
  const { organisationName, role, email, expiresAt } = invitation
  return (
    <Stack>
      <title>{`${t('invitation.title')} · Portico`}</title>
      <Title order={1}>{t('invitation.title')}</Title>
      <Text>
        {organisationName === null
          ? t('invitation.operatorText', { email })
          : t(`invitation.text.${role === 'member' ? 'member' : 'administrator'}`, {
              email,
              organisation: organisationName,
            })}
      </Text>
      <Dimmed>{t('invitation.until', { time: format.dateTime(expiresAt) })}</Dimmed>
      <Problem text={problem} />
      <Acceptance token={token} invitation={invitation} onProblem={setProblem} />
    </Stack>
  )
}

interface AcceptanceProps {
  token: string
  invitation: OpenInvitationBody
  onProblem: (text: string) => void
}

/** What this browser can do with the link: it depends on who is signed in. */
function Acceptance({ token, invitation, onProblem }: AcceptanceProps) {
  const { t } = useTranslation('accounts')
  const { data: me, isPending } = useVisitor()
  const { email, singleSignOn, passwordSignIn } = invitation
  if (isPending) return null
  if (me?.person?.email === email) return <AcceptButton token={token} onProblem={onProblem} />
  if (me?.person) return <SignOutFirst email={me.person.email} invited={email} />
  const returnTo = `/invitations/${token}`
  return (
    <>
      {singleSignOn && (
        <SingleSignOnButton
          name={singleSignOn.name}
          returnTo={`/console${returnTo}`}
          isPrimary={!passwordSignIn}
          onProblem={onProblem}
        />
      )}
      {singleSignOn && passwordSignIn && <Divider label={t('signIn.or')} />}
      {passwordSignIn && (
        <>
          <NewAccount token={token} email={email} onProblem={onProblem} />
          <Text size="sm">
            {t('invitation.haveAccount')}{' '}
            <Anchor href={signInAddress(returnTo)}>{t('invitation.signIn', { email })}</Anchor>
          </Text>
        </>
      )}
    </>
  )
}

/** The signed-in person of this browser; null without one. A 401 is an answer here, not an error. */
function useVisitor() {
  return useQuery({
    queryKey: ['visitor'],
    queryFn: ({ signal }) =>
      getJson<MeBody>('/api/me', { signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) return null
        throw error
      }),
  })
}

function useAccept({ token, onProblem }: Pick<AcceptanceProps, 'token' | 'onProblem'>) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const [isBusy, setBusy] = useState(false)
  const accept = async (account: object, then: () => Promise<unknown> = async () => undefined) => {
    setBusy(true)
    try {
      const given = await postJson<Pick<MeBody, 'organisations'>>(`/api/invitations/${token}/accept`, account)
      await then()
      queryClient.clear()
      const [organisation] = given.organisations
      await navigate({ to: (organisation ? `/organisations/${organisation.id}/spaces` : '/') as '/', replace: true })
    } catch (error) {
      setBusy(false)
      onProblem(problemText(error))
    }
  }
  return { accept, isBusy }
}

function AcceptButton(props: Pick<AcceptanceProps, 'token' | 'onProblem'>) {
  const { t } = useTranslation('accounts')
  const { accept, isBusy } = useAccept(props)
  return (
    <Button loading={isBusy} onClick={() => void accept({})}>
      {t('invitation.accept')}
    </Button>
  )
}

function NewAccount(props: Pick<AcceptanceProps, 'token' | 'onProblem'> & { email: string }) {
  const { t } = useTranslation('accounts')
  const { accept, isBusy } = useAccept(props)
  const { email } = props
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { name, password } = Object.fromEntries(new FormData(event.currentTarget))
    void accept({ name, password }, () => postJson('/api/auth/sign-in/email', { email, password }))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput name="email" label={t('email')} value={email} readOnly autoComplete="username" />
        <TextInput name="name" label={t('name')} autoComplete="name" maxLength={200} required withAsterisk={false} />
        <NewPassword label={t('password')} />
        <Button type="submit" loading={isBusy}>
          {t('invitation.create')}
        </Button>
      </Stack>
    </form>
  )
}

function SignOutFirst({ email, invited }: { email: string; invited: string }) {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const signOut = async () => {
    await postJson('/api/auth/sign-out', {})
    await queryClient.invalidateQueries({ queryKey: ['visitor'] })
  }
  return (
    <>
      <Text size="sm">{t('invitation.otherPerson', { email, invited })}</Text>
      <Button variant="default" onClick={() => void signOut()}>
        {t('invitation.signOut')}
      </Button>
    </>
  )
}
