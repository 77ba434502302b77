import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/client.ts'
import { signInAddress } from '../../app/sign-in-address.ts'
import { ErrorState } from '../../ui/error-state.tsx'

/** The page of a link that was used, withdrawn or has expired. */
function GoneLink({ title, text, ...props }: ErrorComponentProps & { title: string; text: string }) {
  const { t } = useTranslation('accounts')
  if (!(props.error instanceof ApiError) || props.error.status !== 404) return <ErrorState {...props} />
  return (
    <Stack>
      <Title order={1}>{title}</Title>
      <Text>{text}</Text>
      <Anchor href={signInAddress()}>{t('toSignIn')}</Anchor>
    </Stack>
  )
}

export function InvitationError(props: ErrorComponentProps) {
  const { t } = useTranslation('accounts')
  return <GoneLink title={t('invitation.gone')} text={t('invitation.goneText')} {...props} />
}

export function PasswordResetError(props: ErrorComponentProps) {
  const { t } = useTranslation('accounts')
  return <GoneLink title={t('reset.gone')} text={t('reset.goneText')} {...props} />
}
