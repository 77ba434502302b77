import { Divider, Stack, Text, Title } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isKnown, Problem } from './problem.tsx'
import { setupQuery } from './routes.tsx'
import { PasswordForm, SecondFactor } from './sign-in-forms.tsx'
import { SingleSignOnButton } from './single-sign-on-button.tsx'

// One file with the sign-in page: see add-provider.tsx.
export { SignInAgain } from './sign-in-again.tsx'

export function SignInPage() {
  const { t } = useTranslation('accounts')
  const { data: setup } = useSuspenseQuery(setupQuery)
  const { returnTo, error } = useSearch({ strict: false }) as { returnTo?: string; error?: string }
  const [step, setStep] = useState<'password' | 'code'>('password')
  const [problem, setProblem] = useState<string | undefined>(
    error === undefined ? undefined : isKnown(error) ? t(`problem.${error}`) : t('problem.sign_in_failed'),
  )
  const destination = safeReturn(returnTo)
  const finish = useFinish(destination)
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
              returnTo={(isHostedChat(destination) ? '' : '/console') + destination.split('?', 1)[0]}
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

/** A page outside of the console, for members of an organisation. */
const isHostedChat = (path: string) => path.startsWith('/s/')

/** Opens the page to which the sign-in leads, without data of an earlier person. */
function useFinish(returnTo: string): () => Promise<void> {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return async () => {
    queryClient.clear()
    if (isHostedChat(returnTo)) return location.replace(returnTo)
    await navigate({ href: returnTo, replace: true })
  }
}

/** Only addresses of this site: a link to the sign-in page must not lead to another one. */
function safeReturn(returnTo: string | undefined): string {
  return returnTo !== undefined && /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
}
