import { PasswordInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Select } from '../../ui/select.tsx'
import { flavours, type ProviderField, type ProviderValues } from './provider-fields.ts'

/** The input of one described field. Stored secrets are never shown; their field is empty. */
export function ProviderFieldInput(props: {
  field: ProviderField
  form: {
    values: ProviderValues
    errors: Record<string, string>
    set: (name: keyof ProviderValues, value: string) => void
  }
  stored: ReadonlySet<string>
}) {
  const { field, form, stored } = props
  const { t } = useTranslation('models')
  const { name, kind } = field
  const isStored = stored.has(name)
  const shared = {
    label: t(`field.${name}`),
    description: isStored ? t('providerForm.keepSecret') : t(`fieldText.${name}`),
    placeholder: isStored ? '••••••••' : field.placeholder,
    error: form.errors[name],
    required: field.required === true && !isStored,
    value: form.values[name],
  }
  if (kind === 'flavour')
    return (
      <Select
        {...shared}
        placeholder={t('providerForm.otherHost')}
        data={[...flavours]}
        value={shared.value === '' ? null : shared.value}
        onChange={(value) => form.set(name, value ?? '')}
        clearable
        searchable
      />
    )
  const onChange = (event: { currentTarget: { value: string } }) => form.set(name, event.currentTarget.value)
  if (kind === 'secret') return <PasswordInput {...shared} onChange={onChange} autoComplete="off" />
  if (kind === 'longSecret')
    return <Textarea {...shared} onChange={onChange} autosize minRows={3} maxRows={8} autoComplete="off" />
  return <TextInput {...shared} onChange={onChange} />
}
