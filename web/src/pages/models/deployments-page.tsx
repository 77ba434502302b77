import type { DeploymentsView, DeploymentView } from '@contract/console-models.ts'
import { ActionIcon, Alert, Anchor, CloseButton, Group, Stack, Text, Tooltip } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { column, type DataColumn, PagedTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { LoadingState } from '../../ui/loading-state.tsx'
import { Page } from '../../ui/page.tsx'
import { PartSwitch, SearchField } from '../../ui/list-controls.tsx'
import { HostingBadge, StateBadge } from './badges.tsx'
import { CircuitText, ErrorShare, Milliseconds } from './health-text.tsx'
import { deploymentsQuery, type DeploymentsSearch, deploymentsStates, isFiltered, pageSizes } from './routes.tsx'
import { TrafficBars } from './traffic-bars.tsx'

const DeploymentDrawer = lazyPart(() => import('./deployment-drawer.tsx'), 'DeploymentDrawer')

const route = getRouteApi('/shell/operator/deployments')

export function DeploymentsPage() {
  const { t } = useTranslation('models')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isPaused, setPaused] = useState(false)
  const query = useQuery({
    ...deploymentsQuery(search),
    ...(isPaused && { refetchInterval: false }),
    throwOnError: (_error, { state }) => state.data === undefined,
  })
  const open = (id: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, open: id }), replace: true, resetScroll: false })
  const columns = useColumns(open)
  const view = query.data
  if (!view) return <LoadingState />
  return (
    <Page title={t('deployments.title')} description={t('deployments.description')}>
      <Filters counts={view.counts} />
      <Group justify="space-between" gap="xs">
        <ProviderFilter />
        <LiveState view={view} isLost={query.isRefetchError} isPaused={isPaused} onPause={setPaused} />
      </Group>
      <PagedTable
        label={t('deployments.title')}
        columns={columns}
        rows={view.items}
        rowId={({ id }) => id}
        minimumWidth={920}
        empty={<NoDeployments search={search} onClear={() => void navigate({ search: {} })} />}
        total={view.total}
        limit={pageSizes.deployments}
        offset={search.offset ?? 0}
        onPage={(offset) => void navigate({ search: (before) => ({ ...before, offset }) })}
      />
      <OnceOpened opened={search.open !== undefined}>
        <DeploymentDrawer
          deployment={view.items.find(({ id }) => id === search.open)}
          now={Date.parse(view.now)}
          onClose={() => open(undefined)}
        />
      </OnceOpened>
    </Page>
  )
}

function Filters({ counts }: { counts: DeploymentsView['counts'] }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Group gap="sm">
      <PartSwitch
        label={t('deployments.filter')}
        value={search.state ?? 'all'}
        onChange={(state) => void navigate({ search: ({ offset: _offset, ...before }) => ({ ...before, state }) })}
        parts={deploymentsStates.map((value) => ({
          value,
          label: `${t(`deploymentsState.${value}`)} ${format.number(counts[value])}`,
        }))}
      />
      <SearchField
        label={t('deployments.search')}
        value={search.search}
        onChange={(text) =>
          void navigate({ search: ({ offset: _offset, ...before }) => ({ ...before, search: text }), replace: true })
        }
      />
    </Group>
  )
}

/** Shows and removes the filter of a link from the page of providers. */
function ProviderFilter() {
  const { t } = useTranslation('models')
  const { provider } = route.useSearch()
  const navigate = route.useNavigate()
  if (provider === undefined) return <span />
  return (
    <Group gap={4}>
      <Text size="sm">{t('deployments.ofProvider', { id: provider })}</Text>
      <CloseButton
        size="sm"
        aria-label={t('deployments.allProviders')}
        onClick={() => void navigate({ search: ({ provider: _provider, ...before }) => before })}
      />
    </Group>
  )
}

/** Names the instance whose observations are shown, and whether they are current. */
function LiveState(props: {
  view: DeploymentsView
  isLost: boolean
  isPaused: boolean
  onPause: (isPaused: boolean) => void
}) {
  const { view, isLost, isPaused, onPause } = props
  const { t } = useTranslation('models')
  const format = useFormat()
  const action = isPaused ? t('deployments.resume') : t('deployments.pause')
  const status = isLost
    ? t('deployments.lost', { time: format.dateTime(view.now) })
    : isPaused
      ? t('deployments.paused', { time: format.dateTime(view.now) })
      : t('deployments.live')
  return (
    <Group gap={6} wrap="nowrap">
      <Tooltip
        label={t('deployments.instanceText', { since: format.dateTime(view.instance.startedAt) })}
        multiline
        maw={360}
      >
        <Text
          size="sm"
          c={isLost ? 'var(--mantine-color-error)' : 'dimmed'}
          tabIndex={0}
          style={{ overflowWrap: 'anywhere' }}
        >
          {status} · {t('deployments.window', { minutes: view.windowSeconds / 60, instance: view.instance.name })}
        </Text>
      </Tooltip>
      <Tooltip label={action}>
        <ActionIcon variant="subtle" color="gray" aria-label={action} onClick={() => onPause(!isPaused)}>
          {isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    </Group>
  )
}

function NoDeployments({ search, onClear }: { search: DeploymentsSearch; onClear: () => void }) {
  const { t } = useTranslation('models')
  if (search.state === 'trouble') return <Alert color="teal">{t('deployments.noTrouble')}</Alert>
  return (
    <EmptyState
      title={t('deployments.none')}
      text={t('deployments.noneText')}
      onClear={isFiltered(search) ? onClear : undefined}
      action={<AnchorLink to="/operator/providers">{t('providers.title')}</AnchorLink>}
    />
  )
}

/** The server sorts by urgency, so columns are not sorted here. */
function useColumns(open: (id: string) => void): DataColumn<DeploymentView>[] {
  const { t } = useTranslation('models')
  return useMemo(
    () => [
      column<DeploymentView>('deployment', t('deployments.deployment'), (deployment) => (
        <DeploymentCell deployment={deployment} onOpen={() => open(deployment.id)} />
      )),
      column<DeploymentView>('state', t('deployments.state'), (deployment) => (
        <div>
          <StateBadge state={deployment.state} />
          <CircuitText deployment={deployment} />
        </div>
      )),
      column<DeploymentView>('requests', t('deployments.requests'), (deployment) => <Requests {...deployment} />),
      column<DeploymentView>('errors', t('deployments.errors'), ({ traffic }) => <ErrorShare traffic={traffic} />),
      column<DeploymentView>('latency', t('deployments.latency'), (deployment) => <Latency {...deployment} />),
      column<DeploymentView>('speed', t('deployments.speed'), (deployment) => <Speed {...deployment} />),
      column<DeploymentView>('weight', t('deployments.weight'), (deployment) => <Weight {...deployment} />),
    ],
    // oxlint-disable-next-line react/exhaustive-deps
    [t],
  )
}

function DeploymentCell({ deployment, onOpen }: { deployment: DeploymentView; onOpen: () => void }) {
  const { t } = useTranslation('models')
  const { id, model, hosting, side, region } = deployment
  return (
    <Stack gap={2} align="flex-start">
      <Anchor component="button" type="button" onClick={onOpen} ff="monospace" fz="sm" ta="start">
        {id}
      </Anchor>
      <Group gap={6}>
        <HostingBadge hosting={hosting} side={side} />
        {region && <Dimmed size="xs">{region}</Dimmed>}
        <AnchorLink
          size="xs"
          c="dimmed"
          underline="always"
          aria-label={t('deployments.toModel', { model })}
          to="/operator/models/$modelId"
          params={{ modelId: model }}
        >
          {model}
        </AnchorLink>
      </Group>
    </Stack>
  )
}

function Requests({ traffic }: DeploymentView) {
  const format = useFormat()
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" miw={32} ta="end">
        {format.compact(traffic?.requests ?? 0)}
      </Text>
      <TrafficBars traffic={traffic} />
    </Group>
  )
}

function Latency({ traffic }: DeploymentView) {
  return <Milliseconds value={traffic?.latencyMs ?? null} />
}

function Speed({ traffic }: DeploymentView) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const speed = traffic?.outputTokensPerSecond
  return (
    <Text size="sm">
      {speed
        ? t('deployments.tokensPerSecond', { count: Math.round(speed), value: format.number(Math.round(speed)) })
        : '–'}
    </Text>
  )
}

function Weight({ weight, share }: DeploymentView) {
  const format = useFormat()
  return (
    <Text size="sm">
      {format.number(weight)}
      {share !== null && (
        <Text span size="xs" c="dimmed">
          {` · ${format.percent(share)}`}
        </Text>
      )}
    </Text>
  )
}
