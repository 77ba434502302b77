import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { colourOf, restColour } from '../../ui/chart/colours.ts'
import { useNames } from './names.ts'

export type Measure = 'billedUsd' | 'requests'

type Value = UsageReport['series']['values'][number]

interface Props {
  label: string
  report: Pick<UsageReport, 'series' | 'split'>
  measure: Measure
  /** The name of a value; without it, as the split of a usage report has it. */
  nameOf?: (value: Value) => string
}

/** Stacked bars by day. Values beyond the first ones are one grey part. */
export function SpendChart({ label, report: { series, split }, measure, nameOf }: Props) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const names = useNames()
  const show = (value: number) => (measure === 'requests' ? format.number(value) : format.money(value))
  const { days } = series
  const parts = series.values.map((value, place) => ({
    label: nameOf ? nameOf(value) : names.value(split, value),
    colour: colourOf(place),
    // A part without a value has no line in the tooltip.
    values: days.map((day) => Number(day.parts[place]?.[measure] ?? 0) || null),
  }))
  const rest = {
    label: t('spend.rest'),
    colour: restColour,
    values: days.map((day, at) => {
      const total = Number(day[measure])
      const rest = total - parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)
      // Rounding of doubles can leave a tiny rest.
      return rest > total * 1e-9 ? rest : null
    }),
  }
  const hasRest = rest.values.some((value) => value !== null)
  return (
    <Chart
      label={label}
      kind="bars"
      height={260}
      series={hasRest ? [...parts, rest] : parts}
      format={show}
      placeLabel={(place) => format.day(days[place]!.day)}
      placeTitle={(place) => `${format.day(days[place]!.day)}: ${show(Number(days[place]![measure]))}`}
      wholeNumbers={measure === 'requests'}
    />
  )
}
