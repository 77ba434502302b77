import { Badge, Button, Group, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { sessionQuery } from '../../app/session.ts'
import { notifySuccess } from '../../ui/notify.ts'
import { Section } from '../../ui/section.tsx'
import { BackupCodes } from './backup-codes.tsx'
import { CurrentPassword } from './current-password.tsx'
import { Dialog } from './dialog.tsx'
import { EnrolmentCode } from './enrolment-code.tsx'
import { Problem } from './problem.tsx'
import { useSentForm } from './use-sent-form.ts'

type Step = 'enable' | 'codes' | 'disable'

/** The second factor: turned on with a QR code, with backup codes that are shown once. */
export function SecondFactorSection({ isOn }: { isOn: boolean }) {
  const { t } = useTranslation('accounts')
  const [dialog, setDialog] = useState<Step>()
  const close = () => setDialog(undefined)
  return (
    <Section title={t('factor.title')} description={t('factor.text')}>
      <Group gap="sm">
        <Badge color={isOn ? 'teal' : 'gray'} variant="dot">
          {isOn ? t('factor.on') : t('factor.off')}
        </Badge>
        {isOn ? (
          <>
            <Button variant="default" onClick={() => setDialog('codes')}>
              {t('factor.newCodes')}
            </Button>
            <Button variant="default" c="red" onClick={() => setDialog('disable')}>
              {t('factor.disable')}
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setDialog('enable')}>
            {t('factor.enable')}
          </Button>
        )}
      </Group>
      <Dialog opened={dialog === 'enable'} onClose={close} title={t('factor.title')} isSticky>
        <Enrolment onClose={close} />
      </Dialog>
      <Dialog opened={dialog === 'codes'} onClose={close} title={t('factor.newCodes')} isSticky>
        <NewCodes onClose={close} />
      </Dialog>
      <Dialog opened={dialog === 'disable'} onClose={close} title={t('factor.disable')}>
        <Disabling onClose={close} />
      </Dialog>
    </Section>
  )
}

interface PasswordStepProps {
  path: string
  action: string
  color?: string
  children?: ReactNode
  onDone: (answer: Prepared) => unknown
}

interface Prepared {
  totpURI: string
  backupCodes: string[]
}

/** A change of the second factor needs the password. */
function PasswordStep({ path, action, color, children, onDone }: PasswordStepProps) {
  const { submit, problem, isBusy } = useSentForm(async ({ password }) =>
    onDone(await postJson<Prepared>(`/api/auth/two-factor/${path}`, { password })),
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        <Problem text={problem} />
        <CurrentPassword />
        <Group justify="flex-end">
          <Button type="submit" color={color} loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Enrolment({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const [prepared, setPrepared] = useState<Prepared>()
  const [isVerified, setVerified] = useState(false)
  if (!prepared) return <PasswordStep path="enable" action={t('factor.continue')} onDone={setPrepared} />
  if (!isVerified) return <EnrolmentCode address={prepared.totpURI} onVerified={() => setVerified(true)} />
  const finish = async () => {
    onClose()
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return <BackupCodes codes={prepared.backupCodes} onDone={() => void finish()} />
}

function NewCodes({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('accounts')
  const [codes, setCodes] = useState<string[]>()
  if (codes) return <BackupCodes codes={codes} onDone={onClose} />
  return (
    <PasswordStep
      path="generate-backup-codes"
      action={t('factor.newCodes')}
      onDone={({ backupCodes }) => setCodes(backupCodes)}
    >
      {t('factor.newCodesText')}
    </PasswordStep>
  )
}

function Disabling({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const finish = async () => {
    onClose()
    notifySuccess(t('factor.disabled'))
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    <PasswordStep path="disable" action={t('factor.disable')} color="red" onDone={finish}>
      {t('factor.disableText')}
    </PasswordStep>
  )
}
