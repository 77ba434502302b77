import { Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { NewPassword } from './new-password.tsx'
import { Problem } from './problem.tsx'
import { passwordResetQuery } from './routes.tsx'
import { useSentForm } from './use-sent-form.ts'

/** Sets a new password with a link that an operator has made. */
export function PasswordResetPage() {
  const { t } = useTranslation('accounts')
  const format = useFormat()
  const { token } = useParams({ strict: false }) as { token: string }
  const { data: reset } = useSuspenseQuery(passwordResetQuery(token))
  const { submit, problem, isBusy } = usePasswordReset(token)
  return (
    <form onSubmit={submit}>
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
  return useSentForm(async ({ password }) => {
    await postJson(`/api/password-resets/${encodeURIComponent(token)}`, { password })
    queryClient.clear()
    notifySuccess(t('reset.done'))
    await navigate({ to: '/sign-in', replace: true })
  })
}
