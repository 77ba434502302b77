import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { type ComponentProps, type FormEvent, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { useProblemText } from './problem.tsx'

const CodeForm = lazyPart(() => import('./second-factor.tsx'), 'SecondFactor')

export interface StepProps {
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

/** Few people have a second factor: its code loads when it is asked for. */
export function SecondFactor(props: ComponentProps<typeof CodeForm>) {
  return (
    <Suspense>
      <CodeForm {...props} />
    </Suspense>
  )
}
