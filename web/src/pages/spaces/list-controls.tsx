import { Group, SegmentedControl } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { SearchField } from '../../ui/list-controls.tsx'
import type { SpaceListSearch } from './queries.ts'

const states = ['all', 'published', 'unpublished'] as const

/** Search and filter of a list of Spaces. They are part of the address. */
export function ListControls(props: {
  search: SpaceListSearch
  onChange: (search: SpaceListSearch) => void
  children?: ReactNode
}) {
  const { search, onChange, children } = props
  const { t } = useTranslation('spaces')
  const apply = (change: Partial<Record<'search' | 'state', string>>) => {
    const { search: name, state } = { ...search, ...change }
    onChange({
      ...(name ? { search: name } : {}),
      ...(state === 'published' || state === 'unpublished' ? { state } : {}),
    })
  }
  return (
    <Group gap="sm">
      <SearchField
        label={t('list.search')}
        value={search.search}
        onChange={(value) => apply({ search: value.trim() })}
      />
      <SegmentedControl
        aria-label={t('list.filter')}
        size="xs"
        value={search.state ?? 'all'}
        onChange={(state) => apply({ state })}
        data={states.map((value) => ({ value, label: t(`state.${value}`) }))}
      />
      {children}
    </Group>
  )
}
