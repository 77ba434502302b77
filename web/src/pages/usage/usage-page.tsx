import { Alert, SegmentedControl } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { withTexts } from '../../i18n/translations.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { LoadingStack } from '../../ui/loading-stack.tsx'
import { Page } from '../../ui/page.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { BudgetSection } from './budget-section.tsx'
import { ErrorsSection } from './errors-section.tsx'
import { Filters } from './filters.tsx'
import { Figures } from './figures.tsx'
import { InsightsSection } from './insights-section.tsx'
import { LatencySection } from './latency-section.tsx'
import { RequestsView } from './requests-view.tsx'
import { SpendSection } from './spend-section.tsx'
import { TagSetting } from './tag-setting.tsx'
import { reportQuery } from './usage-query.ts'
import { useUsage } from './use-usage.ts'
import { ButtonLink } from '../../ui/link.tsx'

const BudgetAlerts = lazyPart(() => withTexts('alerts', import('../alerts/budget-alerts.tsx')), 'BudgetAlerts')

export function UsagePage() {
  const { t } = useTranslation('usage')
  const { search, change } = useUsage()
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <SegmentedControl
          aria-label={t('view.label')}
          value={search.view ?? 'report'}
          onChange={(view) => change({ view: view === 'requests' ? 'requests' : undefined, ending: undefined })}
          data={[
            { value: 'report', label: t('view.report') },
            { value: 'requests', label: t('view.requests') },
          ]}
        />
      }
    >
      <LoadingStack>{search.view === 'requests' ? <RequestsView /> : <ReportView />}</LoadingStack>
    </Page>
  )
}

function ReportView() {
  const { t } = useTranslation('usage')
  const { organisationId, search } = useUsage()
  const { data: report } = useSuspenseQuery(reportQuery(organisationId, search))
  const isEmpty = report.totals.requests === 0 && report.errors.codes.length === 0
  return (
    <>
      {!report.complete && (
        <Alert icon={<IconInfoCircle aria-hidden />} color="blue">
          {t('incomplete')}
        </Alert>
      )}
      {report.alerts.length > 0 && (
        <Suspense>
          <BudgetAlerts items={report.alerts} />
        </Suspense>
      )}
      {report.budget && <BudgetSection report={report} budget={report.budget} />}
      <Filters options={report.options} from={report.from} to={report.to} />
      {isEmpty ? (
        <EmptyState
          title={t('empty.title')}
          text={t('empty.text')}
          action={
            <ButtonLink to="/organisations/$organisationId/playground" params={{ organisationId }} variant="light">
              {t('empty.action')}
            </ButtonLink>
          }
        />
      ) : (
        <>
          <Figures report={report} />
          <SpendSection report={report} />
          <LatencySection latency={report.latency} />
          <ErrorsSection report={report} />
          <InsightsSection report={report} />
        </>
      )}
      {report.settingsVersion !== null && (
        <TagSetting recordsTags={report.recordsTags} version={report.settingsVersion} />
      )}
    </>
  )
}
