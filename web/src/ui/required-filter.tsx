import { Group, TextInput } from '@mantine/core'
import type { FilterValue, MetadataFilter } from '@contract/metadata-filter.ts'

/** The values of the fields that a Space requires in each filter, by field. */
export type RequiredValues = Readonly<Record<string, string>>

const maximumValue = 500

/** One input for each field that a Space requires; nothing where it requires none. */
export function RequiredFilterFields(props: {
  fields: readonly string[]
  values: RequiredValues
  onChange: (values: RequiredValues) => void
  /** Below each input. */
  hint: string
}) {
  const { fields, values, onChange, hint } = props
  if (fields.length === 0) return null
  return (
    <Group gap="sm" align="flex-start" mb="xs">
      {fields.map((field) => (
        <TextInput
          key={field}
          label={field}
          description={hint}
          value={values[field] ?? ''}
          onChange={({ currentTarget }) => onChange({ ...values, [field]: currentTarget.value })}
          maxLength={maximumValue}
          w={{ base: '100%', xs: 260 }}
          required
        />
      ))}
    </Group>
  )
}

export const isComplete = (fields: readonly string[], values: RequiredValues) =>
  fields.every((field) => (values[field] ?? '').trim() !== '')

/** Undefined where the Space requires no filter. A number or a boolean may be stored as such or as text. */
export function toRequiredFilter(fields: readonly string[], values: RequiredValues): MetadataFilter | undefined {
  if (fields.length === 0) return undefined
  return Object.fromEntries(fields.map((field) => [field, meaningsOf((values[field] ?? '').trim())]))
}

function meaningsOf(text: string): FilterValue[] {
  if (text === 'true' || text === 'false') return [text, text === 'true']
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? [text, Number(text)] : [text]
}

/** For the header `service-document-filter`, which a browser sends only with characters of Latin-1. */
export function toFilterHeader(filter: MetadataFilter): string {
  return JSON.stringify(filter).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
