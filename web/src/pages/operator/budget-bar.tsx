import { Group, Progress, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'

/** Shares of a budget from which the bar warns. */
const warnPercent = 80
const fullPercent = 100

/** What is spent of a budget. `percent` is null without a budget. */
export function BudgetBar(props: { spentUsd: string; budgetUsd: string; percent: number | null }) {
  const { spentUsd, budgetUsd, percent } = props
  const { t } = useTranslation('operator')
  const format = useFormat()
  if (percent === null) return <Dimmed>{t('budget.none')}</Dimmed>
  const color = percent >= fullPercent ? 'red' : percent >= warnPercent ? 'orange' : 'portico'
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm">{t('budget.spentOf', { spent: format.money(spentUsd), budget: format.money(budgetUsd) })}</Text>
        <Text size="sm" fw={percent >= warnPercent ? 600 : undefined}>
          {format.percent(percent / 100)}
        </Text>
      </Group>
      <Progress value={Math.min(percent, 100)} size="xs" color={color} aria-label={t('budget.label')} />
    </Stack>
  )
}
