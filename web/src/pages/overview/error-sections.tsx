import type { InstallationUsage } from '@contract/installation-usage.ts'
import { useTranslation } from 'react-i18next'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorsChart } from '../usage/errors-chart.tsx'
import { LatencyChart } from '../usage/latency-chart.tsx'

export function ErrorSection({ report: { series, totals } }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  return (
    <Section title={t('errors.title')} description={t('errors.description')}>
      {totals.failed === 0 ? (
        <Dimmed>{t('errors.none')}</Dimmed>
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
        <Dimmed>{t(latency === null ? 'latency.unknown' : 'latency.none')}</Dimmed>
      ) : (
        <LatencyChart label={t('latency.chartLabel')} days={latency.days} />
      )}
    </Section>
  )
}
