import '@mantine/core/styles/PinInput.css'
import { Button, Center, Group, PinInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { Problem, useProblemText } from './problem.tsx'
import { QrCode } from './qr-code.tsx'

/** Shows the secret for the authenticator app, and verifies the first code. */
export function EnrolmentCode({ address, onVerified }: { address: string; onVerified: () => void }) {
  const { t } = useTranslation('accounts')
  const problemText = useProblemText()
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const verify = async (given: string) => {
    setBusy(true)
    try {
      await postJson('/api/auth/two-factor/verify-totp', { code: given })
      onVerified()
    } catch (error) {
      setProblem(problemText(error))
      setCode('')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack>
      <Text size="sm">{t('factor.scan')}</Text>
      <Center>
        <QrCode text={address} label={t('factor.qrCode')} />
      </Center>
      <CopyField label={t('factor.secret')} value={new URL(address).searchParams.get('secret') ?? ''} />
      <Problem text={problem} />
      <Text size="sm">{t('factor.enterCode')}</Text>
      <PinInput
        length={6}
        type="number"
        oneTimeCode
        value={code}
        onChange={setCode}
        onComplete={(given) => void verify(given)}
        aria-label={t('signIn.code')}
        getInputProps={(index) => ({ 'aria-label': t('signIn.digit', { number: index + 1 }) })}
      />
      <Group justify="flex-end">
        <Button loading={isBusy} disabled={code.length < 6} onClick={() => void verify(code)}>
          {t('factor.verify')}
        </Button>
      </Group>
    </Stack>
  )
}
