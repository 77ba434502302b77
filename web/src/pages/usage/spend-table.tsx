import { Text } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { Swatch } from '../../ui/chart/chart-tooltip.tsx'
import { colourOf, restColour } from '../../ui/chart/colours.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { plainAnchor } from '../../ui/plain-classes.ts'
import { moneyColumn } from './money.tsx'
import { useNames } from './names.ts'
import styles from './spend-table.module.css'
import type { UsageSearch } from './usage-query.ts'
import { useUsage } from './use-usage.ts'

type Row = UsageReport['table']['rows'][number] & { colour: string; share: number }

/** The values of the split. A click on one filters by it. */
export function SpendTable({ report }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const columns = useColumns(report.split)
  const total = Number(report.totals.billedUsd)
  const rows = useMemo(() => {
    const { rows: values } = report.table
    return values.map((row) => {
      const place = report.series.values.findIndex(({ id }) => id === row.id)
      return {
        ...row,
        colour: place < 0 ? restColour : colourOf(place),
        share: total > 0 ? Number(row.billedUsd) / total : 0,
      }
    })
  }, [report, total])
  return (
    <>
      <DataTable
        label={t('spend.tableLabel')}
        columns={columns}
        rows={rows}
        rowId={({ id }) => id ?? ''}
        minimumWidth={760}
      />
      <OtherRow report={report} />
    </>
  )
}

/** Everything that the table does not list. */
function OtherRow({ report: { table } }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  if (!table.other) return null
  const { values, requests, billedUsd } = table.other
  return (
    <Dimmed>
      {t('spend.other', {
        values: values ? format.number(values) : '',
        requests: format.number(requests),
        usd: format.money(billedUsd),
      })}
    </Dimmed>
  )
}

function useColumns(split: string): DataColumn<Row>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const names = useNames()
  const { search, change } = useUsage()
  return useMemo(() => {
    const number = (key: 'requests' | 'promptTokens' | 'completionTokens' | 'failed', header: string) =>
      column<Row>(key, header, (row) => format.number(row[key]), key)
    return [
      column(
        'value',
        names.split(split),
        (row) => {
          const text = names.value(split, row)
          const filter = filterOf(split, row.id)
          if (!filter) return <ValueCell row={row} text={text} />
          return (
            <ValueCell
              row={row}
              text={text}
              title={t('spend.filterBy', { value: text })}
              onClick={() => change(filter)}
            />
          )
        },
        (row) => names.value(split, row),
      ),
      moneyColumn(t('spend.cost')),
      column('share', t('spend.share'), ({ share }) => format.percent(share), 'share'),
      number('requests', t('figures.requests')),
      number('promptTokens', t('spend.promptTokens')),
      number('completionTokens', t('spend.completionTokens')),
      number('failed', t('spend.failed')),
    ]
    // names and change are new objects on each render; names depends on the language only, as t does, and change on the search.
  }, [t, format, split, search])
}

/** Without `onClick`, a value that nothing can be filtered by. */
function ValueCell({ row, text, title, onClick }: { row: Row; text: string; title?: string; onClick?: () => void }) {
  return (
    <div className={styles['value']}>
      <Swatch colour={row.colour} />
      {onClick ? (
        <button type="button" className={plainAnchor} data-underline="hover" title={title} onClick={onClick}>
          {text}
        </button>
      ) : (
        <Text size="sm" c={row.id === null ? 'dimmed' : undefined}>
          {text}
        </Text>
      )}
    </div>
  )
}

function filterOf(split: string, id: string | null): UsageSearch | undefined {
  if (split === 'space') return { spaceId: id ?? 'none' }
  if (id === null) return undefined
  if (split === 'model') return { model: id, split: 'surface' }
  if (split === 'surface') return { surface: id as NonNullable<UsageSearch['surface']>, split: 'model' }
  return { tagKey: split, tagValue: id, split: 'model' }
}
