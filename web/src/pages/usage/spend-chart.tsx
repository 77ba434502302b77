import '@mantine/charts/styles.css'
import '@mantine/core/styles/ColorSwatch.css'
import { BarChart } from '@mantine/charts'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { colourOf, restColour } from './colours.ts'
import { useNames } from './names.ts'

export type Measure = 'billedUsd' | 'requests'

type Value = UsageReport['series']['values'][number]

interface Props {
  report: Pick<UsageReport, 'series' | 'split'>
  measure: Measure
  height: number
  /** The name of a value; without it, as the split of a usage report has it. */
  nameOf?: (value: Value) => string
}

/** Stacked bars by day. Values beyond the first ones are one grey part. */
export default function SpendChart({ report: { series, split }, measure, height, nameOf }: Props) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const names = useNames()
  const show = (value: number) => (measure === 'requests' ? format.number(value) : format.money(value))
  const parts = series.values.map((value, place) => ({
    key: `part${place}`,
    name: nameOf ? nameOf(value) : names.value(split, value),
    colour: colourOf(place),
  }))
  const data = series.days.map((day) => {
    const values = day.parts.map((part) => Number(part[measure]))
    const total = Number(day[measure])
    // Rounding of doubles can leave a tiny negative rest.
    const rest = Math.max(0, total - values.reduce((sum, value) => sum + value, 0))
    return {
      day: day.day,
      total,
      rest: rest > total * 1e-9 ? rest : 0,
      ...Object.fromEntries(values.map((value, place) => [`part${place}`, value])),
    }
  })
  const hasRest = data.some(({ rest }) => rest > 0)
  const all = hasRest ? [...parts, { key: 'rest', name: t('spend.rest'), colour: restColour }] : parts
  return (
    <BarChart
      h={height}
      data={data}
      dataKey="day"
      type="stacked"
      series={all.map(({ key, name, colour }) => ({ name: key, label: name, color: colour }))}
      valueFormatter={show}
      withLegend={all.length > 1}
      legendProps={{ verticalAlign: 'bottom' }}
      gridAxis="x"
      maxBarWidth={48}
      xAxisProps={{ tickFormatter: (day: string) => format.day(day), minTickGap: 24 }}
      yAxisProps={{ width: 72 }}
      barProps={{ isAnimationActive: false, stroke: 'var(--mantine-color-body)', strokeWidth: 0.5 }}
      tooltipAnimationDuration={0}
      tooltipProps={{
        content: ({ label }) => {
          const day = data.find((row) => row.day === label)
          if (!day) return null
          const values = day as unknown as Record<string, number>
          const lines = all
            .filter(({ key }) => values[key]! > 0)
            .map(({ key, name, colour }) => ({ name, value: show(values[key]!), colour }))
          return <ChartTooltip title={`${format.day(day.day)}: ${show(day.total)}`} lines={lines} />
        },
      }}
    />
  )
}
