import { Button, Divider, Stack, Title } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SetupState } from '@contract/people.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { isKnown, Problem } from './problem.tsx'
import { PasswordForm, SecondFactor } from './sign-in-forms.tsx'
import { SingleSignOnButton } from './single-sign-on-button.tsx'

/** Without router and queries: this page is a separate document. Its address may state `returnTo` and the code of an `error`. */
export function SignInPage({ setup }: { setup: SetupState }) {
  const { t } = useTranslation('accounts')
  const search = new URLSearchParams(globalThis.location.search)
  const error = search.get('error')
  const destination = destinationOf(search.get('returnTo') ?? '/')
  const [step, setStep] = useState<'password' | 'code'>('password')
  const [problem, setProblem] = useState<string | undefined>(
    error === null ? undefined : isKnown(error) ? t(`problem.${error}`) : t('problem.sign_in_failed'),
  )
  // Never resolves: the form stays busy until the next page is there.
  const finish = () => new Promise<void>(() => globalThis.location.replace(destination))
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
              returnTo={destination.split('?', 1)[0]!}
              isPrimary={!setup.passwordSignIn}
              onProblem={setProblem}
            />
          )}
          {setup.passwordSignIn && <Dimmed>{t('signIn.forgotten')}</Dimmed>}
        </>
      )}
    </Stack>
  )
}

/** How people can sign in is not known: the server cannot be reached, for instance. */
export function SignInUnavailable({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation()
  return (
    <Stack>
      <Title order={1}>{t('error.title')}</Title>
      <Problem text={error instanceof Error ? error.message : ''} />
      <Button onClick={onRetry}>{t('retry')}</Button>
    </Stack>
  )
}

/**
 * The page to which the sign-in leads: of the console, or a hosted chat, for members of an organisation. Only addresses of this site: a link to
 * the sign-in page must not lead to another one.
 */
function destinationOf(returnTo: string): string {
  if (!/^\/(?![/\\])/.test(returnTo) || returnTo === '/') return '/console'
  return returnTo.startsWith('/s/') ? returnTo : `/console${returnTo}`
}
