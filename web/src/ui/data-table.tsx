import { Group, Table, Text, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns })

export type DataColumn<Row extends object> = ColumnDef<typeof features, Row>

export interface DataTableProps<Row extends object> {
  /** Names the table for screen readers. */
  label: string
  /** Keep the array stable: at module level or in useMemo. */
  columns: DataColumn<Row>[]
  rows: Row[]
  rowId: (row: Row) => string
  /** Shown instead of rows. */
  empty?: ReactNode
  /** The width below which the table scrolls sideways inside its frame, in pixels. */
  minimumWidth?: number
}

/** A table of rows that are all in memory, sortable by each column. Pages of a long list are made by the server. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, empty, minimumWidth = 640 } = props
  const table = useTable({ features, columns, data: rows, getRowId: rowId })
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <Table.ScrollContainer
      minWidth={minimumWidth}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': label, role: 'region' } }}
    >
      <Table aria-label={label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {group.headers.map((header) => (
                <Table.Th key={header.id} aria-sort={ariaSort(header.column.getIsSorted())}>
                  {header.column.getCanSort() ? (
                    <SortButton sorted={header.column.getIsSorted()} onClick={header.column.getToggleSortingHandler()}>
                      <table.FlexRender header={header} />
                    </SortButton>
                  ) : (
                    <table.FlexRender header={header} />
                  )}
                </Table.Th>
              ))}
            </Table.Tr>
          ))}
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map((row) => (
            <Table.Tr key={row.id}>
              {row.getAllCells().map((cell) => (
                <Table.Td key={cell.id}>
                  <table.FlexRender cell={cell} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

type Sorted = false | 'asc' | 'desc'

function ariaSort(sorted: Sorted) {
  return sorted === false ? undefined : sorted === 'asc' ? ('ascending' as const) : ('descending' as const)
}

function SortButton(props: { sorted: Sorted; onClick: ((event: unknown) => void) | undefined; children: ReactNode }) {
  const { sorted, onClick, children } = props
  const Icon = sorted === 'asc' ? IconArrowUp : IconArrowDown
  return (
    <UnstyledButton onClick={onClick}>
      <Group gap={4} wrap="nowrap">
        <Text span fw={600} size="sm">
          {children}
        </Text>
        <Icon size={14} aria-hidden opacity={sorted === false ? 0 : 1} />
      </Group>
    </UnstyledButton>
  )
}

/** Steps through the pages of a list that the server pages by offset. */
export function PageSteps(props: { total: number; limit: number; offset: number; onChange: (offset: number) => void }) {
  const { total, limit, offset, onChange } = props
  const { t } = useTranslation()
  if (total <= limit && offset === 0) return null
  return (
    <Group justify="flex-end" gap="sm">
      <Text size="sm" c="dimmed">
        {t('table.page', { from: offset + 1, to: Math.min(offset + limit, total), total })}
      </Text>
      <StepButton
        label={t('table.previous')}
        disabled={offset === 0}
        onClick={() => onChange(Math.max(0, offset - limit))}
      />
      <StepButton label={t('table.next')} disabled={offset + limit >= total} onClick={() => onChange(offset + limit)} />
    </Group>
  )
}

function StepButton({ label, disabled, onClick }: { label: string; disabled: boolean; onClick: () => void }) {
  return (
    <UnstyledButton onClick={onClick} disabled={disabled} c={disabled ? 'dimmed' : undefined} fz="sm" fw={500}>
      {label}
    </UnstyledButton>
  )
}
