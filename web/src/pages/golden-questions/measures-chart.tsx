import '@mantine/charts/styles.css'
import '@mantine/core/styles/ColorSwatch.css'
import { LineChart } from '@mantine/charts'
import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { ChartTooltip } from '../usage/chart-tooltip.tsx'
import { colourOf } from '../usage/colours.ts'
import { shownMeasures } from './run-table.tsx'

/** The measures of runs, the oldest first. The table below has the same figures. */
export default function MeasuresChart({ runs, height }: { runs: GoldenRunBody[]; height: number }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  const data = runs.map(({ createdAt, measures }) => ({
    createdAt,
    ...Object.fromEntries(shownMeasures.map((name) => [name, measures?.[name] ?? null])),
  }))
  const series = shownMeasures.map((name, place) => ({
    name,
    label: t(`measure.${name}`),
    color: colourOf(place),
    ...(place > 0 && { strokeDasharray: '6 4' }),
  }))
  return (
    <LineChart
      h={height}
      data={data}
      dataKey="createdAt"
      series={series}
      curveType="linear"
      withLegend
      legendProps={{ verticalAlign: 'bottom' }}
      valueFormatter={(share) => format.percent(share)}
      gridAxis="x"
      connectNulls={false}
      dotProps={{ r: 3 }}
      xAxisProps={{ tickFormatter: (time: string) => format.date(time), minTickGap: 24 }}
      yAxisProps={{ width: 56, domain: [0, 1] }}
      lineProps={{ isAnimationActive: false }}
      tooltipAnimationDuration={0}
      tooltipProps={{
        content: ({ label }) => {
          const run = runs.find(({ createdAt }) => createdAt === label)
          if (!run) return null
          const lines = series.flatMap(({ name, label: text, color }) => {
            const value = run.measures?.[name]
            return value === undefined || value === null
              ? []
              : [{ name: text, value: format.percent(value), colour: color }]
          })
          return <ChartTooltip title={format.dateTime(run.createdAt)} lines={lines} />
        },
      }}
    />
  )
}
