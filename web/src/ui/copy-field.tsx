import { TextInput } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** A value to copy: an id, an address, a key. */
export function CopyField({ label, value, description }: { label: string; value: string; description?: string }) {
  return (
    <TextInput
      label={label}
      description={description}
      value={value}
      readOnly
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onFocus={(event) => event.currentTarget.select()}
      rightSection={<CopyButton value={value} />}
    />
  )
}
