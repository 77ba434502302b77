import type { InstallationUsage } from '@contract/installation-usage.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable } from '../../ui/data-table.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { Section } from '../../ui/section.tsx'
import { moneyColumn } from '../usage/money.tsx'
import { useOverview } from './use-overview.ts'

type Row = InstallationUsage['series']['days'][number]

/** The days of one organisation, each with a link to its receipts. */
export function DaySection({ report }: { report: InstallationUsage }) {
  const { t } = useTranslation('overview')
  const { search } = useOverview()
  const columns = useColumns(search.organisationId!, search.model)
  const rows = useMemo(() => report.series.days.filter(({ requests }) => requests > 0).toReversed(), [report])
  return (
    <Section title={t('days.title')} description={t('days.description')}>
      <DataTable label={t('days.title')} columns={columns} rows={rows} rowId={({ day }) => day} minimumWidth={520} />
    </Section>
  )
}

function useColumns(organisationId: string, model: string | undefined): DataColumn<Row>[] {
  const { t } = useTranslation('overview')
  const format = useFormat()
  return useMemo(
    () => [
      column('day', t('days.day'), ({ day }) => format.day(day), 'day'),
      moneyColumn(t('figures.spend')),
      column('requests', t('figures.requests'), ({ requests }) => format.number(requests), 'requests'),
      column('failed', t('days.failed'), ({ failed }) => format.number(failed), 'failed'),
      column('receipts', t('days.receipts'), ({ day }) => (
        <AnchorLink
          to="/organisations/$organisationId/usage"
          params={{ organisationId }}
          search={{ view: 'requests', from: day, to: day, ...(model !== undefined && { model }) }}
          size="sm"
          aria-label={t('days.receiptsOf', { day: format.day(day) })}
        >
          {t('days.receipts')}
        </AnchorLink>
      )),
    ],
    [t, format, organisationId, model],
  )
}
