import { Anchor, Group, SegmentedControl, Text } from '@mantine/core'
import type { InstallationUsage } from '@contract/installation-usage.ts'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { Swatch } from '../../ui/chart/chart-tooltip.tsx'
import { colourOf, restColour } from '../../ui/chart/colours.ts'
import { Select } from '../../ui/select.tsx'
import { moneyColumn } from '../usage/money.tsx'
import { type Measure, SpendChart } from '../usage/spend-chart.tsx'
import { type OverviewSearch, splits } from './overview-query.ts'
import { useOverview, useValueName } from './use-overview.ts'

/** Spend or calls by day and by one dimension, and the same as a table whose values filter the page. */
export function SpendSection({ report }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const { change } = useOverview()
  const nameOf = useValueName(report.split)
  const [measure, setMeasure] = useState<Measure>('billedUsd')
  return (
    <Section
      title={t('spend.title')}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t('spend.measure')}
            value={measure}
            onChange={(value) => setMeasure(value as Measure)}
            data={[
              { value: 'billedUsd', label: t('figures.spend') },
              { value: 'requests', label: t('figures.requests') },
            ]}
          />
          <Select
            size="xs"
            aria-label={t('spend.split')}
            allowDeselect={false}
            data={splits.map((id) => ({ value: id, label: t(`spend.by.${id}`) }))}
            value={report.split}
            onChange={(split) => change({ split: split as OverviewSearch['split'] })}
            w={190}
          />
        </>
      }
    >
      <SpendChart label={t('spend.chartLabel')} report={report} measure={measure} nameOf={nameOf} />
      <SpendTable report={report} />
    </Section>
  )
}

type Row = InstallationUsage['table']['rows'][number] & { colour: string; share: number; failedShare: number }

function SpendTable({ report }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const format = useFormat()
  const columns = useColumns(report.split)
  const total = Number(report.totals.billedUsd)
  const rows = useMemo(
    () =>
      report.table.rows.map((row): Row => {
        const place = report.series.values.findIndex(({ id }) => id === row.id)
        return {
          ...row,
          colour: place < 0 ? restColour : colourOf(place),
          share: total > 0 ? Number(row.billedUsd) / total : 0,
          failedShare: row.requests > 0 ? row.failed / row.requests : 0,
        }
      }),
    [report, total],
  )
  const { other } = report.table
  return (
    <>
      <DataTable
        label={t('spend.tableLabel')}
        columns={columns}
        rows={rows}
        rowId={({ id }) => id ?? ''}
        minimumWidth={720}
      />
      {other && (
        <Dimmed>
          {t('spend.other', {
            count: other.values,
            requests: format.number(other.requests),
            usd: format.money(other.billedUsd),
          })}
        </Dimmed>
      )}
    </>
  )
}

function useColumns(split: InstallationUsage['split']): DataColumn<Row>[] {
  const { t } = useTranslation('overview')
  const format = useFormat()
  const nameOf = useValueName(split)
  return useMemo(
    () => [
      column('value', t(`split.${split}`), (row) => <ValueCell split={split} row={row} />, nameOf),
      moneyColumn(t('figures.spend')),
      column('share', t('spend.share'), ({ share }) => format.percent(share), 'share'),
      column('requests', t('figures.requests'), ({ requests }) => format.number(requests), 'requests'),
      column(
        'failedShare',
        t('figures.failed'),
        ({ failedShare }) => (
          <Text span size="sm" c={failedShare > 0.05 ? 'var(--mantine-color-error)' : undefined}>
            {format.percent(failedShare)}
          </Text>
        ),
        'failedShare',
      ),
      ...(['p50', 'p95'] as const).map((percentile) =>
        column<Row>(
          percentile,
          t(`spend.${percentile}`),
          ({ totalMs }) => (totalMs ? format.duration(totalMs[percentile]) : '–'),
          ({ totalMs }) => totalMs?.[percentile] ?? -1,
        ),
      ),
    ],
    // nameOf is a new function on each render and depends on the split and the language only.
    [t, format, split],
  )
}

function ValueCell({ split, row }: { split: InstallationUsage['split']; row: Row }) {
  const { t } = useTranslation('overview')
  const { search, change } = useOverview()
  const name = useValueName(split)(row)
  return (
    <Group gap={8} wrap="nowrap">
      <Swatch colour={row.colour} />
      {row.id === null ? (
        <Dimmed>{name}</Dimmed>
      ) : (
        <Anchor
          component="button"
          type="button"
          fz="sm"
          ta="start"
          title={t('spend.filterBy', { value: name })}
          onClick={() => change(nextSearch(search, split, row.id!))}
        >
          {name}
        </Anchor>
      )}
    </Group>
  )
}

/** Where a click on a value leads: to its models or organisations, then to the days of both. */
function nextSearch(search: OverviewSearch, split: InstallationUsage['split'], id: string): OverviewSearch {
  if (split === 'organisation') return { organisationId: id, split: search.model === undefined ? 'model' : 'provider' }
  if (split === 'model') return { model: id, split: search.organisationId === undefined ? 'organisation' : 'provider' }
  return { [split]: id, split: 'model' }
}
