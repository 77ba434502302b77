import { Alert, Button, SimpleGrid } from '@mantine/core'
import { IconDownload, IconInfoCircle } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { LoadingStack } from '../../ui/loading-stack.tsx'
import { Page } from '../../ui/page.tsx'
import { OpenAlerts } from '../alerts/open-alerts.tsx'
import { DaySection } from './day-section.tsx'
import { ErrorSection, LatencySection } from './error-sections.tsx'
import { FailingSection } from './failing-section.tsx'
import { OverviewFigures } from './overview-figures.tsx'
import { OverviewFilters } from './overview-filters.tsx'
import { exportUrl, overviewQuery } from './overview-query.ts'
import { OperatorSteps } from './operator-steps.tsx'
import { SpendSection } from './spend-section.tsx'
import { useOverview } from './use-overview.ts'

/** The home page of operators: who spent what, and what is failing. */
export function OverviewPage() {
  const { t } = useTranslation('overview')
  const { search, clear } = useOverview()
  const { data: report } = useSuspenseQuery(overviewQuery(search))
  const isFiltered = Object.keys(search).some((name) => name !== 'split')
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <Button
          component="a"
          variant="default"
          href={exportUrl(search)}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('export')}
        </Button>
      }
    >
      <LoadingStack>
        {report.totals.requests === 0 && !isFiltered && <OperatorSteps />}
        {!report.complete && (
          <Alert icon={<IconInfoCircle aria-hidden />} color="blue">
            {t('incomplete')}
          </Alert>
        )}
        <OverviewFigures report={report} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing={40}>
          <FailingSection />
          <OpenAlerts />
        </SimpleGrid>
        <OverviewFilters report={report} />
        {report.totals.requests === 0 ? (
          <EmptyState
            title={t('empty.title')}
            text={t(isFiltered ? 'empty.filtered' : 'empty.text')}
            onClear={isFiltered ? clear : undefined}
            action={
              <AnchorLink to="/operator/organisations">{t('navigation.organisations', { ns: 'common' })}</AnchorLink>
            }
          />
        ) : (
          <>
            <SpendSection report={report} />
            {search.organisationId !== undefined && <DaySection report={report} />}
            <ErrorSection report={report} />
            <LatencySection report={report} />
          </>
        )}
      </LoadingStack>
    </Page>
  )
}
