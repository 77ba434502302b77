import { Box, SimpleGrid, Text } from '@mantine/core'
import type { InstallationUsage } from '@contract/installation-usage.ts'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Money } from '../usage/money.tsx'

const largestRatio = 10

/** The totals of the range, compared with the same number of days before, and the running month with its forecast. */
export function OverviewFigures({ report }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const format = useFormat()
  const { totals, previous, month, latency } = report
  const { forecast } = month
  const total = latency?.all.totalMs
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="lg">
      <Figure label={t('figures.spend')} before={Number(previous.billedUsd)} now={Number(totals.billedUsd)}>
        <Money usd={totals.billedUsd} />
      </Figure>
      <Figure
        label={t('figures.month')}
        note={
          forecast
            ? t('figures.forecast', {
                expected: format.money(forecast.expectedUsd),
                low: format.money(forecast.lowUsd),
                high: format.money(forecast.highUsd),
              })
            : t('figures.noForecast')
        }
      >
        <Money usd={month.spentUsd} />
      </Figure>
      <Figure label={t('figures.requests')} before={previous.requests} now={totals.requests}>
        {format.number(totals.requests)}
      </Figure>
      <Figure label={t('figures.failed')} note={t('figures.failedCalls', { count: totals.failed })}>
        {totals.requests === 0 ? '–' : format.percent(totals.failed / totals.requests)}
      </Figure>
      <Figure
        label={t('figures.latency')}
        note={total ? t('figures.median', { duration: format.duration(total.p50) }) : undefined}
      >
        {total ? format.duration(total.p95) : '–'}
      </Figure>
    </SimpleGrid>
  )
}

function Figure(props: {
  label: string
  before?: number
  now?: number
  note?: string | undefined
  children: ReactNode
}) {
  const { label, before = 0, now = 0, note, children } = props
  const { t } = useTranslation('overview')
  const format = useFormat()
  const ratio = before > 0 ? now / before : Infinity
  // A comparison with very little is of no use.
  const change = ratio <= largestRatio ? ratio - 1 : undefined
  const changed =
    change === undefined
      ? undefined
      : t('figures.before', { change: `${change < 0 ? '' : '+'}${format.percent(change)}` })
  return (
    <Box>
      <Dimmed>{label}</Dimmed>
      <Text fz="xl" fw={600}>
        {children}
      </Text>
      {(note ?? changed) && <Dimmed size="xs">{note ?? changed}</Dimmed>}
    </Box>
  )
}
