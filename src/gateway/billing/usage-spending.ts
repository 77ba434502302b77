import { Temporal } from 'temporal-polyfill'
import { type Clock, formatPicoUsd } from '../../platform/kernel/index.ts'
import type { UsageReport } from '../../contract/usage-reports.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { startOfDay } from './periods.ts'
import type { BudgetState } from './port.ts'
import { type Forecast, forecastSpend, historyDays, measureVelocity } from './usage-forecast.ts'
import type { UsageSubject } from './usage-range.ts'
import { renderBudget } from './usage-report.ts'
import { loadSpendingHistory } from './usage-reports.store.ts'

export interface SpendingDeps {
  database: Database
  clock: Clock
  loadBudget(organisation: Organisation): Promise<BudgetState>
}

const dayMs = 86_400_000

type Spending = Pick<UsageReport, 'budget' | 'forecast' | 'velocity'>

/** Budget, forecast and pace of the whole organisation, whatever the report is filtered by. */
export async function loadSpending(
  { database, clock, loadBudget }: SpendingDeps,
  { id, timeZone }: UsageSubject,
  budgeted: Organisation | undefined,
): Promise<Spending> {
  if (!budgeted) return { budget: null, forecast: null, velocity: null }
  const nowMs = clock.now()
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate()
  const firstDay = today.subtract({ days: historyDays })
  const [state, history] = await Promise.all([
    loadBudget(budgeted),
    loadSpendingHistory(database.for(id), id, firstDay.toString(), nowMs - (historyDays + 2) * dayMs),
  ])
  const spentOn = new Map(history.days.map(({ day, billedPicoUsd }) => [day, Number(billedPicoUsd)]))
  const since = history.firstDay === null ? today : Temporal.PlainDate.from(history.firstDay)
  const begin = Temporal.PlainDate.compare(since, firstDay) > 0 ? since : firstDay
  const complete = Math.max(0, begin.until(today).days)
  const days = Array.from({ length: complete }, (_, index) => {
    const day = begin.add({ days: index }).toString()
    return { day, spent: spentOn.get(day) ?? 0 }
  })
  const { period: _, organisationId: __, ...budget } = renderBudget(state)
  const money = { budget: Number(state.budgetPicoUsd), spent: Number(state.settledPicoUsd) }
  const { periodEndsAt } = state
  const forecast = forecastSpend({ nowMs, timeZone, periodEndsAt, ...money, days })
  const velocity = measureVelocity({
    nowMs,
    periodEndsAt,
    budget: money.budget,
    left: Math.max(0, money.budget - money.spent),
    slots: history.slots.map(({ startsAt, billedPicoUsd }) => ({ startsAt, spent: Number(billedPicoUsd) })),
    firstUsageMs: history.firstDay === null ? null : startOfDay(Temporal.PlainDate.from(history.firstDay), timeZone),
  })
  return {
    budget: { period: state.period, periodStartsAt: new Date(state.periodStartsAt).toISOString(), ...budget },
    forecast: forecast && { ...renderForecast(forecast), exhaustedOn: forecast.exhaustedOn },
    velocity: {
      level: velocity.level,
      lastHour: renderPace(velocity.lastHour),
      lastDay: renderPace(velocity.lastDay),
      exhaustedAt: velocity.exhaustedAtMs === null ? null : new Date(velocity.exhaustedAtMs).toISOString(),
    },
  }
}

export function renderForecast({ expected, low, high, historyDays: days }: Forecast) {
  return {
    expectedUsd: formatFloat(expected),
    lowUsd: formatFloat(low),
    highUsd: formatFloat(high),
    historyDays: days,
  }
}

function renderPace({ spent, usual }: { spent: number; usual: number | null }) {
  return {
    spentUsd: formatFloat(spent),
    usualUsd: usual === null ? null : formatFloat(usual),
    ratio: usual === null || usual === 0 ? null : Math.round((spent / usual) * 100) / 100,
  }
}

function formatFloat(picoUsd: number): string {
  return formatPicoUsd(BigInt(Math.round(picoUsd)))
}
