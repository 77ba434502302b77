import { Button, SegmentedControl, Stack } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { AlertList } from './alert-list.tsx'
import { alertsQuery } from './alert-queries.ts'
import { AlertSettings } from './alert-settings.tsx'
import { Deliveries } from './deliveries.tsx'
import { type AlertView, alertsRoute, alertViews } from './routes.tsx'

/** What is wrong, what was, the messages about it, and the settings. */
export function AlertsPage() {
  const { t } = useTranslation('alerts')
  const { view = 'open' } = alertsRoute.useSearch()
  const navigate = alertsRoute.useNavigate()
  return (
    <Page title={t('title')} description={t('description')}>
      <SegmentedControl
        aria-label={t('view.label')}
        value={view}
        onChange={(next) => void navigate({ search: next === 'open' ? {} : { view: next as AlertView } })}
        data={alertViews.map((value) => ({ value, label: t(`view.${value}`) }))}
        maw="100%"
        style={{ alignSelf: 'flex-start', overflowX: 'auto' }}
      />
      {view === 'settings' ? (
        <AlertSettings />
      ) : view === 'messages' ? (
        <Deliveries />
      ) : (
        <Alerts key={view} state={view} />
      )}
    </Page>
  )
}

function Alerts({ state }: { state: 'open' | 'resolved' }) {
  const { t } = useTranslation('alerts')
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = useSuspenseInfiniteQuery(alertsQuery(state))
  const items = data.pages.flatMap((page) => page.items)
  if (items.length === 0) return <EmptyState title={t(`empty.${state}`)} text={t(`empty.${state}Text`)} />
  return (
    <Stack>
      <AlertList items={items} linked />
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetchingNextPage} w="fit-content">
          {t('more')}
        </Button>
      )}
    </Stack>
  )
}
