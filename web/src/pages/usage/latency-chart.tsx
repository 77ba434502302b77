import '@mantine/charts/styles.css'
import '@mantine/core/styles/ColorSwatch.css'
import { LineChart } from '@mantine/charts'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { colourOf } from './colours.ts'

/** Percentiles by day. The two kinds differ in colour, p50 and p95 in the dashes of the line. */
export default function LatencyChart(props: { days: UsageReport['latency']['days']; height: number }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const data = props.days.map(({ day, requests, firstTokenMs, totalMs }) => ({
    day,
    requests,
    first50: firstTokenMs?.p50 ?? null,
    first95: firstTokenMs?.p95 ?? null,
    total50: totalMs?.p50 ?? null,
    total95: totalMs?.p95 ?? null,
  }))
  const series = [
    { name: 'total95', label: t('latency.total', { percentile: 'p95' }), color: colourOf(0), strokeDasharray: '6 4' },
    { name: 'total50', label: t('latency.total', { percentile: 'p50' }), color: colourOf(0) },
    { name: 'first95', label: t('latency.first', { percentile: 'p95' }), color: colourOf(3), strokeDasharray: '6 4' },
    { name: 'first50', label: t('latency.first', { percentile: 'p50' }), color: colourOf(3) },
  ] as const
  // Calls that were not streamed have no first text.
  const measured = series.filter(({ name }) => data.some((day) => day[name] !== null))
  return (
    <LineChart
      h={props.height}
      data={data}
      dataKey="day"
      series={[...measured]}
      curveType="linear"
      withLegend
      legendProps={{ verticalAlign: 'bottom' }}
      valueFormatter={(ms) => format.duration(ms)}
      gridAxis="x"
      connectNulls={false}
      dotProps={{ r: 2 }}
      xAxisProps={{ tickFormatter: (day: string) => format.day(day), minTickGap: 24 }}
      yAxisProps={{ width: 72 }}
      lineProps={{ isAnimationActive: false }}
      tooltipAnimationDuration={0}
      tooltipProps={{
        content: ({ label }) => {
          const day = data.find((row) => row.day === label)
          if (!day) return null
          const lines = measured.flatMap(({ name, label: text, color }) => {
            const value = day[name]
            return value === null ? [] : [{ name: text, value: format.duration(value), colour: color }]
          })
          return <ChartTooltip title={format.day(day.day)} lines={lines} />
        },
      }}
    />
  )
}
