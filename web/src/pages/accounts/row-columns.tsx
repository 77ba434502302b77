import { Button } from '@mantine/core'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Time } from '../../ui/time.tsx'

/** A column of moments. */
export function timeColumn<Key extends string, Row extends Record<Key, string>>(
  key: Key,
  header: string,
): DataColumn<Row> {
  return { id: key, header, accessorFn: (row) => row[key], cell: ({ row }) => <Time value={row.original[key]} /> }
}

/** The last column, with a button that removes the row. `describe` names the row for screen readers. */
export function removeColumn<Row extends object>(props: {
  text: string
  describe: (row: Row) => string
  onRemove: (row: Row) => void
}): DataColumn<Row> {
  const { text, describe, onRemove } = props
  return {
    id: 'actions',
    header: '',
    enableSorting: false,
    cell: ({ row }) => (
      <Button
        variant="subtle"
        size="compact-sm"
        color="red"
        aria-label={describe(row.original)}
        onClick={() => onRemove(row.original)}
      >
        {text}
      </Button>
    ),
  }
}
