import { useTranslation } from 'react-i18next'
import type { GoldenRunBody } from '@contract/golden-runs.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { colourOf } from '../../ui/chart/colours.ts'
import { shownMeasures } from './run-table.tsx'

/** The measures of runs, the oldest first. The table below has the same figures. */
export function MeasuresChart({ label, runs }: { label: string; runs: GoldenRunBody[] }) {
  const { t } = useTranslation('golden-questions')
  const format = useFormat()
  return (
    <Chart
      label={label}
      kind="lines"
      height={230}
      series={shownMeasures.map((name, place) => ({
        label: t(`measure.${name}`),
        colour: colourOf(place),
        isDashed: place > 0,
        values: runs.map(({ measures }) => measures?.[name] ?? null),
      }))}
      format={(share) => format.percent(share)}
      placeLabel={(place) => format.date(runs[place]!.createdAt)}
      placeTitle={(place) => format.dateTime(runs[place]!.createdAt)}
      maximum={1}
    />
  )
}
