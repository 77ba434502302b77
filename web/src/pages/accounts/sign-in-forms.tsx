import '@mantine/core/styles/PinInput.css'
import { Anchor, Button, PasswordInput, PinInput, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { useProblemText } from './problem.tsx'

interface StepProps {
  onDone: () => Promise<void>
  onProblem: (text: string | undefined) => void
}

/** `email`: of the person who signs in again. */
export function PasswordForm(props: StepProps & { email?: string | undefined; onSecondFactor: () => void }) {
  const { email: known, onDone, onProblem, onSecondFactor } = props
  const { t } = useTranslation('accounts')
  const problemText = useProblemText()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { email, password } = Object.fromEntries(new FormData(event.currentTarget))
    setBusy(true)
    try {
      const given = { email, password }
      const answer = await postJson<{ twoFactorRedirect?: boolean }>('/api/auth/sign-in/email', given)
      onProblem(undefined)
      if (answer.twoFactorRedirect) onSecondFactor()
      else await onDone()
    } catch (error) {
      onProblem(problemText(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <TextInput
          name="email"
          type="email"
          label={t('email')}
          autoComplete="username"
          defaultValue={known}
          readOnly={known !== undefined}
          required
          withAsterisk={false}
        />
        <PasswordInput
          name="password"
          data-autofocus
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <Button type="submit" loading={isBusy}>
          {t('signIn.title')}
        </Button>
      </Stack>
    </form>
  )
}

/** The code of the app, or a backup code for people without their phone. */
export function SecondFactor({ onDone, onProblem, onBack }: StepProps & { onBack: () => void }) {
  const { t } = useTranslation('accounts')
  const problemText = useProblemText()
  const [isBackup, setBackup] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const verify = async (code: string) => {
    setBusy(true)
    try {
      await postJson(`/api/auth/two-factor/${isBackup ? 'verify-backup-code' : 'verify-totp'}`, { code: code.trim() })
      await onDone()
    } catch (error) {
      onProblem(problemText(error))
      if (error instanceof ApiError && error.code === 'INVALID_TWO_FACTOR_COOKIE') onBack()
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void verify(String(new FormData(event.currentTarget).get('code')))
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {isBackup ? t('signIn.backupText') : t('signIn.codeText')}
        </Text>
        {isBackup ? (
          <TextInput key="backup" name="code" label={t('signIn.backupCode')} required autoFocus autoComplete="off" />
        ) : (
          <PinInput
            key="code"
            name="code"
            length={6}
            type="number"
            oneTimeCode
            autoFocus
            disabled={isBusy}
            aria-label={t('signIn.code')}
            getInputProps={(index) => ({ 'aria-label': t('signIn.digit', { number: index + 1 }) })}
            onComplete={(code) => void verify(code)}
          />
        )}
        <Button type="submit" loading={isBusy}>
          {t('signIn.verify')}
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={() => setBackup(!isBackup)}>
          {isBackup ? t('signIn.useCode') : t('signIn.useBackup')}
        </Anchor>
      </Stack>
    </form>
  )
}
