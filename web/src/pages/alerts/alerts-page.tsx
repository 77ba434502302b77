import { Button, Stack } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { ViewLinks } from '../../ui/view-links.tsx'
import { AlertList } from './alert-list.tsx'
import { alertsQuery } from './alert-queries.ts'
import { AlertSettings } from './alert-settings.tsx'
import { Deliveries } from './deliveries.tsx'
import { alertsRoute, alertViews } from './routes.tsx'

/** What is wrong, what was, the messages about it, and the settings. */
export function AlertsPage() {
  const { t } = useTranslation('alerts')
  const { view = 'open' } = alertsRoute.useSearch()
  return (
    <Page title={t('title')} description={t('description')}>
      <ViewLinks label={t('view.label')}>
        {alertViews.map((name) => (
          <Link
            key={name}
            to={alertsRoute.to}
            search={name === 'open' ? {} : { view: name }}
            // The link of the open alerts would be active in every view.
            activeOptions={{ exact: true }}
            aria-current={name === view ? 'page' : undefined}
          >
            {t(`view.${name}`)}
          </Link>
        ))}
      </ViewLinks>
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
