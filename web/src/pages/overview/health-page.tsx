import { Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ConsoleHealthBody } from '@contract/console-health.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { DayStrip } from './day-strip.tsx'
import { FailingList } from './failing-list.tsx'
import { healthQuery } from './health-query.ts'

type Provider = ConsoleHealthBody['providers'][number]
type Deployment = Provider['deployments'][number]
type Event = ConsoleHealthBody['events'][number]

/** Availability, latency, errors and circuits of all providers over 30 days. */
export function HealthPage() {
  const { t } = useTranslation('overview')
  const { data } = useSuspenseQuery(healthQuery)
  return (
    <Page title={t('health.title')} description={t('health.description')}>
      <Stack gap={40}>
        {data.failing.length > 0 && (
          <Section title={t('health.now')}>
            <FailingList items={data.failing} />
          </Section>
        )}
        {data.providers.length === 0 ? (
          <EmptyState
            title={t('health.empty')}
            text={t('health.emptyText')}
            action={<AnchorLink to="/operator/providers">{t('navigation.providers', { ns: 'common' })}</AnchorLink>}
          />
        ) : (
          data.providers.map((provider) => <ProviderHealth key={provider.id} provider={provider} />)
        )}
        <CircuitEvents events={data.events} />
      </Stack>
    </Page>
  )
}

function ProviderHealth({ provider }: { provider: Provider }) {
  const { t } = useTranslation('overview')
  const format = useFormat()
  const columns = useDeploymentColumns()
  const { availability, totalMs, firstBytesMs, rateLimited, errorClasses } = provider
  const facts = [
    [t('health.availability'), availability === null ? '–' : format.percent(availability)],
    [t('health.calls'), format.number(provider.calls)],
    [t('health.errors'), format.number(provider.errors)],
    [t('health.rateLimited'), format.number(rateLimited)],
    [
      t('health.firstBytes'),
      firstBytesMs ? `${format.duration(firstBytesMs.p50)} / ${format.duration(firstBytesMs.p95)}` : '–',
    ],
    [t('health.total'), totalMs ? `${format.duration(totalMs.p50)} / ${format.duration(totalMs.p95)}` : '–'],
  ] as const
  return (
    <Section
      title={provider.id}
      {...(provider.failing > 0 && { description: t('health.failing', { count: provider.failing }) })}
    >
      <Group gap="xl" component="dl" my={0}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <Text size="xs" c="dimmed" component="dt">
              {name}
            </Text>
            <Text size="sm" fw={600} component="dd" m={0}>
              {value}
            </Text>
          </div>
        ))}
      </Group>
      <DayStrip days={provider.days} />
      {errorClasses.length > 0 && (
        <Text size="sm">
          {t('health.byClass')} {errorClasses.map((one) => `${one.class} ${format.number(one.calls)}`).join(' · ')}
        </Text>
      )}
      {provider.deployments.length > 0 && (
        <DataTable
          label={t('health.deploymentsOf', { provider: provider.id })}
          columns={columns}
          rows={provider.deployments}
          rowId={({ id }) => id}
          minimumWidth={640}
        />
      )}
    </Section>
  )
}

function useDeploymentColumns(): DataColumn<Deployment>[] {
  const { t } = useTranslation('overview')
  const format = useFormat()
  return useMemo(() => {
    const duration = (
      id: string,
      header: string,
      of: (row: Deployment) => Deployment['totalMs'],
    ): DataColumn<Deployment> => ({
      id,
      header,
      accessorFn: (row) => of(row)?.p95 ?? -1,
      cell: ({ row }) => {
        const value = of(row.original)
        return value ? `${format.duration(value.p50)} / ${format.duration(value.p95)}` : '–'
      },
    })
    return [
      { accessorKey: 'model', header: t('split.model') },
      {
        id: 'availability',
        header: t('health.availability'),
        accessorFn: ({ availability }) => availability ?? 2,
        cell: ({ row: { original } }) => (
          <Text span size="sm" c={(original.availability ?? 1) < 0.95 ? 'var(--mantine-color-error)' : undefined}>
            {original.availability === null ? '–' : format.percent(original.availability)}
          </Text>
        ),
      },
      { accessorKey: 'calls', header: t('health.calls'), cell: ({ row }) => format.number(row.original.calls) },
      { accessorKey: 'errors', header: t('health.errors'), cell: ({ row }) => format.number(row.original.errors) },
      duration('first', t('health.firstBytes'), ({ firstBytesMs }) => firstBytesMs),
      duration('total', t('health.total'), ({ totalMs }) => totalMs),
    ]
  }, [t, format])
}

function CircuitEvents({ events }: { events: Event[] }) {
  const { t } = useTranslation('overview')
  const columns = useMemo(
    (): DataColumn<Event>[] => [
      { accessorKey: 'at', header: t('health.time'), cell: ({ row }) => <Time value={row.original.at} /> },
      {
        id: 'deployment',
        header: t('split.model'),
        accessorFn: ({ model, deployment }) => model ?? deployment,
      },
      { id: 'provider', header: t('split.provider'), accessorFn: ({ provider }) => provider ?? '–' },
      {
        id: 'kind',
        header: t('health.event'),
        accessorFn: ({ kind }) => t(`health.circuit.${kind}`),
      },
      {
        id: 'reason',
        header: t('health.reason'),
        accessorFn: ({ errorClass, status }) => [errorClass, status].filter((one) => one !== null).join(' ') || '–',
      },
      { accessorKey: 'instance', header: t('health.instance') },
    ],
    [t],
  )
  return (
    <Section title={t('health.circuits')} description={t('health.circuitsText')}>
      <DataTable
        label={t('health.circuits')}
        columns={columns}
        rows={events}
        rowId={(event) => `${event.at} ${event.deployment} ${event.kind} ${event.instance}`}
        minimumWidth={720}
        empty={<Dimmed>{t('health.noCircuits')}</Dimmed>}
      />
    </Section>
  )
}
