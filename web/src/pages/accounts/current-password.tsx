import { PasswordInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

export function CurrentPassword({ name = 'password' }: { name?: string }) {
  const { t } = useTranslation('accounts')
  return (
    <PasswordInput
      name={name}
      label={t('currentPassword')}
      autoComplete="current-password"
      required
      withAsterisk={false}
      data-autofocus
    />
  )
}
