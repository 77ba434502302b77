import { NativeSelect } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { plainButton } from './plain-classes.ts'
import styles from './table-frame.module.css'

export type Sorted = false | 'asc' | 'desc'

/** The value of `aria-sort` of a column's header. */
export function ariaSort(sorted: Sorted) {
  return sorted === false ? undefined : sorted === 'asc' ? ('ascending' as const) : ('descending' as const)
}

/** The header of a column that can be sorted. */
export function SortButton(props: {
  sorted: Sorted
  onClick: ((event: unknown) => void) | undefined
  children: ReactNode
}) {
  const { sorted, onClick, children } = props
  const Icon = sorted === 'asc' ? IconArrowUp : IconArrowDown
  return (
    <button type="button" className={`${plainButton} ${styles['sorter']}`} onClick={onClick}>
      {children}
      {sorted && <Icon size={14} aria-hidden />}
    </button>
  )
}

interface SortSelectProps {
  columns: { id: string; label: string }[]
  sorted: { id: string; direction: 'asc' | 'desc' } | undefined
  onSort: (id: string, direction: 'asc' | 'desc') => void
}

/** Sorts a table whose rows are cards: they have no header. Visible in narrow windows only. */
export function SortSelect({ columns, sorted, onSort }: SortSelectProps) {
  const { t } = useTranslation()
  const isNarrow = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  if (!isNarrow) return null
  const data = columns.flatMap(({ id, label }) => [
    { value: `asc ${id}`, label: `${label} ↑` },
    { value: `desc ${id}`, label: `${label} ↓` },
  ])
  return (
    <NativeSelect
      aria-label={t('table.sort')}
      mb="xs"
      value={sorted ? `${sorted.direction} ${sorted.id}` : ''}
      data={[...(sorted ? [] : [{ value: '', label: t('table.sort') }]), ...data]}
      onChange={(event) => {
        const [direction, id] = event.currentTarget.value.split(' ', 2)
        if (id !== undefined) onSort(id, direction === 'asc' ? 'asc' : 'desc')
      }}
    />
  )
}
