import type { OrganisationId } from '../../platform/kernel/index.ts'
import { columnsOf, type Queryable } from '../../platform/database/index.ts'

/** Parts of the budget that raise an event, in per cent. */
const thresholdPercents = [80, 100] as const

/** A period in which something was billed, or refused for want of budget. */
export interface ThresholdCheck {
  organisationId: OrganisationId
  period: string
  budgetPicoUsd: bigint
  refused: boolean
}

export interface ReachedThreshold {
  organisationId: OrganisationId
  period: string
  percent: number
  budgetPicoUsd: bigint
  settledPicoUsd: bigint
}

/** From this percentage on a refusal means that the credits are used up. Below it, the call was too large. */
const usedUpPercent = 99

/** Records the thresholds that are reached, and returns the new ones: each once per period. */
export function recordReached(transaction: Queryable, checks: readonly ThresholdCheck[]): Promise<ReachedThreshold[]> {
  return transaction.query<ReachedThreshold>(
    `with spent as materialized (
       select k.organisation_id, k.period, k.budget, k.refused,
         coalesce(p.settled_pico_usd, 0) + coalesce((
           select sum(settled_pico_usd) from ledger_leases l
           where l.organisation_id = k.organisation_id and l.period = k.period), 0)::int8 as settled
       from unnest($1::uuid[], $2::text[], $3::int8[], $4::bool[]) as k (organisation_id, period, budget, refused)
       join ledger_periods p on p.organisation_id = k.organisation_id and p.period = k.period
     ), recorded as (
       insert into ledger_thresholds (organisation_id, period, percent)
       select organisation_id, period, percent from spent cross join unnest($5::int4[]) as percent
       where budget > 0 and (settled::numeric * 100 >= budget::numeric * percent
         or percent = 100 and refused and settled::numeric * 100 >= budget::numeric * $6::int4)
       on conflict do nothing
       returning organisation_id, period, percent)
     select r.organisation_id as "organisationId", r.period, r.percent, s.budget as "budgetPicoUsd", s.settled as "settledPicoUsd"
     from recorded r join spent s on s.organisation_id = r.organisation_id and s.period = r.period
     order by r.organisation_id, r.period, r.percent`,
    [
      ...columnsOf(checks, 'organisationId', 'period', 'budgetPicoUsd', 'refused'),
      [...thresholdPercents],
      usedUpPercent,
    ],
  )
}

/** Running periods with a budget, for the check at start: a crash may have prevented the event of a bill. */
export function loadRunningPeriods(database: Queryable, nowMs: number): Promise<ThresholdCheck[]> {
  return database.query<ThresholdCheck>(
    `select organisation_id as "organisationId", period, budget_pico_usd as "budgetPicoUsd", false as refused from ledger_periods
     where ends_at > $1 and budget_pico_usd > 0`,
    [new Date(nowMs)],
  )
}
