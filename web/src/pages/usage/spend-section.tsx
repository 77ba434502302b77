import { Button, SegmentedControl } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { useNames } from './names.ts'
import { type Measure, SpendChart } from './spend-chart.tsx'
import { SpendTable } from './spend-table.tsx'
import { exportUrl } from './usage-query.ts'
import { useUsage } from './use-usage.ts'

/** Cost or requests by day and by one dimension, and the same as a table. */
export function SpendSection({ report }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const { organisationId, search, change } = useUsage()
  const names = useNames()
  const [measure, setMeasure] = useState<Measure>('billedUsd')
  // A tag that the address names stays selectable although no call has it.
  const splits = [...new Set(['model', 'surface', 'space', ...report.options.tagKeys, report.split])]
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
              { value: 'billedUsd', label: t('spend.cost') },
              { value: 'requests', label: t('figures.requests') },
            ]}
          />
          <Select
            size="xs"
            aria-label={t('spend.split')}
            allowDeselect={false}
            data={splits.map((id) => ({ value: id, label: t('spend.by', { dimension: names.split(id) }) }))}
            value={report.split}
            onChange={(split) => change({ split: split === 'model' || split === null ? undefined : split })}
            w={190}
          />
          <Button
            component="a"
            size="xs"
            variant="default"
            href={exportUrl(organisationId, search)}
            download
            leftSection={<IconDownload size={14} aria-hidden />}
          >
            {t('spend.export')}
          </Button>
        </>
      }
    >
      <SpendChart label={t('spend.chartLabel')} report={report} measure={measure} />
      <SpendTable report={report} />
    </Section>
  )
}
