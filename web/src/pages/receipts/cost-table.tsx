import type { ReceiptBody } from '@contract/usage.ts'
import { Table } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'

/** The arithmetic of the cost, line by line: tokens times price, uses of tools, markup, rounding. */
export function CostTable({ receipt }: { receipt: ReceiptBody }) {
  const { t } = useTranslation('receipts')
  const format = useFormat()
  const money = (usd: string) => format.money(usd, { exact: true })
  const { computation, billedUsd, writtenOffUsd } = receipt
  const markup = format.percent(Number(receipt.markupPercent) / 100)
  const isWrittenOff = Number(writtenOffUsd) > 0
  return (
    <Table.ScrollContainer minWidth={320} type="native" tabIndex={0} role="region" aria-label={t('cost')}>
      <Table aria-label={t('cost')} maw={900} verticalSpacing="xs" horizontalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('line')}</Table.Th>
            <Table.Th ta="right">{t('tokens')}</Table.Th>
            <Table.Th ta="right">{t('unitPrice')}</Table.Th>
            <Table.Th ta="right">{t('amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {computation?.lines.map((line) => (
            <Table.Tr key={line.tokenClass}>
              <Table.Td>{t(`classes.${line.tokenClass}`)}</Table.Td>
              <Table.Td ta="right">{format.number(line.tokens)}</Table.Td>
              <Table.Td ta="right">{money(perMillion(line.unitPriceUsd))}</Table.Td>
              <Table.Td ta="right">{money(line.costUsd)}</Table.Td>
            </Table.Tr>
          ))}
          {receipt.toolUses.map(({ kind, uses, unitPriceUsd, costUsd }) => (
            <Table.Tr key={kind}>
              <Table.Td>{t(`tools.${kind}`)}</Table.Td>
              <Table.Td ta="right">{t('uses', { count: uses, uses: format.number(uses) })}</Table.Td>
              <Table.Td ta="right">{t('perUse', { price: money(unitPriceUsd) })}</Table.Td>
              <Table.Td ta="right">{money(costUsd)}</Table.Td>
            </Table.Tr>
          ))}
          <SumRow name={t('baseCost')} amount={money(computation?.baseCostUsd ?? receipt.baseCostUsd)} />
          {computation && (
            <>
              <SumRow name={t('markup', { markup })} amount={money(computation.markupUsd)} />
              <SumRow name={t('exactTotal')} amount={money(computation.totalUsd)} />
            </>
          )}
          {!computation && <SumRow name={t('markup', { markup })} amount="" />}
          {isWrittenOff && <SumRow name={t('writtenOff')} amount={money(writtenOffUsd)} />}
        </Table.Tbody>
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th colSpan={3}>
              {t('billed')}
              <Dimmed fw={400} size="xs">
                {t('rounding')}
              </Dimmed>
            </Table.Th>
            <Table.Th ta="right">{money(billedUsd)}</Table.Th>
          </Table.Tr>
        </Table.Tfoot>
      </Table>
    </Table.ScrollContainer>
  )
}

function SumRow({ name, amount }: { name: string; amount: string }) {
  return (
    <Table.Tr>
      <Table.Td colSpan={3} c="dimmed">
        {name}
      </Table.Td>
      <Table.Td ta="right">{amount}</Table.Td>
    </Table.Tr>
  )
}

/** A decimal times 1,000,000, without rounding. */
function perMillion(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const shifted = fraction.padEnd(6, '0')
  const digits = `${whole}${shifted.slice(0, 6)}`.replace(/^0+(?=\d)/, '')
  const rest = shifted.slice(6)
  return rest === '' ? digits : `${digits}.${rest}`
}
