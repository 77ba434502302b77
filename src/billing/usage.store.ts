import type { OrganisationId, TokenCounts } from '../kernel/index.ts'
import type { Queryable } from '../database/index.ts'
import type { Surface } from './port.ts'

export interface UsageQuery {
  organisationId: OrganisationId
  /** Milliseconds since the epoch: from included, to not. Requests count where they began. */
  fromMs: number
  toMs: number
  timeZone: string
  byDay: boolean
  byModel: boolean
  bySurface: boolean
  bySpace: boolean
}

/** Fields of dimensions that were not asked for are null, as is the Space of calls outside of Spaces. */
export interface UsageSum extends TokenCounts {
  day: string | null
  model: string | null
  surface: Surface | null
  spaceId: string | null
  requests: number
  estimatedRequests: number
  billedPicoUsd: bigint
  writtenOffPicoUsd: bigint
}

export interface BudgetLeft {
  organisationId: string
  budgetPicoUsd: bigint
  leftPicoUsd: bigint
}

/**
 * What is left of the running periods, those with the smallest share left first, at most `limit`. From the counters of periods and
 * leases: calls in flight are not subtracted.
 */
export async function loadBudgetsLeft(
  database: Queryable,
  { nowMs, limit, timeoutMs }: { nowMs: number; limit: number; timeoutMs: number },
): Promise<BudgetLeft[]> {
  const rows = await database.query<{ organisation: string; budget: string; left: string }>(
    `select organisation_id as organisation, budget_pico_usd::text as budget,
       (budget_pico_usd - settled)::text as left
     from (
       select organisation_id, budget_pico_usd, settled_pico_usd + coalesce((
         select sum(lease.settled_pico_usd) from ledger_leases lease
         where lease.organisation_id = period.organisation_id and lease.period = period.period), 0) as settled
       from ledger_periods period where starts_at <= $1 and ends_at > $1
     ) running
     order by (budget_pico_usd - settled) / greatest(budget_pico_usd, 1)::numeric limit $2`,
    [new Date(nowMs), limit],
    { timeoutMs },
  )
  return rows.map(({ organisation, budget, left }) => ({
    organisationId: organisation,
    budgetPicoUsd: BigInt(budget),
    leftPicoUsd: BigInt(left.split('.')[0]!),
  }))
}

const reportTimeoutMs = 60_000

export async function loadUsageSums(database: Queryable, query: UsageQuery): Promise<UsageSum[]> {
  const rows = await database.query<Record<string, string | null>>(
    `select case when $5::bool then to_char(started_at at time zone $4::text, 'YYYY-MM-DD') end as day,
       case when $6::bool then model end as model, case when $7::bool then surface end as surface,
       case when $8::bool then space_id end as space_id,
       count(*)::text as requests, count(*) filter (where estimated)::text as estimated,
       sum(prompt_tokens)::text as prompt, sum(completion_tokens)::text as completion, sum(cached_tokens)::text as cached,
       sum(cache_write_tokens)::text as cache_write, sum(reasoning_tokens)::text as reasoning,
       sum(billed_pico_usd)::text as billed, sum(written_off_pico_usd)::text as written_off
     from ledger_entries where organisation_id = $1 and started_at >= $2 and started_at < $3
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    [
      query.organisationId,
      new Date(query.fromMs),
      new Date(query.toMs),
      query.timeZone,
      query.byDay,
      query.byModel,
      query.bySurface,
      query.bySpace,
    ],
    { timeoutMs: reportTimeoutMs },
  )
  return rows.map((row) => ({
    day: row['day'] ?? null,
    model: row['model'] ?? null,
    surface: (row['surface'] ?? null) as Surface | null,
    spaceId: row['space_id'] ?? null,
    requests: Number(row['requests']),
    estimatedRequests: Number(row['estimated']),
    promptTokens: Number(row['prompt']),
    completionTokens: Number(row['completion']),
    cachedTokens: Number(row['cached']),
    cacheWriteTokens: Number(row['cache_write']),
    reasoningTokens: Number(row['reasoning']),
    billedPicoUsd: BigInt(row['billed']!),
    writtenOffPicoUsd: BigInt(row['written_off']!),
  }))
}
