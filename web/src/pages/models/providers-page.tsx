import type { ProviderView } from '@contract/console-models.ts'
import { Anchor, Button, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { column, type DataColumn, PagedTable, textColumn } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import { SourceBadge } from './badges.tsx'
import { pageSizes, providersQuery } from './routes.tsx'
import { Tag } from './tag.tsx'

const AddProviderDrawer = lazyPart(
  () => import('./add-provider.tsx').then(({ AddProviderDrawer: Drawer }) => ({ AddProviderDrawer: Drawer })),
  'AddProviderDrawer',
)

const ProviderFormDrawer = lazyPart(
  () => import('./add-provider.tsx').then(({ ProviderFormDrawer: Drawer }) => ({ ProviderFormDrawer: Drawer })),
  'ProviderFormDrawer',
)

const ProviderDrawer = lazyPart(() => import('./provider-drawer.tsx'), 'ProviderDrawer')

const route = getRouteApi('/shell/operator/providers')

/** What the drawer of the form edits: a provider, a new one, or nothing. */
type Edited = ProviderView | 'new' | undefined

export function ProvidersPage() {
  const { t } = useTranslation('models')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data } = useSuspenseQuery(providersQuery(search))
  const [edited, setEdited] = useState<Edited>()
  const [isAdding, setAdding] = useState(false)
  const open = (id: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, open: id }), replace: true, resetScroll: false })
  const columns = useColumns(open)
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      {t('providers.add')}
    </Button>
  )
  return (
    <Page title={t('providers.title')} description={t('providers.description')} actions={add}>
      <SearchField
        label={t('providers.search')}
        value={search.search}
        onChange={(text) => void navigate({ search: { search: text }, replace: true })}
      />
      <PagedTable
        label={t('providers.title')}
        columns={columns}
        rows={data.items}
        rowId={({ id }) => id}
        minimumWidth={900}
        empty={
          <EmptyState
            title={t('providers.none')}
            text={t('providers.noneText')}
            onClear={search.search ? () => void navigate({ search: {}, replace: true }) : undefined}
            action={add}
          />
        }
        total={data.total}
        limit={pageSizes.providers}
        offset={search.offset ?? 0}
        onPage={(offset) => void navigate({ search: (before) => ({ ...before, offset }) })}
      />
      <OnceOpened opened={search.open !== undefined}>
        <ProviderDrawer
          provider={data.items.find(({ id }) => id === search.open)}
          onClose={() => open(undefined)}
          onEdit={setEdited}
        />
      </OnceOpened>
      <OnceOpened opened={isAdding}>
        <AddProviderDrawer
          opened={isAdding}
          taken={new Set(data.items.map(({ id }) => id))}
          onClose={() => setAdding(false)}
          onAdded={(id) => {
            setAdding(false)
            open(id)
          }}
          onOther={() => {
            setAdding(false)
            setEdited('new')
          }}
        />
      </OnceOpened>
      <OnceOpened opened={edited !== undefined}>
        <ProviderFormDrawer
          opened={edited !== undefined}
          provider={edited === 'new' ? undefined : (data.items.find(({ id }) => id === edited?.id) ?? edited)}
          onClose={() => setEdited(undefined)}
          onSaved={(id) => {
            setEdited(undefined)
            open(id)
          }}
        />
      </OnceOpened>
    </Page>
  )
}

function useColumns(open: (id: string) => void): DataColumn<ProviderView>[] {
  const { t } = useTranslation('models')
  // The columns are rebuilt with the language only; `open` always does the same.
  return useMemo(
    () => [
      column(
        'id',
        t('providers.provider'),
        (provider) => <ProviderCell provider={provider} onOpen={() => open(provider.id)} />,
        'id',
      ),
      column(
        'declaredIn',
        t('declaredIn'),
        ({ declaredIn, isSwitched }) => <SourceBadge source={declaredIn} isOverridden={isSwitched} />,
        'declaredIn',
      ),
      textColumn('hosting', t('hosting'), ({ hosting }) => hosting || t('hostingMissing')),
      column(
        'credentials',
        t('providers.credentials'),
        (provider) => <Credentials provider={provider} />,
        'credentialState',
      ),
      column(
        'deployments',
        t('providers.deployments'),
        ({ deployments }) => <DeploymentCounts counts={deployments} />,
        ({ deployments }) => deployments.callable,
      ),
      column(
        'connections',
        t('providers.connections'),
        (provider) => <Connections provider={provider} />,
        ({ connections }) => connections?.inUse ?? 0,
      ),
      column(
        'lastTest',
        t('providers.lastTest'),
        (provider) => <LastTest provider={provider} />,
        ({ lastTest }) => lastTest?.at ?? '',
      ),
    ],
    // oxlint-disable-next-line react/exhaustive-deps
    [t],
  )
}

function ProviderCell({ provider, onOpen }: { provider: ProviderView; onOpen: () => void }) {
  const { t } = useTranslation('models')
  return (
    <div>
      <Group gap="xs" wrap="nowrap">
        <Anchor component="button" type="button" onClick={onOpen} ff="monospace" fz="sm" ta="start">
          {provider.id}
        </Anchor>
        {!provider.enabled && <Tag color="gray">{t('state.disabled')}</Tag>}
      </Group>
      <Dimmed size="xs" style={{ overflowWrap: 'anywhere' }}>
        {[...new Set([provider.format, provider.flavour, provider.baseUrl])].filter(Boolean).join(' · ')}
      </Dimmed>
    </div>
  )
}

/** The state of the credentials, never the secret. */
export function Credentials({ provider }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  const { credentialState: state, apiKeyLastFour } = provider
  return (
    <Text size="sm" c={state === 'missing' ? 'var(--mantine-color-error)' : undefined} component="span">
      {t(`credentials.${state}`)}
      {state === 'api_key' && apiKeyLastFour && (
        <Text span ff="monospace" size="xs" c="dimmed">
          {` …${apiKeyLastFour}`}
        </Text>
      )}
    </Text>
  )
}

function DeploymentCounts({ counts }: { counts: ProviderView['deployments'] }) {
  const { t } = useTranslation('models')
  return (
    <Group gap={6}>
      <Text size="sm">{t('providers.callable', counts)}</Text>
      {counts.failing > 0 && <Tag color="red">{t('providers.failing', { count: counts.failing })}</Tag>}
    </Group>
  )
}

function Connections({ provider: { connections } }: { provider: ProviderView }) {
  const format = useFormat()
  if (!connections) return <Dimmed>–</Dimmed>
  return (
    <Text size="sm">
      {format.number(connections.inUse)} / {format.number(connections.maximum)}
    </Text>
  )
}

function LastTest({ provider: { lastTest } }: { provider: ProviderView }) {
  const { t } = useTranslation('models')
  if (!lastTest) return <Dimmed>{t('test.never')}</Dimmed>
  return (
    <>
      <Tag color={lastTest.ok ? 'teal' : 'red'}>{lastTest.ok ? t('test.passed') : t('test.failed')}</Tag>
      <Dimmed size="xs">
        <Time value={lastTest.at} />
      </Dimmed>
    </>
  )
}
