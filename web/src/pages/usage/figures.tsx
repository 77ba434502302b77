import { Group, SimpleGrid, Text } from '@mantine/core'
import type { UsageReport } from '@contract/usage-reports.ts'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Money } from './money.tsx'

const largestRatio = 10

/** The totals of the range, compared with the same number of days before. */
export function Figures({ report: { totals, previous, errors } }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const refused = errors.days.reduce((sum, day) => sum + day.refused, 0)
  const calls = totals.requests + refused
  const tokens = totals.promptTokens + totals.completionTokens
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="lg">
      <Figure label={t('figures.spend')} before={Number(previous.billedUsd)} now={Number(totals.billedUsd)}>
        <Money usd={totals.billedUsd} />
      </Figure>
      <Figure label={t('figures.requests')} before={previous.requests} now={totals.requests}>
        {format.number(totals.requests)}
      </Figure>
      <Figure label={t('figures.tokens')} before={previous.promptTokens + previous.completionTokens} now={tokens}>
        {format.compact(tokens)}
      </Figure>
      <Figure label={t('figures.errors')}>
        {calls === 0 ? '–' : format.percent((totals.failed + refused) / calls)}
      </Figure>
    </SimpleGrid>
  )
}

function Figure(props: { label: string; before?: number; now?: number; children: ReactNode }) {
  const { label, before = 0, now = 0, children } = props
  const { t } = useTranslation('usage')
  const format = useFormat()
  const ratio = before > 0 ? now / before : Infinity
  // A comparison with very little is of no use.
  const change = ratio <= largestRatio ? ratio - 1 : undefined
  return (
    <div>
      <Dimmed>{label}</Dimmed>
      <Group gap="xs" align="baseline">
        <Text fz="xl" fw={600}>
          {children}
        </Text>
        {change !== undefined && (
          <Dimmed title={t('figures.before')}>
            {change > 0 ? '+' : ''}
            {format.percent(change)}
          </Dimmed>
        )}
      </Group>
    </div>
  )
}
