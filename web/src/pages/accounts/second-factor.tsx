import '@mantine/core/styles/PinInput.css'
import { Anchor, Button, PinInput, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, postJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import type { StepProps } from './sign-in-forms.tsx'
import { useProblemText } from './problem.tsx'

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
        <Dimmed>{isBackup ? t('signIn.backupText') : t('signIn.codeText')}</Dimmed>
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
