import type { UsageReport } from '@contract/usage-reports.ts'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import classes from './budget-bar.module.css'

/** Spent, expected and budget on one scale. The hatched part is the forecast's interval, the line is the budget. */
export function BudgetBar(props: { budget: NonNullable<UsageReport['budget']>; forecast: UsageReport['forecast'] }) {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const { budget, forecast } = props
  const limit = Number(budget.budgetUsd)
  const spent = Number(budget.spentUsd)
  const high = forecast ? Number(forecast.highUsd) : 0
  // A forecast far above the budget is cut, so that the spent part stays visible.
  const scale = Math.max(limit, spent, Math.min(high, 1.5 * limit)) || 1
  const at = (usd: number) => `${Math.min(100, (usd / scale) * 100)}%`
  const level = spent >= limit ? 'full' : spent >= 0.8 * limit ? 'high' : 'usual'
  const label = t('budget.barLabel', {
    spent: format.money(budget.spentUsd),
    budget: format.money(budget.budgetUsd),
    expected: forecast ? format.money(forecast.expectedUsd) : '–',
  })
  return (
    <div className={classes.track} role="img" aria-label={label}>
      <div className={classes.spent} data-level={level} style={{ width: at(spent) }} />
      {forecast && (
        <>
          <div
            className={classes.interval}
            style={{
              insetInlineStart: at(Number(forecast.lowUsd)),
              width: `calc(${at(high)} - ${at(Number(forecast.lowUsd))})`,
            }}
          />
          <div className={classes.expected} style={{ insetInlineStart: at(Number(forecast.expectedUsd)) }} />
        </>
      )}
      <div className={classes.limit} style={{ insetInlineStart: at(limit) }} />
    </div>
  )
}
