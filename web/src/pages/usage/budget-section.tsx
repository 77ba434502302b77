import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconFlame } from '@tabler/icons-react'
import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { Money } from './money.tsx'

type Budget = NonNullable<UsageReport['budget']>

/** What is spent of the budget, what the period is expected to cost, and a warning when spending is unusually fast. */
export function BudgetSection({ report, budget }: { report: UsageReport; budget: Budget }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const { forecast, velocity } = report
  return (
    <Section
      title={t('budget.title')}
      description={t('budget.period', {
        from: format.day(budget.period),
        to: format.date(new Date(Date.parse(budget.periodEndsAt) - 1)),
      })}
    >
      <Stack gap="md">
        <Group gap="xl" align="flex-end" wrap="wrap">
          <div>
            <Text fz={28} fw={600} lh={1.2}>
              <Money usd={budget.spentUsd} />
            </Text>
            <Dimmed>
              {t('budget.of', { budget: format.money(budget.budgetUsd) })}
              {budget.spentPercent !== null && ` (${format.percent(budget.spentPercent / 100)})`}
            </Dimmed>
          </div>
          <Fact label={t('budget.left')} usd={budget.leftUsd} />
          {Number(budget.heldUsd) > 0 && <Fact label={t('budget.held')} usd={budget.heldUsd} />}
          {forecast && <Fact label={t('budget.expected')} usd={forecast.expectedUsd} />}
        </Group>
        <BudgetBar budget={budget} forecast={forecast} />
        <ForecastText report={report} />
        {velocity && velocity.level !== 'normal' && <PaceAlert velocity={velocity} />}
      </Stack>
    </Section>
  )
}

function Fact({ label, usd }: { label: string; usd: string }) {
  return (
    <div>
      <Text fw={500}>
        <Money usd={usd} />
      </Text>
      <Dimmed>{label}</Dimmed>
    </div>
  )
}

function ForecastText({ report: { forecast, velocity } }: { report: UsageReport }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  if (!forecast) {
    return <Dimmed>{t('budget.noForecast')}</Dimmed>
  }
  return (
    <Dimmed>
      {t('budget.forecast', {
        low: format.money(forecast.lowUsd),
        high: format.money(forecast.highUsd),
        count: forecast.historyDays,
      })}
      {forecast.exhaustedOn !== null && ` ${t('budget.exhaustedOn', { day: format.day(forecast.exhaustedOn) })}`}
      {velocity && ` ${t('budget.lastHour', { usd: format.money(velocity.lastHour.spentUsd) })}`}
    </Dimmed>
  )
}

function PaceAlert({ velocity }: { velocity: NonNullable<UsageReport['velocity']> }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const isAlarm = velocity.level === 'alarm'
  const sentence = (pace: typeof velocity.lastHour, key: 'pace.hour' | 'pace.day') =>
    pace.ratio !== null && pace.ratio > 3 && pace.usualUsd !== null
      ? t(key, {
          spent: format.money(pace.spentUsd),
          ratio: format.number(pace.ratio),
          usual: format.money(pace.usualUsd),
        })
      : undefined
  return (
    <Alert
      color={isAlarm ? 'red' : 'yellow'}
      icon={isAlarm ? <IconFlame aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={isAlarm ? t('pace.alarm') : t('pace.elevated')}
    >
      {[
        sentence(velocity.lastHour, 'pace.hour'),
        sentence(velocity.lastDay, 'pace.day'),
        velocity.exhaustedAt !== null && t('pace.exhausted', { time: format.dateTime(velocity.exhaustedAt) }),
      ]
        .filter(Boolean)
        .join(' ')}
    </Alert>
  )
}
