import type { Queryable } from '../../platform/database/index.ts'

/** What alerts read of the ledger. Bounded by the number of organisations; nothing reads entries. */

const timeoutMs = 10_000
const maximumRows = 500

export interface UsedBudget {
  organisationId: string
  name: string
  period: string
  budgetPicoUsd: bigint
  spentPicoUsd: bigint
}

/** Running periods of which at least `percent` of the budget is spent, those with the largest share first. */
export async function loadUsedBudgets(database: Queryable, nowMs: number, percent: number): Promise<UsedBudget[]> {
  const rows = await database.query<
    Omit<UsedBudget, 'budgetPicoUsd' | 'spentPicoUsd'> & { budget: string; spent: string }
  >(
    `select organisation_id::text as "organisationId", name, period, budget::text, spent::text from (
       select organisation_id, period, o.monthly_budget_pico_usd as budget, o.name, settled_pico_usd + coalesce((
         select sum(lease.settled_pico_usd) from ledger_leases lease
         where lease.organisation_id = p.organisation_id and lease.period = p.period), 0) as spent
       from ledger_periods p join organisations o on o.id = p.organisation_id
       where starts_at <= $1 and ends_at > $1 and o.monthly_budget_pico_usd > 0) as running
     where spent * 100 >= budget::numeric * $2::float8::numeric order by spent / budget desc, organisation_id limit ${maximumRows}`,
    [new Date(nowMs), percent],
    { timeoutMs },
  )
  return rows.map(({ budget, spent, ...row }) => ({
    ...row,
    budgetPicoUsd: BigInt(budget),
    spentPicoUsd: BigInt(spent.split('.')[0]!),
  }))
}

export interface FastSpender {
  organisationId: string
  name: string
  spentPicoUsd: bigint
  /** Mean of the same hour on the days before, at most 28. */
  usualPicoUsd: bigint
}

/**
 * Organisations whose last hour cost more than `ratio` times what this hour of the day usually costs, and more than 1 % of their budget. Those
 * with less than three days of history have no usual spend.
 */
export async function loadFastSpenders(database: Queryable, nowMs: number, ratio: number): Promise<FastSpender[]> {
  const rows = await database.query<{ organisationId: string; name: string; spent: string; usual: string }>(
    `with active as materialized (
       select o.id, o.name, s.spent from organisations o
       cross join lateral (
         select sum(billed_pico_usd) as spent from usage_slots
         where organisation_id = o.id and starts_at > $1::timestamptz - interval '1 hour' and starts_at <= $1) s
       where s.spent > o.monthly_budget_pico_usd::numeric / 100 order by s.spent desc limit ${maximumRows}
     ), compared as (
       select active.*, h.same_hour, least(28, floor(date_part('epoch', $1::timestamptz - h.first) / 86400 - 1.0 / 24))::int8 as days
       from active cross join lateral (
         select min(starts_at) as first, coalesce(sum(billed_pico_usd) filter (
           where starts_at <= $1::timestamptz - interval '23 hours'
             and starts_at > $1::timestamptz - interval '28 days 1 hour'
             and date_part('epoch', $1::timestamptz - starts_at)::int8 % 86400 < 3600), 0) as same_hour
         from usage_slots where organisation_id = active.id and starts_at <= $1) h
     )
     select id::text as "organisationId", name, spent::text, trunc(same_hour / days)::text as usual
     from compared where days >= 3 and spent > same_hour / days * $2::float8::numeric order by spent desc, id`,
    [new Date(nowMs), ratio],
    { timeoutMs },
  )
  return rows.map(({ spent, usual, ...row }) => ({
    ...row,
    spentPicoUsd: BigInt(spent.split('.')[0]!),
    usualPicoUsd: BigInt(usual.split('.')[0]!),
  }))
}

/** Records of journals that the database refused in the last 30 days; each is a bill that an operator must look at. At most 1,000. */
export async function countJournalRejects(database: Queryable): Promise<number> {
  const [row] = await database.query<{ rejects: bigint }>(
    `select count(*) as rejects from (
       select from ledger_journal_rejects where rejected_at > clock_timestamp() - interval '30 days' limit 1000) as found`,
    [],
    { timeoutMs },
  )
  return Number(row!.rejects)
}
