import type { OrganisationId, TokenCounts } from '../kernel/index.ts'
import type { Queryable } from '../database/index.ts'
import type { Surface } from './port.ts'
import { noSpace } from './usage-tables.ts'

export interface UsageQuery {
  organisationId: OrganisationId
  /** Milliseconds since the epoch: from included, to not. Requests count where they began. */
  /** First and last day, `YYYY-MM-DD`. */
  from: string
  to: string
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

/** From the sums of days. `isComplete` false: from the entries themselves, because older ones are not counted yet. */
export async function loadUsageSums(database: Queryable, query: UsageQuery, isComplete: boolean): Promise<UsageSum[]> {
  const sums =
    'requests, estimated_requests, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens'
  const figures = `${sums}, billed_pico_usd, written_off_pico_usd`
  const counted = query.bySpace
    ? `select day, model, surface, nullif(space_id, '${noSpace}') as space_id, ${figures} from usage_days`
    : `select day, model, surface, null::uuid as space_id, ${figures} from usage_model_days`
  const source = isComplete
    ? `${counted} where organisation_id = $1 and day between $2::date and $3::date`
    : `select (started_at at time zone $4::text)::date as day, model, surface, space_id, 1 as requests,
         case when estimated then 1 else 0 end as estimated_requests, ${sums.split(', ').slice(2).join(', ')},
         billed_pico_usd, written_off_pico_usd
       from ledger_entries where organisation_id = $1
         and started_at >= ($2::date)::timestamp at time zone $4::text and started_at < ($3::date + 1)::timestamp at time zone $4::text`
  const rows = await database.query<Record<string, string | null>>(
    `select case when $5::bool then to_char(day, 'YYYY-MM-DD') end as day,
       case when $6::bool then model end as model, case when $7::bool then surface end as surface,
       case when $8::bool then space_id end as space_id, ${sums
         .split(', ')
         .map((column) => `sum(${column})::text as ${column}`)
         .join(', ')},
       sum(billed_pico_usd)::text as billed, sum(written_off_pico_usd)::text as written_off
     from (${source}) as counted where $4::text is not null
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
    [
      query.organisationId,
      query.from,
      query.to,
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
    estimatedRequests: Number(row['estimated_requests']),
    promptTokens: Number(row['prompt_tokens']),
    completionTokens: Number(row['completion_tokens']),
    cachedTokens: Number(row['cached_tokens']),
    cacheWriteTokens: Number(row['cache_write_tokens']),
    reasoningTokens: Number(row['reasoning_tokens']),
    billedPicoUsd: BigInt(row['billed']!),
    writtenOffPicoUsd: BigInt(row['written_off']!),
  }))
}
