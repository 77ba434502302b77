import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Chart } from '../../ui/chart/chart.tsx'
import { colourOf } from '../../ui/chart/colours.ts'

interface Props {
  label: string
  days: UsageReport['errors']['days']
  /** False: refused calls are not counted here. */
  withRefused?: boolean
}

/** Failed and refused calls by day. */
export function ErrorsChart({ label, days, withRefused = true }: Props) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const failed = { label: t('errors.failed'), colour: colourOf(3), values: days.map((day) => day.failed) }
  const refused = { label: t('errors.refused'), colour: colourOf(1), values: days.map((day) => day.refused) }
  const rate = (day: Props['days'][number]) =>
    day.calls === 0 ? '–' : format.percent((day.failed + day.refused) / day.calls)
  return (
    <Chart
      label={label}
      kind="bars"
      height={180}
      series={withRefused ? [failed, refused] : [failed]}
      format={(calls) => format.number(calls)}
      placeLabel={(place) => format.day(days[place]!.day)}
      moreLines={(place) => [{ name: t('errors.rate'), value: rate(days[place]!) }]}
      wholeNumbers
    />
  )
}
