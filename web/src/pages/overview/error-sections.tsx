import { Text } from '@mantine/core'
import type { InstallationUsage } from '@contract/installation-usage.ts'
import { lazy } from 'react'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { ChartFrame } from '../usage/chart-frame.tsx'

const ErrorsChart = lazy(() => import('../usage/errors-chart.tsx'))
const LatencyChart = lazy(() => import('../usage/latency-chart.tsx'))
const height = 220

export function ErrorSection({ report: { series, totals } }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  return (
    <Section title={t('errors.title')} description={t('errors.description')}>
      {totals.failed === 0 ? (
        <Text size="sm" c="dimmed">
          {t('errors.none')}
        </Text>
      ) : (
        <ChartFrame label={t('errors.chartLabel')} height={height}>
          <ErrorsChart
            days={series.days.map(({ day, requests, failed }) => ({ day, calls: requests, failed, refused: 0 }))}
            height={height}
            withRefused={false}
          />
        </ChartFrame>
      )}
    </Section>
  )
}

export function LatencySection({ report: { latency } }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const isEmpty = latency === null || latency.all.requests === 0
  return (
    <Section title={t('latency.title')} description={t('latency.description')}>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {t(latency === null ? 'latency.unknown' : 'latency.none')}
        </Text>
      ) : (
        <ChartFrame label={t('latency.chartLabel')} height={height}>
          <LatencyChart days={latency.days} height={height} />
        </ChartFrame>
      )}
    </Section>
  )
}
