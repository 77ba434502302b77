import type { UsageReport } from '@contract/usage-reports.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
import { Section } from '../../ui/section.tsx'
import { LatencyChart } from './latency-chart.tsx'

type Latency = UsageReport['latency']
type Row = Latency['models'][number]

/** Time to the first text and to the end, by day and by model. */
export function LatencySection({ latency }: { latency: Latency }) {
  const { t } = useTranslation('usage')
  const columns = useColumns()
  if (latency.models.length === 0) return null
  return (
    <Section title={t('latency.title')} description={t('latency.description')}>
      <LatencyChart label={t('latency.chartLabel')} days={latency.days} />
      <DataTable
        label={t('latency.tableLabel')}
        columns={columns}
        rows={latency.models}
        rowId={({ model }) => model}
        minimumWidth={640}
      />
    </Section>
  )
}

function useColumns(): DataColumn<Row>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(() => {
    const duration = (id: string, header: string, of: (row: Row) => number | undefined) =>
      column<Row>(
        id,
        header,
        (row) => {
          const ms = of(row)
          return ms === undefined ? '–' : format.duration(ms)
        },
        // Rows without a measurement sort as the fastest.
        (row) => of(row) ?? -1,
      )
    return [
      textColumn('model', t('split.model'), ({ model }) => model),
      column('requests', t('latency.completed'), ({ requests }) => format.number(requests), 'requests'),
      duration('first50', t('latency.first', { percentile: 'p50' }), ({ firstTokenMs }) => firstTokenMs?.p50),
      duration('first95', t('latency.first', { percentile: 'p95' }), ({ firstTokenMs }) => firstTokenMs?.p95),
      duration('total50', t('latency.total', { percentile: 'p50' }), ({ totalMs }) => totalMs?.p50),
      duration('total95', t('latency.total', { percentile: 'p95' }), ({ totalMs }) => totalMs?.p95),
    ]
  }, [t, format])
}
