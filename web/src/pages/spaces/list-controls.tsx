import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SpaceListSearch } from './queries.ts'
import './texts.ts'

const states = ['all', 'published', 'unpublished'] as const

/** Search and filter of a list of Spaces. They are part of the address. */
export function ListControls(props: {
  search: SpaceListSearch
  onChange: (search: SpaceListSearch) => void
  children?: ReactNode
}) {
  const { search, onChange, children } = props
  const { t } = useTranslation('spaces')
  const [text, setText] = useState(search.search ?? '')
  const apply = (change: Partial<Record<'search' | 'state', string>>) => {
    const { search: name, state } = { ...search, ...change }
    onChange({
      ...(name ? { search: name } : {}),
      ...(state === 'published' || state === 'unpublished' ? { state } : {}),
    })
  }
  const applyLater = useDebouncedCallback((value: string) => apply({ search: value.trim() }), 250)
  return (
    <Group gap="sm">
      <TextInput
        aria-label={t('list.search')}
        placeholder={t('list.search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        maxLength={200}
        w={{ base: '100%', xs: 260 }}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          applyLater(currentTarget.value)
        }}
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
