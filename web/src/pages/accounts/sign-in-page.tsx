import { Anchor, Button, Divider, PasswordInput, PinInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { isKnown, Problem, useProblemText } from './problem.tsx'
import { setupQuery } from './routes.tsx'
import { SingleSignOnButton } from './single-sign-on-button.tsx'

export function SignInPage() {
  const { t } = useTranslation('accounts')
  const { data: setup } = useSuspenseQuery(setupQuery)
  const { returnTo, error } = useSearch({ strict: false }) as { returnTo?: string; error?: string }
  const [step, setStep] = useState<'password' | 'code'>('password')
  const [problem, setProblem] = useState<string | undefined>(
    error === undefined ? undefined : isKnown(error) ? t(`problem.${error}`) : t('problem.sign_in_failed'),
  )
  const finish = useFinish(safeReturn(returnTo))
  if (setup.required) return <Navigate to={'/setup'} replace />
  return (
    <Stack>
      <title>{`${t('signIn.title')} · Portico`}</title>
      <Title order={1}>{step === 'code' ? t('signIn.secondFactor') : t('signIn.title')}</Title>
      <Problem text={problem} />
      {step === 'code' ? (
        <SecondFactor onDone={finish} onProblem={setProblem} onBack={() => setStep('password')} />
      ) : (
        <>
          {setup.passwordSignIn && (
            <PasswordForm onDone={finish} onProblem={setProblem} onSecondFactor={() => setStep('code')} />
          )}
          {setup.passwordSignIn && setup.singleSignOn && <Divider label={t('signIn.or')} />}
          {setup.singleSignOn && (
            <SingleSignOnButton
              name={setup.singleSignOn.name}
              returnTo={`/console${safeReturn(returnTo).split('?', 1)[0]}`}
              isPrimary={!setup.passwordSignIn}
              onProblem={setProblem}
            />
          )}
          {setup.passwordSignIn && (
            <Text size="sm" c="dimmed">
              {t('signIn.forgotten')}
            </Text>
          )}
        </>
      )}
    </Stack>
  )
}

/** Opens the page to which the sign-in leads, without data of an earlier person. */
function useFinish(returnTo: string): () => Promise<void> {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return async () => {
    queryClient.clear()
    await navigate({ href: returnTo, replace: true })
  }
}

interface StepProps {
  onDone: () => Promise<void>
  onProblem: (text: string | undefined) => void
}

function PasswordForm({ onDone, onProblem, onSecondFactor }: StepProps & { onSecondFactor: () => void }) {
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
        <TextInput name="email" type="email" label={t('email')} autoComplete="username" required withAsterisk={false} />
        <PasswordInput
          name="password"
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
function SecondFactor({ onDone, onProblem, onBack }: StepProps & { onBack: () => void }) {
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

/** Only addresses of the console: a link to the sign-in page must not lead to another site. */
function safeReturn(returnTo: string | undefined): string {
  return returnTo !== undefined && /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
}
