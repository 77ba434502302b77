import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn } from '../../ui/data-table.tsx'
import { Hint } from '../../ui/hint.tsx'

/** An amount with sensible digits, and every digit in the tooltip. */
export function Money({ usd }: { usd: string }) {
  const format = useFormat()
  return (
    <Hint label={() => format.money(usd, { exact: true })}>
      <span>{format.money(usd)}</span>
    </Hint>
  )
}

/** A column of what the calls of a row cost. */
export function moneyColumn<Row extends { billedUsd: string }>(header: string): DataColumn<Row> {
  return column(
    'billedUsd',
    header,
    ({ billedUsd }) => <Money usd={billedUsd} />,
    ({ billedUsd }) => Number(billedUsd),
  )
}
