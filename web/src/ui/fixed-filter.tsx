import type { MetadataFilter } from '@contract/metadata-filter.ts'
import { useState } from 'react'
import { isComplete, RequiredFilterFields, type RequiredValues, toRequiredFilter } from './required-filter.tsx'

interface FixedFilterProps {
  /** Fields that the Space requires in each filter. */
  fields: readonly string[]
  filter: MetadataFilter | null
  onChange: (filter: MetadataFilter | null) => void
  hint: string
}

/** A filter that is stored with settings, with the values of the required fields; nothing where the Space requires none. */
export function FixedFilterFields({ fields, filter, onChange, hint }: FixedFilterProps) {
  const [values, setValues] = useState<RequiredValues>(() => valuesOf(fields, filter))
  return (
    <RequiredFilterFields
      fields={fields}
      values={values}
      hint={hint}
      onChange={(changed) => {
        setValues(changed)
        onChange((isComplete(fields, changed) && toRequiredFilter(fields, changed)) || null)
      }}
    />
  )
}

function valuesOf(fields: readonly string[], filter: MetadataFilter | null): RequiredValues {
  const given = fields.flatMap((field) => {
    const [value] = [filter?.[field]].flat()
    return value === undefined || typeof value === 'object' ? [] : [[field, String(value)] as const]
  })
  return Object.fromEntries(given)
}
