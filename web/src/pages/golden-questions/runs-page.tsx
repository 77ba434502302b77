import { Button, Stack } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'
import { GoldenFrame } from './golden-frame.tsx'
import { MeasuresChart } from './measures-chart.tsx'
import { RegressionNotice } from './regression-notice.tsx'
import { RunProgress } from './run-progress.tsx'
import { isActive, runsQuery } from './run-queries.ts'
import { RunTable } from './run-table.tsx'
import { runsRoute } from './routes.tsx'
import { useStartRun } from './use-runs.ts'

/** Start a run, follow it, and compare the measures of the runs. */
export function RunsPage() {
  const { t } = useTranslation('golden-questions')
  const { organisationId, spaceId } = runsRoute.useParams()
  const { data } = useSuspenseQuery(runsQuery(spaceId))
  const start = useStartRun(spaceId)
  const active = data.items.find(isActive)
  const measured = data.items.filter(({ measures }) => measures !== null)
  const run = (
    <Button
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      loading={start.isPending}
      disabled={active !== undefined}
      onClick={() => start.mutate()}
    >
      {t('runs.start')}
    </Button>
  )
  return (
    <GoldenFrame actions={data.total > 0 && run}>
      <RegressionNotice regression={data.regression} />
      {active && <RunProgress run={active} />}
      {data.total === 0 ? (
        <EmptyState title={t('runs.empty')} text={t('runs.emptyText')} action={run} />
      ) : (
        <Stack gap="xl">
          {measured.length > 1 && (
            <Section title={t('runs.chart')} description={t('runs.chartText')}>
              <MeasuresChart label={t('runs.chart')} runs={measured.toReversed()} />
            </Section>
          )}
          <Section title={t('runs.history')}>
            <RunTable organisationId={organisationId} spaceId={spaceId} runs={data.items} />
          </Section>
        </Stack>
      )}
    </GoldenFrame>
  )
}
