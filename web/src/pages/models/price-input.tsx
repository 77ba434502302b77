import { TextInput } from '@mantine/core'

/** US dollars per million tokens, as an exact decimal. A comma is accepted as the decimal point. */
export function PriceInput(props: {
  label: string
  description?: string
  value: string
  onChange: (value: string) => void
  error?: string | undefined
  required?: boolean
  size?: 'xs' | 'sm'
}) {
  const { onChange, ...rest } = props
  return (
    <TextInput
      {...rest}
      inputMode="decimal"
      placeholder="0.00"
      leftSection="$"
      onChange={(event) => onChange(event.currentTarget.value.replace(',', '.'))}
    />
  )
}

/** The form in which the API accepts a price. */
export const isPrice = (text: string): boolean => /^\d{1,7}(\.\d{1,12})?$/.test(text.trim())
