import { Dimmed } from './dimmed.tsx'
import { Group, Table, UnstyledButton } from '@mantine/core'
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
import { ariaSort, SortButton, SortSelect } from './sort-button.tsx'
import { TableFrame } from './table-frame.tsx'

/** Mantine's classes on plain elements: most elements of a page are in its tables, and each component of Mantine takes time. */
const { classes } = Table

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
  const headers = table.getHeaderGroups().flatMap((group) => group.headers)
  const sortable = headers.filter(({ column }) => column.getCanSort())
  const sorted = sortable.find(({ column }) => column.getIsSorted())
  return (
    <div>
      {sortable.length > 0 && rows.length > 1 && (
        <SortSelect
          columns={sortable.map(({ id, column }) => ({ id, label: labelOf(column.columnDef) ?? '' }))}
          sorted={sorted && { id: sorted.id, direction: sorted.column.getIsSorted() || 'asc' }}
          onSort={(id, direction) => table.setSorting([{ id, desc: direction === 'desc' }])}
        />
      )}
      <TableFrame label={label} minimumWidth={minimumWidth} hasCards>
        <thead className={classes['thead']}>
          <tr className={classes['tr']} data-with-row-border>
            {headers.map((header) => (
              <th key={header.id} className={classes['th']} aria-sort={ariaSort(header.column.getIsSorted())}>
                {header.column.getCanSort() ? (
                  <SortButton sorted={header.column.getIsSorted()} onClick={header.column.getToggleSortingHandler()}>
                    {labelOf(header.column.columnDef)}
                  </SortButton>
                ) : (
                  labelOf(header.column.columnDef)
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className={classes['tbody']}>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className={classes['tr']} data-hover data-with-row-border>
              {row.getAllCells().map((cell) => {
                const { columnDef } = cell.column
                return (
                  <td key={cell.id} className={classes['td']} data-label={labelOf(columnDef)}>
                    {typeof columnDef.cell === 'function' && columnDef.cell(cell.getContext())}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </TableFrame>
    </div>
  )
}

/** The name of a column; undefined for one of actions, whose header is empty. */
function labelOf({ header }: { header?: unknown }): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined
}

/** `sortBy`: a key of the rows, or a value of each; absent: for a list that the server sorts, and for actions. */
export function column<Row extends object>(
  id: string,
  header: string,
  cell: (row: Row) => ReactNode,
  sortBy?: keyof NoInfer<Row> | ((row: NoInfer<Row>) => unknown),
): DataColumn<Row> {
  const shown = { id, header, cell: ({ row }: { row: { original: Row } }) => cell(row.original) }
  if (sortBy === undefined) return { ...shown, enableSorting: false }
  return { ...shown, accessorFn: typeof sortBy === 'function' ? sortBy : (row) => row[sortBy] }
}

/** A column that is sorted by its text. */
export function textColumn<Row extends object>(
  id: string,
  header: string,
  text: (row: Row) => string | number,
): DataColumn<Row> {
  return column(id, header, text, text)
}

interface PagedTableProps<Row extends object> extends DataTableProps<Row> {
  total: number
  /** Rows on one page. */
  limit: number
  offset: number
  onPage: (offset: number) => void
}

/** One page of a list that the server pages by offset, with the steps to the others. */
export function PagedTable<Row extends object>({ total, limit, offset, onPage, ...table }: PagedTableProps<Row>) {
  return (
    <>
      <DataTable {...table} />
      <PageSteps total={total} limit={limit} offset={offset} onChange={onPage} />
    </>
  )
}

/** Steps through the pages of a list that the server pages by offset. */
export function PageSteps(props: { total: number; limit: number; offset: number; onChange: (offset: number) => void }) {
  const { total, limit, offset, onChange } = props
  const { t } = useTranslation()
  if (total <= limit && offset === 0) return null
  return (
    <Group justify="flex-end" gap="sm">
      <Dimmed>{t('table.page', { from: offset + 1, to: Math.min(offset + limit, total), total })}</Dimmed>
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
