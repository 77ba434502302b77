import { Stack, Text, Title } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/client.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'

/** The page of a link that was used, withdrawn or has expired. */
function GoneLink({ of, ...props }: ErrorComponentProps & { of: 'reset' | 'invitation' }) {
  const { t } = useTranslation('accounts')
  if (!(props.error instanceof ApiError) || props.error.status !== 404) return <ErrorState {...props} />
  return (
    <Stack>
      <Title order={1}>{t(`${of}.gone`)}</Title>
      <Text>{t(`${of}.goneText`)}</Text>
      <AnchorLink to={'/sign-in'}>{t('toSignIn')}</AnchorLink>
    </Stack>
  )
}

export const InvitationError = (props: ErrorComponentProps) => <GoneLink of="invitation" {...props} />
export const PasswordResetError = (props: ErrorComponentProps) => <GoneLink of="reset" {...props} />
