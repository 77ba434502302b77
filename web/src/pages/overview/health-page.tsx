import { Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ConsoleHealthBody } from '@contract/console-health.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
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
    const duration = (id: string, header: string, of: (row: Deployment) => Deployment['totalMs']) =>
      column<Deployment>(
        id,
        header,
        (row) => {
          const value = of(row)
          return value ? `${format.duration(value.p50)} / ${format.duration(value.p95)}` : '–'
        },
        (row) => of(row)?.p95 ?? -1,
      )
    return [
      textColumn('model', t('split.model'), ({ model }) => model),
      column(
        'availability',
        t('health.availability'),
        ({ availability }) => (
          <Text span size="sm" c={(availability ?? 1) < 0.95 ? 'var(--mantine-color-error)' : undefined}>
            {availability === null ? '–' : format.percent(availability)}
          </Text>
        ),
        ({ availability }) => availability ?? 2,
      ),
      column('calls', t('health.calls'), ({ calls }) => format.number(calls), 'calls'),
      column('errors', t('health.errors'), ({ errors }) => format.number(errors), 'errors'),
      duration('first', t('health.firstBytes'), ({ firstBytesMs }) => firstBytesMs),
      duration('total', t('health.total'), ({ totalMs }) => totalMs),
    ]
  }, [t, format])
}

function CircuitEvents({ events }: { events: Event[] }) {
  const { t } = useTranslation('overview')
  const columns = useMemo(
    (): DataColumn<Event>[] => [
      column('at', t('health.time'), ({ at }) => <Time value={at} />, 'at'),
      textColumn('deployment', t('split.model'), ({ model, deployment }) => model ?? deployment),
      textColumn('provider', t('split.provider'), ({ provider }) => provider ?? '–'),
      textColumn('kind', t('health.event'), ({ kind }) => t(`health.circuit.${kind}`)),
      textColumn(
        'reason',
        t('health.reason'),
        ({ errorClass, status }) => [errorClass, status].filter((one) => one !== null).join(' ') || '–',
      ),
      textColumn('instance', t('health.instance'), ({ instance }) => instance),
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
