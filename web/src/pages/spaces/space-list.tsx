import { Stack } from '@mantine/core'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { ListedSpaceView, SpaceListView } from '@contract/console-spaces.ts'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Time } from '../../ui/time.tsx'
import { ListControls } from './list-controls.tsx'
import { type SpaceListSearch, spacesPerPage } from './queries.ts'
import { DocumentCounts, ModelName, StateBadge } from './space-fields.tsx'

interface SpaceListProps {
  label: string
  columns: DataColumn<ListedSpaceView>[]
  minimumWidth: number
  page: SpaceListView
  search: SpaceListSearch
  onChange: (search: SpaceListSearch) => void
}

/** Spaces with their search, filter and pages. */
export function SpaceList({ label, columns, minimumWidth, page, search, onChange }: SpaceListProps) {
  const { t } = useTranslation('spaces')
  return (
    <Stack gap="md">
      <ListControls search={search} onChange={onChange} />
      <PagedTable
        label={label}
        columns={columns}
        rows={page.items}
        rowId={({ id }) => id}
        minimumWidth={minimumWidth}
        empty={<EmptyState title={t('list.noMatch')} text={t('list.noMatchText')} onClear={() => onChange({})} />}
        total={page.total}
        limit={spacesPerPage}
        offset={page.offset}
        onPage={(offset) => onChange({ ...search, offset })}
      />
    </Stack>
  )
}

/** The columns that both lists of Spaces have. */
export function useSpaceColumns() {
  const { t } = useTranslation('spaces')
  return useMemo(
    () => ({
      state: column<ListedSpaceView>('state', t('field.state'), ({ published }) => (
        <StateBadge published={published} />
      )),
      documents: column<ListedSpaceView>('documents', t('field.documents'), ({ documents }) => (
        <DocumentCounts documents={documents} />
      )),
      model: column<ListedSpaceView>('model', t('field.model'), (space) => (
        <ModelName model={space.model} available={space.modelAvailable} />
      )),
      changed: column<ListedSpaceView>('changed', t('field.changed'), ({ updatedAt }) => <Time value={updatedAt} />),
    }),
    [t],
  )
}
