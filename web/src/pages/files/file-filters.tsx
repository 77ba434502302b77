import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentProgressPageBody } from '@contract/document-progress.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import { Select } from '../../ui/select.tsx'
import type { ListSearch } from './document-queries.ts'

const MetadataFilterField = lazyPart(() => import('./metadata-filter.tsx'), 'MetadataFilterField')

const statuses = ['processing', 'ready', 'failed'] as const

interface FileFiltersProps {
  search: ListSearch
  page: DocumentProgressPageBody
  onChange: (change: Partial<ListSearch>) => void
}

/** Search and filters, with the number of files behind each choice. They are in the address of the page. */
export function FileFilters({ search, page, onChange }: FileFiltersProps) {
  const { t } = useTranslation('files')
  const { t: reasonText } = useTranslation('failures')
  const format = useFormat()
  const withCount = (label: string, count: number) => t('filter.withCount', { label, n: format.number(count) })
  const [isAdding, setAdding] = useState(false)
  const hasMetadata = isAdding || search.metadata !== undefined
  const failures = Object.entries(page.failures) as [NonNullable<ListSearch['failure']>, number][]
  return (
    <Group gap="xs" align="flex-end">
      <SearchField
        label={t('filter.search')}
        value={search.search}
        onChange={(text) => onChange({ search: text.trim() || undefined })}
      />
      <Filter
        label={t('filter.status')}
        value={search.status}
        options={statuses.map((status) => ({
          value: status,
          label: withCount(t(`status.${status}`), page.counts[status]),
        }))}
        onChange={(status) => onChange({ status, ...(status === 'failed' ? {} : { failure: undefined }) })}
      />
      {(failures.length > 0 || search.failure !== undefined) && (
        <Filter
          label={t('filter.failure')}
          value={search.failure}
          options={failures.map(([code, count]) => ({
            value: code,
            label: withCount(reasonText(`failure.${code}`), count),
          }))}
          onChange={(failure) => onChange({ failure })}
        />
      )}
      <Filter
        label={t('filter.format')}
        value={search.format}
        options={Object.entries(page.formats).map(([name, count]) => ({
          value: name as NonNullable<ListSearch['format']>,
          label: withCount(name.toUpperCase(), count),
        }))}
        onChange={(chosen) => onChange({ format: chosen })}
      />
      {!hasMetadata && (
        <Button variant="subtle" onClick={() => setAdding(true)}>
          {t('filter.byMetadata')}
        </Button>
      )}
      <OnceOpened opened={hasMetadata}>
        <MetadataFilterField value={search.metadata} onChange={(metadata) => onChange({ metadata })} />
      </OnceOpened>
    </Group>
  )
}

function Filter<Value extends string>(props: {
  label: string
  value: Value | undefined
  options: { value: Value; label: string }[]
  onChange: (value: Value | undefined) => void
}) {
  const { label, value, options, onChange } = props
  const isListed = value === undefined || options.some((option) => option.value === value)
  return (
    <Select
      aria-label={label}
      placeholder={label}
      clearable
      w={{ base: 'calc(50% - 5px)', xs: 190 }}
      data={isListed ? options : [...options, { value, label: value }]}
      value={value ?? null}
      onChange={(chosen) => onChange((chosen as Value | null) ?? undefined)}
    />
  )
}
