import { Anchor, Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { signInAddress } from '../../app/sign-in-address.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
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
  const [isDone, setDone] = useState(false)
  const { submit, problem, isBusy } = useSentForm(async ({ password }) => {
    await postJson(`/api/password-resets/${encodeURIComponent(token)}`, { password })
    setDone(true)
  })
  if (isDone)
    return (
      <Stack>
        <Title order={1}>{t('reset.title')}</Title>
        <Text role="status">{t('reset.done')}</Text>
        <Anchor href={signInAddress()}>{t('toSignIn')}</Anchor>
      </Stack>
    )
  return (
    <form onSubmit={submit}>
      <Stack>
        <title>{`${t('reset.title')} · Portico`}</title>
        <Title order={1}>{t('reset.title')}</Title>
        <Dimmed>
          {t('invitation.until', { time: format.dateTime(reset.expiresAt) })}{' '}
          {reset.removesSecondFactor && t('reset.removesSecondFactor')}
        </Dimmed>
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
