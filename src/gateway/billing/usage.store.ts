import { type UsageDimension, usageDimensions } from '../../contract/usage.ts'
import type { OrganisationId, TokenCounts } from '../../platform/kernel/index.ts'
import type { Queryable, SqlValue } from '../../platform/database/index.ts'
import type { Surface } from './port.ts'
import { coverDays, loadClosedTo, withSpans } from './usage-spans.store.ts'
import { noSpace } from './usage-tables.ts'

export interface UsageQuery {
  organisationId: OrganisationId
  /** Consecutive days, `YYYY-MM-DD`, in the zone. Requests count where they began. */
  days: readonly string[]
  timeZone: string
  by: readonly UsageDimension[]
  /** Only sums after this one. */
  after?: UsageKey | undefined
  limit: number
}

/** The place of a sum: its values of the dimensions in `by`, in the order of `usageDimensions`. */
export type UsageKey = readonly string[]

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

export interface UsagePage {
  rows: readonly UsageSum[]
  /** The place of the last row; undefined: no more rows follow. */
  next: UsageKey | undefined
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

const columnOf: Record<UsageDimension, { name: string; type: string }> = {
  day: { name: 'day', type: 'date' },
  model: { name: 'model', type: 'text' },
  surface: { name: 'surface', type: 'text' },
  space: { name: 'space_id', type: 'uuid' },
}
const counts = [
  'requests',
  'estimated_requests',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const
const figures = `${counts.join(', ')}, billed_pico_usd, written_off_pico_usd`

/** Sums of nothing are null. */
type StoredSum = Record<(typeof counts)[number], number | null> &
  Partial<Record<'day' | 'model' | 'surface' | 'space_id', string>> &
  Record<'billed' | 'written_off', string | null>

/**
 * Sums in the order of their keys, at most `limit`. `isComplete` false: from the entries themselves, because older ones are not counted
 * yet. Otherwise the index has the order of days, so that a page by day reads its own days only.
 */
async function loadUsageSums(database: Queryable, query: UsageQuery, isComplete: boolean): Promise<UsageSum[]> {
  const { rows: relation, parameters } = isComplete ? await countedRows(database, query) : enteredRows(query)
  const columns = inOrder(query.by).map((dimension) => columnOf[dimension])
  const keys = columns.map(({ name }) => `passing.${name}`).join(', ')
  const after = query.after ?? []
  const places = after.map((_, index) => `$${parameters.length + index + 2}::${columns[index]!.type}`)
  const rows = await database.query<StoredSum>(
    `select ${columns.map(({ name }) => `passing.${name}::text, `).join('')}
       ${counts.map((column) => `sum(${column}::float8) as ${column}`).join(', ')},
       sum(billed_pico_usd)::text as billed, sum(written_off_pico_usd)::text as written_off
     from (${relation}) as passing ${after.length > 0 ? `where (${keys}) > (${places.join(', ')})` : ''}
     ${keys === '' ? '' : `group by ${keys} order by ${keys}`} limit $${parameters.length + 1}`,
    [...parameters, query.limit, ...after],
    { timeoutMs: reportTimeoutMs },
  )
  return rows.map(sumOf)
}

export async function loadUsagePage(database: Queryable, query: UsageQuery, isComplete: boolean): Promise<UsagePage> {
  const sums = await loadUsageSums(database, { ...query, limit: query.limit + 1 }, isComplete)
  const rows = sums.slice(0, query.limit)
  return { rows, next: sums.length > rows.length ? keyOf(rows.at(-1)!, query.by) : undefined }
}

export async function loadUsageTotals(
  database: Queryable,
  query: Omit<UsageQuery, 'by' | 'limit'>,
  isComplete: boolean,
): Promise<UsageSum> {
  const [totals] = await loadUsageSums(database, { ...query, by: [], after: undefined, limit: 1 }, isComplete)
  return totals!
}

function keyOf(sum: UsageSum, by: readonly UsageDimension[]): UsageKey {
  const { day, model, surface, spaceId } = sum
  const values = { day, model, surface, space: spaceId ?? noSpace }
  return inOrder(by).map((dimension) => values[dimension]!)
}

export function inOrder(by: readonly UsageDimension[]): UsageDimension[] {
  return usageDimensions.filter((dimension) => by.includes(dimension))
}

interface Relation {
  rows: string
  parameters: SqlValue[]
}

async function countedRows(database: Queryable, { organisationId, days, by }: UsageQuery): Promise<Relation> {
  const bySpace = by.includes('space')
  const [dayTable, spanTable] = bySpace ? ['usage_days', 'usage_spans'] : ['usage_model_days', 'usage_model_spans']
  const columns = `model, surface, ${bySpace ? 'space_id, ' : ''}${figures}`
  if (by.includes('day')) {
    return {
      rows: `select day, ${columns} from ${dayTable} where organisation_id = $1 and day between $2::date and $3::date`,
      parameters: [organisationId, days[0]!, days.at(-1)!],
    }
  }
  const covered = coverDays(days, await loadClosedTo(database))
  return { rows: withSpans(columns, dayTable, spanTable), parameters: [organisationId, covered.days, covered.spans] }
}

function enteredRows({ organisationId, days, timeZone }: UsageQuery): Relation {
  return {
    rows: `select (started_at at time zone $4::text)::date as day, model, surface, coalesce(space_id, '${noSpace}') as space_id,
         1 as requests, case when estimated then 1 else 0 end as estimated_requests, ${counts.slice(2).join(', ')},
         billed_pico_usd, written_off_pico_usd
       from ledger_entries where organisation_id = $1
         and started_at >= ($2::date)::timestamp at time zone $4::text and started_at < ($3::date + 1)::timestamp at time zone $4::text`,
    parameters: [organisationId, days[0]!, days.at(-1)!, timeZone],
  }
}

function sumOf(row: StoredSum): UsageSum {
  return {
    day: row.day ?? null,
    model: row.model ?? null,
    surface: (row.surface ?? null) as Surface | null,
    spaceId: row.space_id === undefined || row.space_id === noSpace ? null : row.space_id,
    requests: row.requests ?? 0,
    estimatedRequests: row.estimated_requests ?? 0,
    promptTokens: row.prompt_tokens ?? 0,
    completionTokens: row.completion_tokens ?? 0,
    cachedTokens: row.cached_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
    billedPicoUsd: BigInt(row.billed ?? 0),
    writtenOffPicoUsd: BigInt(row.written_off ?? 0),
  }
}
