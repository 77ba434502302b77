import '@mantine/charts/styles.css'
import '@mantine/core/styles/ColorSwatch.css'
import { BarChart } from '@mantine/charts'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { colourOf } from './colours.ts'

interface Props {
  days: UsageReport['errors']['days']
  height: number
  /** False: refused calls are not counted here. */
  withRefused?: boolean
}

/** Failed and refused calls by day. */
export default function ErrorsChart({ days, height, withRefused = true }: Props) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const failed = { name: 'failed', label: t('errors.failed'), color: colourOf(3) } as const
  const refused = { name: 'refused', label: t('errors.refused'), color: colourOf(1) } as const
  const series = withRefused ? [failed, refused] : [failed]
  return (
    <BarChart
      h={height}
      data={days}
      dataKey="day"
      type="stacked"
      series={[...series]}
      withLegend
      legendProps={{ verticalAlign: 'bottom' }}
      gridAxis="x"
      maxBarWidth={48}
      xAxisProps={{ tickFormatter: (day: string) => format.day(day), minTickGap: 24 }}
      yAxisProps={{ width: 72, allowDecimals: false }}
      barProps={{ isAnimationActive: false }}
      tooltipAnimationDuration={0}
      tooltipProps={{
        content: ({ label }) => {
          const day = days.find((row) => row.day === label)
          if (!day) return null
          const lines = series.map(({ name, label: text, color }) => ({
            name: text,
            value: format.number(day[name]),
            colour: color as string | undefined,
          }))
          const rate = day.calls === 0 ? '–' : format.percent((day.failed + day.refused) / day.calls)
          return (
            <ChartTooltip
              title={format.day(day.day)}
              lines={[...lines, { name: t('errors.rate'), value: rate, colour: undefined }]}
            />
          )
        },
      }}
    />
  )
}
