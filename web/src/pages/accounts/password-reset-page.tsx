import { Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { notifySuccess } from '../../ui/notify.ts'
import { NewPassword } from './new-password.tsx'
import { Problem, useProblemText } from './problem.tsx'
import { passwordResetQuery } from './routes.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** Sets a new password with a link that an operator has made. */
export function PasswordResetPage() {
  const { t } = useTranslation('accounts')
  const format = useFormat()
  const { token } = useParams({ strict: false }) as { token: string }
  const { data: reset } = useSuspenseQuery(passwordResetQuery(token))
  const { submit, problem, isBusy } = usePasswordReset(token)
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <title>{`${t('reset.title')} · Portico`}</title>
        <Title order={1}>{t('reset.title')}</Title>
        <Text size="sm" c="dimmed">
          {t('invitation.until', { time: format.dateTime(reset.expiresAt) })}{' '}
          {reset.removesSecondFactor && t('reset.removesSecondFactor')}
        </Text>
        <Problem text={problem} />
        <TextInput name="email" label={t('email')} value={reset.email} readOnly autoComplete="username" />
        <NewPassword />
        <Button type="submit" loading={isBusy}>
          {t('reset.submit')}
        </Button>
      </Stack>
    </form>
  )
}

function usePasswordReset(token: string) {
  const { t } = useTranslation('accounts')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const problemText = useProblemText()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const password = new FormData(event.currentTarget).get('password')
    setBusy(true)
    try {
      await postJson(`/api/password-resets/${encodeURIComponent(token)}`, { password })
      queryClient.clear()
      notifySuccess(t('reset.done'))
      await navigate({ to: '/sign-in', replace: true })
    } catch (error) {
      setProblem(problemText(error))
    } finally {
      setBusy(false)
    }
  }
  return { submit, problem, isBusy }
}

/** A link that was used or has expired. */
export function PasswordResetError(props: ErrorComponentProps) {
  const { t } = useTranslation('accounts')
  if (!(props.error instanceof ApiError) || props.error.status !== 404) return <ErrorState {...props} />
  return (
    <Stack>
      <Title order={1}>{t('reset.gone')}</Title>
      <Text>{t('reset.goneText')}</Text>
      <AnchorLink to={'/sign-in'}>{t('toSignIn')}</AnchorLink>
    </Stack>
  )
}
