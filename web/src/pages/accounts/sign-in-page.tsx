import { Button, PasswordInput, Stack, TextInput, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { addTexts } from '../../i18n/translations.ts'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

addTexts('accounts', { en, de })

export function SignInPage() {
  const { t } = useTranslation('accounts')
  const navigate = useNavigate()
  const { returnTo } = useSearch({ strict: false }) as { returnTo?: string }
  const [error, setError] = useState<string>()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { email, password } = Object.fromEntries(new FormData(event.currentTarget))
    try {
      await postJson('/api/auth/sign-in/email', { email, password })
      await navigate({ href: safeReturn(returnTo) })
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      setError(caught.message)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <Title order={1}>{t('title')}</Title>
        <TextInput name="email" type="email" label={t('email')} autoComplete="username" required />
        <PasswordInput name="password" label={t('password')} autoComplete="current-password" required error={error} />
        <Button type="submit">{t('title')}</Button>
      </Stack>
    </form>
  )
}

/** Only addresses of the console: a link to the sign-in page must not lead to another site. */
function safeReturn(returnTo: string | undefined): string {
  return returnTo !== undefined && /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
}
