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
import { type DataColumn, PagedTable } from '../../ui/data-table.tsx'
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
      {
        id: 'id',
        header: t('providers.provider'),
        accessorFn: ({ id }) => id,
        cell: ({ row }) => <ProviderCell provider={row.original} onOpen={() => open(row.original.id)} />,
      },
      {
        id: 'declaredIn',
        header: t('declaredIn'),
        accessorFn: ({ declaredIn }) => declaredIn,
        cell: ({ row }) => <SourceBadge source={row.original.declaredIn} isOverridden={row.original.isSwitched} />,
      },
      { id: 'hosting', header: t('hosting'), accessorFn: ({ hosting }) => hosting || t('hostingMissing') },
      {
        id: 'credentials',
        header: t('providers.credentials'),
        accessorFn: ({ credentialState }) => credentialState,
        cell: ({ row }) => <Credentials provider={row.original} />,
      },
      {
        id: 'deployments',
        header: t('providers.deployments'),
        accessorFn: ({ deployments }) => deployments.callable,
        cell: ({ row }) => <DeploymentCounts counts={row.original.deployments} />,
      },
      {
        id: 'connections',
        header: t('providers.connections'),
        accessorFn: ({ connections }) => connections?.inUse ?? 0,
        cell: ({ row }) => <Connections provider={row.original} />,
      },
      {
        id: 'lastTest',
        header: t('providers.lastTest'),
        accessorFn: ({ lastTest }) => lastTest?.at ?? '',
        cell: ({ row }) => <LastTest provider={row.original} />,
      },
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
