import { Button } from '@mantine/core'
import { column, type DataColumn } from '../../ui/data-table.tsx'

/** The last column, with a button that removes the row. `describe` names the row for screen readers. */
export function removeColumn<Row extends object>(props: {
  text: string
  describe: (row: Row) => string
  onRemove: (row: Row) => void
}): DataColumn<Row> {
  const { text, describe, onRemove } = props
  return column('actions', '', (row) => (
    <Button variant="subtle" size="compact-sm" color="red" aria-label={describe(row)} onClick={() => onRemove(row)}>
      {text}
    </Button>
  ))
}
