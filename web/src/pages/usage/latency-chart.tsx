import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { colourOf } from '../../ui/chart/colours.ts'

type Days = UsageReport['latency']['days']

/** Percentiles by day. The two kinds differ in colour, p50 and p95 in the dashes of the line. */
export function LatencyChart({ label, days }: { label: string; days: Days }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const line = (kind: 'total' | 'first', percentile: 'p50' | 'p95') => ({
    label: t(`latency.${kind}`, { percentile }),
    colour: colourOf(kind === 'total' ? 0 : 3),
    isDashed: percentile === 'p95',
    values: days.map(({ firstTokenMs, totalMs }) => (kind === 'total' ? totalMs : firstTokenMs)?.[percentile] ?? null),
  })
  const lines = [line('total', 'p95'), line('total', 'p50'), line('first', 'p95'), line('first', 'p50')]
  return (
    <Chart
      label={label}
      kind="lines"
      height={210}
      // Calls that were not streamed have no first text.
      series={lines.filter(({ values }) => values.some((value) => value !== null))}
      format={(ms) => format.duration(ms)}
      placeLabel={(place) => format.day(days[place]!.day)}
    />
  )
}
