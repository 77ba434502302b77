import { PasswordInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The bounds of src/contract/people.ts. */
const bounds = { minLength: 12, maxLength: 200 }

/** A field for a new password, `name` "password" unless stated. */
export function NewPassword({ name = 'password', label }: { name?: string; label?: string }) {
  const { t } = useTranslation('accounts')
  return (
    <PasswordInput
      name={name}
      label={label ?? t('newPassword')}
      description={t('passwordRule', { minimum: bounds.minLength })}
      autoComplete="new-password"
      required
      withAsterisk={false}
      {...bounds}
    />
  )
}
