import { Button, PasswordInput, Stack, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { NewPassword } from './new-password.tsx'
import { Problem } from './problem.tsx'
import { useSentForm } from './use-sent-form.ts'

/** Creates the first account, with the operator token that the first start has printed. */
export function SetupPage() {
  const { t } = useTranslation('accounts')
  const { submit, problem, isBusy } = useSetup()
  return (
    <form onSubmit={submit}>
      <Stack>
        <title>{`${t('setup.title')} · Portico`}</title>
        <Title order={1}>{t('setup.title')}</Title>
        <Dimmed>{t('setup.text')}</Dimmed>
        <Problem text={problem} />
        <PasswordInput
          name="token"
          label={t('setup.token')}
          description={t('setup.tokenText')}
          autoComplete="off"
          required
          withAsterisk={false}
        />
        <TextInput name="name" label={t('name')} autoComplete="name" maxLength={200} required withAsterisk={false} />
        <TextInput name="email" type="email" label={t('email')} autoComplete="username" required withAsterisk={false} />
        <NewPassword label={t('password')} />
        <Button type="submit" loading={isBusy}>
          {t('setup.submit')}
        </Button>
      </Stack>
    </form>
  )
}

function useSetup() {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return useSentForm(async ({ token, name, email, password }) => {
    const headers = { authorization: `Bearer ${String(token).trim()}` }
    await postJson('/api/setup', { name, email, password }, { headers })
    await postJson('/api/auth/sign-in/email', { email, password })
    queryClient.clear()
    await navigate({ to: '/', replace: true })
  })
}
