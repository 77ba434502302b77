import { Anchor, Badge, SimpleGrid, Text } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { column, type DataColumn, DataTable, textColumn } from '../../ui/data-table.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorsChart } from './errors-chart.tsx'
import { useUsage } from './use-usage.ts'

type Errors = UsageReport['errors']
type CodeRow = Errors['codes'][number]
type ModelRow = Errors['models'][number]

/** Calls that failed, and calls that were refused before they reached a provider. */
export function ErrorsSection({ report: { errors } }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const { change } = useUsage()
  const codes = useCodeColumns()
  const models = useModelColumns()
  return (
    <Section
      title={t('errors.title')}
      description={t('errors.description')}
      actions={
        <Anchor component="button" type="button" fz="sm" onClick={() => change({ view: 'requests', ending: 'failed' })}>
          {t('errors.show')}
        </Anchor>
      }
    >
      {errors.codes.length === 0 ? (
        <Text c="dimmed">{t('errors.none')}</Text>
      ) : (
        <>
          <ErrorsChart label={t('errors.chartLabel')} days={errors.days} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <DataTable
              label={t('errors.codesLabel')}
              columns={codes}
              rows={errors.codes}
              rowId={({ code, refused }) => `${code} ${refused}`}
              minimumWidth={320}
            />
            <DataTable
              label={t('errors.modelsLabel')}
              columns={models}
              rows={errors.models}
              rowId={({ model }) => model ?? ''}
              minimumWidth={320}
            />
          </SimpleGrid>
        </>
      )}
    </Section>
  )
}

function useCodeColumns(): DataColumn<CodeRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      column(
        'code',
        t('errors.code'),
        ({ code }) => (
          <Text span ff="monospace" size="sm">
            {code}
          </Text>
        ),
        'code',
      ),
      column(
        'kind',
        t('errors.kind'),
        ({ refused }) => (
          <Badge variant="default" tt="none" fw={500}>
            {refused ? t('errors.refused') : t('errors.failed')}
          </Badge>
        ),
        ({ refused }) => (refused ? 1 : 0),
      ),
      column('requests', t('errors.calls'), ({ requests }) => format.number(requests), 'requests'),
    ],
    [t, format],
  )
}

function useModelColumns(): DataColumn<ModelRow>[] {
  const { t } = useTranslation('usage')
  const format = useFormat()
  return useMemo(
    () => [
      textColumn('model', t('split.model'), ({ model }) => model ?? t('errors.unknownModel')),
      column('failed', t('errors.failed'), ({ failed }) => format.number(failed), 'failed'),
      column('refused', t('errors.refused'), ({ refused }) => format.number(refused), 'refused'),
    ],
    [t, format],
  )
}
