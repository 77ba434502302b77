import { Anchor, Button, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { MeBody } from '@contract/people.ts'
import { signInAddress } from '../../app/sign-in-address.ts'
import { Problem } from './problem.tsx'
import { setupQuery } from './routes.tsx'
import { PasswordForm, SecondFactor } from './sign-in-forms.tsx'

interface SignInAgainProps {
  /** The person whose session has expired. */
  session: MeBody
  onRenewed: () => void
  onLeave: () => void
}

/** Signs the same person in over the page, which stays as it is. */
export function SignInAgain({ session, onRenewed, onLeave }: SignInAgainProps) {
  const { t } = useTranslation('accounts')
  const { data: setup } = useQuery(setupQuery)
  const [step, setStep] = useState<'password' | 'code'>('password')
  const [problem, setProblem] = useState<string>()
  const finish = async () => {
    const person = await readPerson()
    if (person === session.person?.id) return onRenewed()
    if (person === undefined) return setProblem(t('again.notYet'))
    // The page has the data of another person.
    globalThis.location.assign('/console')
  }
  const form = { onDone: finish, onProblem: setProblem }
  return (
    <Modal opened onClose={onLeave} title={t('again.title')} closeOnClickOutside={false} zIndex={1000}>
      <Stack>
        <Text size="sm">{t('again.text')}</Text>
        <Problem text={problem} />
        {step === 'code' ? (
          <SecondFactor {...form} onBack={() => setStep('password')} />
        ) : (
          setup?.passwordSignIn && (
            <PasswordForm {...form} email={session.person?.email} onSecondFactor={() => setStep('code')} />
          )
        )}
        {setup?.singleSignOn && step === 'password' && (
          <>
            <Anchor href={signInAddress()} target="_blank" size="sm">
              {t('again.otherTab', { name: setup.singleSignOn.name })}
            </Anchor>
            <Button variant="default" onClick={() => void finish()}>
              {t('again.continue')}
            </Button>
          </>
        )}
        <Anchor component="button" type="button" size="sm" onClick={onLeave}>
          {t('again.leave')}
        </Anchor>
      </Stack>
    </Modal>
  )
}

/** Not with `getJson`, which would wait for this dialog. */
async function readPerson(): Promise<string | undefined> {
  const response = await fetch('/api/me')
  return response.ok ? ((await response.json()) as MeBody).person?.id : undefined
}
