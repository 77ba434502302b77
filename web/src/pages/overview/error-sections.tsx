import { Text } from '@mantine/core'
import type { InstallationUsage } from '@contract/installation-usage.ts'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { ErrorsChart } from '../usage/errors-chart.tsx'
import { LatencyChart } from '../usage/latency-chart.tsx'

export function ErrorSection({ report: { series, totals } }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  return (
    <Section title={t('errors.title')} description={t('errors.description')}>
      {totals.failed === 0 ? (
        <Text size="sm" c="dimmed">
          {t('errors.none')}
        </Text>
      ) : (
        <ErrorsChart
          label={t('errors.chartLabel')}
          days={series.days.map(({ day, requests, failed }) => ({ day, calls: requests, failed, refused: 0 }))}
          withRefused={false}
        />
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
        <LatencyChart label={t('latency.chartLabel')} days={latency.days} />
      )}
    </Section>
  )
}
