import type { Queryable } from '../database/index.ts'
import { noSpace } from './usage-tables.ts'

/** Queries of usage reports, all over sums of days. Bounded by the number of days and of different models, Spaces and tag values. */

export interface UsageFilter {
  organisationId: string
  /** First and last day, `YYYY-MM-DD`. */
  from: string
  to: string
  model: string | null
  surface: string | null
  /** `noSpace` for calls outside of Spaces. */
  spaceId: string | null
}

export interface UsageFigures {
  requests: number
  failed: number
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  reasoningTokens: number
  billedPicoUsd: bigint
}

export interface ValueFigures extends UsageFigures {
  value: string | null
}

type StoredFigures = Record<Exclude<keyof UsageFigures, 'billedPicoUsd'> | 'billed', string | null>

/** sum() of int8 is numeric; its text has no decimals. */
const sums = `sum(requests)::text as requests, sum(failed_requests)::text as failed, sum(prompt_tokens)::text as "promptTokens",
  sum(completion_tokens)::text as "completionTokens", sum(cached_tokens)::text as "cachedTokens",
  sum(reasoning_tokens)::text as "reasoningTokens", sum(billed_pico_usd)::text as billed`

function figuresOf(row: StoredFigures): UsageFigures {
  return {
    requests: Number(row.requests ?? 0),
    failed: Number(row.failed ?? 0),
    promptTokens: Number(row.promptTokens ?? 0),
    completionTokens: Number(row.completionTokens ?? 0),
    cachedTokens: Number(row.cachedTokens ?? 0),
    reasoningTokens: Number(row.reasoningTokens ?? 0),
    billedPicoUsd: BigInt(row.billed ?? 0),
  }
}

/** Where a report reads: all calls, or those with one tag. */
export type UsageSource = { kind: 'all' } | { kind: 'tag'; tagId: bigint }

const figureColumns =
  'requests, failed_requests, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, billed_pico_usd'

/** Rows (day, model, surface, space_id, …sums) that pass the filter, and its parameters $1 to $7. */
function sourceOf(source: UsageSource, filter: UsageFilter, split?: ColumnSplit) {
  const { organisationId, from, to, model, surface, spaceId } = filter
  const parameters = [organisationId, from, to, model, surface, spaceId, source.kind === 'tag' ? source.tagId : 0n]
  const passes = `day between $2::date and $3::date and ($4::text is null or model = $4)
    and ($5::text is null or surface = $5) and ($6::uuid is null or space_id = $6) and $7::int8 is not null`
  const isBySpace = spaceId !== null || split === 'space'
  const withoutSpace = `'${noSpace}'::uuid as space_id`
  const relation =
    source.kind === 'tag'
      ? // Only completions of the gateway have tags.
        `select day, model, 'gateway' as surface, ${withoutSpace}, ${figureColumns}
           from usage_tag_days where organisation_id = $1 and tag_id = $7 and day between $2::date and $3::date`
      : isBySpace
        ? 'select * from usage_days where organisation_id = $1'
        : `select day, model, surface, ${withoutSpace}, ${figureColumns} from usage_model_days where organisation_id = $1`
  return {
    rows: `select day, model, surface, space_id, ${figureColumns} from (${relation}) as kept where ${passes}`,
    parameters,
  }
}

export type ColumnSplit = 'model' | 'surface' | 'space'

const columnOf: Record<ColumnSplit, string> = {
  model: 'model',
  surface: 'surface',
  space: `nullif(space_id, '${noSpace}')::text`,
}

export interface SplitSums {
  totals: UsageFigures
  days: Map<string, UsageFigures>
  values: ValueFigures[]
}

/** Totals, days, and the values of the split in any order. */
export async function loadSplitSums(
  database: Queryable,
  source: UsageSource,
  filter: UsageFilter,
  split: ColumnSplit,
): Promise<SplitSums> {
  const { rows: relation, parameters } = sourceOf(source, filter, split)
  const rows = await database.query<StoredFigures & { kind: number; day: string | null; value: string | null }>(
    `select grouping(day, value) as kind, to_char(day, 'YYYY-MM-DD') as day, value, ${sums}
     from (select *, ${columnOf[split]} as value from (${relation}) passing) valued group by grouping sets ((), (day), (value))`,
    parameters,
  )
  const result: SplitSums = { totals: figuresOf({} as StoredFigures), days: new Map(), values: [] }
  for (const row of rows) {
    if (row.kind === 3) result.totals = figuresOf(row)
    else if (row.kind === 1) result.days.set(row.day!, figuresOf(row))
    else result.values.push({ value: row.value, ...figuresOf(row) })
  }
  return result
}

export async function loadTotals(database: Queryable, source: UsageSource, filter: UsageFilter): Promise<UsageFigures> {
  const { rows: relation, parameters } = sourceOf(source, filter)
  const [row] = await database.query<StoredFigures>(`select ${sums} from (${relation}) passing`, parameters)
  return figuresOf(row!)
}

export interface DayPart {
  day: string
  value: string | null
  requests: number
  billedPicoUsd: bigint
}

type StoredPart = { day: string; value: string | null; requests: string; billed: string }

const partOf = ({ day, value, requests, billed }: StoredPart): DayPart => ({
  day,
  value,
  requests: Number(requests),
  billedPicoUsd: BigInt(billed),
})

/** The days of these values; null is the value of calls outside of Spaces. */
export async function loadDayParts(
  database: Queryable,
  source: UsageSource,
  filter: UsageFilter,
  split: ColumnSplit,
  values: readonly (string | null)[],
): Promise<DayPart[]> {
  const { rows: relation, parameters } = sourceOf(source, filter, split)
  const rows = await database.query<StoredPart>(
    `select to_char(day, 'YYYY-MM-DD') as day, value, sum(requests)::text as requests, sum(billed_pico_usd)::text as billed
     from (select *, ${columnOf[split]} as value from (${relation}) passing) valued
     where value = any($8::text[]) or ($9::bool and value is null) group by 1, 2`,
    [...parameters, values.filter((value) => value !== null), values.includes(null)],
  )
  return rows.map(partOf)
}

/** The tag of a value; undefined if no call has it. */
export async function findTag(
  database: Queryable,
  organisationId: string,
  key: string,
  value: string,
): Promise<bigint | undefined> {
  const [row] = await database.query<{ tagId: bigint }>(
    'select tag_id as "tagId" from usage_tags where organisation_id = $1 and key = $2 and value = $3',
    [organisationId, key, value],
  )
  return row?.tagId
}

export interface TagSums {
  /** Highest cost first. `value` null: values above the limit of different values per day. */
  values: (ValueFigures & { tagId: bigint })[]
  /** Of all values. */
  totals: UsageFigures
  different: number
}

/** Sums of tags without models have far fewer rows. */
const tagTableOf = (model: string | null) => (model === null ? 'usage_tag_sums' : 'usage_tag_days')
const modelIs = (model: string | null) => (model === null ? '$4::text is null' : 'model = $4::text')

/** The values of a key with the highest cost, at most `limit`. */
export async function loadTagSums(
  database: Queryable,
  { organisationId, from, to, model }: UsageFilter,
  key: string,
  limit: number,
): Promise<TagSums> {
  const rows = await database.query<StoredFigures & { tagId: bigint | null; value: string | null; different: string }>(
    `with summed as materialized (
       select tag_id, sum(requests) as requests, sum(failed_requests) as failed_requests, sum(prompt_tokens) as prompt_tokens,
         sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(reasoning_tokens) as reasoning_tokens,
         sum(billed_pico_usd) as billed_pico_usd
       from ${tagTableOf(model)} where organisation_id = $1 and key = $5 and day between $2::date and $3::date and ${modelIs(model)}
       group by tag_id
     ), best as (select * from summed order by billed_pico_usd desc, requests desc, tag_id limit $6)
     select b.tag_id as "tagId", t.value, (select count(*) from summed where tag_id <> 0)::text as different,
       b.requests::text, b.failed_requests::text as failed, b.prompt_tokens::text as "promptTokens",
       b.completion_tokens::text as "completionTokens", b.cached_tokens::text as "cachedTokens",
       b.reasoning_tokens::text as "reasoningTokens", b.billed_pico_usd::text as billed
     from best b left join usage_tags t using (tag_id)
     union all select null, null, count(*)::text, ${sums} from summed`,
    [organisationId, from, to, model, key, limit],
  )
  const total = rows.find(({ tagId }) => tagId === null)!
  return {
    values: rows.flatMap((row) =>
      row.tagId === null ? [] : [{ tagId: row.tagId, value: row.value, ...figuresOf(row) }],
    ),
    totals: figuresOf(total),
    different: Number(rows.find(({ tagId }) => tagId !== null)?.different ?? 0),
  }
}

/** The days of these tags; `value` is the id of the tag. */
export async function loadTagDayParts(
  database: Queryable,
  { organisationId, from, to, model }: UsageFilter,
  tagIds: readonly bigint[],
): Promise<DayPart[]> {
  const rows = await database.query<StoredPart>(
    `select to_char(day, 'YYYY-MM-DD') as day, tag_id::text as value, sum(requests)::text as requests, sum(billed_pico_usd)::text as billed
     from ${tagTableOf(model)} where organisation_id = $1 and tag_id = any($5::int8[]) and day between $2::date and $3::date
       and ${modelIs(model)} group by 1, 2`,
    [organisationId, from, to, model, tagIds],
  )
  return rows.map(partOf)
}

/** The durations of a day or of a model: counts by bucket. */
export interface LatencyCounts {
  day: string | null
  model: string | null
  buckets: number[]
  firstTokens: number[]
  totals: number[]
}

/** Histograms of completions, or of the filter's surface, by day and by model: the other one is null. */
export function loadLatency(database: Queryable, filter: UsageFilter): Promise<LatencyCounts[]> {
  const { organisationId, from, to, model, surface } = filter
  // One row for each histogram: thousands of rows take longer to transfer than to sum up.
  return database.query<LatencyCounts>(
    `select to_char(day, 'YYYY-MM-DD') as day, model, array_agg(bucket) as buckets, array_agg(first_tokens::float8) as "firstTokens",
       array_agg(totals::float8) as totals
     from (
       select day, model, bucket, sum(first_tokens) as first_tokens, sum(totals) as totals
       from usage_latency_days where organisation_id = $1 and day between $2::date and $3::date and ($4::text is null or model = $4)
         and (case when $5::text is null then surface <> 'embeddings' else surface = $5 end)
       group by grouping sets ((day, bucket), (model, bucket))) as counted
     group by day, model`,
    [organisationId, from, to, model, surface],
  )
}

export interface FailureCount {
  day: string | null
  model: string | null
  code: string | null
  refused: boolean
  requests: number
}

/** Failed and refused calls, by day, by model and by code: the other two are null. The model of some refused calls is empty. */
export async function loadFailures(database: Queryable, filter: UsageFilter): Promise<FailureCount[]> {
  const { organisationId, from, to, model, surface } = filter
  const rows = await database.query<Omit<FailureCount, 'requests'> & { requests: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, model, code, refused, sum(requests)::text as requests
     from usage_failures where organisation_id = $1 and day between $2::date and $3::date and ($4::text is null or model = $4)
       and ($5::text is null or surface = $5)
     group by grouping sets ((day, refused), (model, refused), (code, refused))`,
    [organisationId, from, to, model, surface],
  )
  return rows.map((row) => ({ ...row, requests: Number(row.requests) }))
}

export interface UsageOptions {
  models: string[]
  spaceIds: string[]
  tagKeys: string[]
}

/** What the calls of a range can be filtered by, at most `limit` of each. */
export async function loadOptions(database: Queryable, filter: UsageFilter, limit: number): Promise<UsageOptions> {
  const [row] = await database.query<UsageOptions>(
    `select array(select distinct model from usage_model_days where organisation_id = $1 and day between $2::date and $3::date
         order by 1 limit $4) as models,
       array(select space_id::text from usage_spaces where organisation_id = $1 order by space_id desc limit $4) as "spaceIds",
       array(select key from usage_tag_keys where organisation_id = $1 order by key) as "tagKeys"`,
    [filter.organisationId, filter.from, filter.to, limit],
  )
  return row!
}

export interface SpendingHistory {
  /** Days with usage, oldest first. */
  days: { day: string; billedPicoUsd: bigint }[]
  slots: { startsAt: number; billedPicoUsd: bigint }[]
  firstDay: string | null
}

/** The spending before now: by day from `fromDay`, by quarter hour from `slotsFromMs`. */
export async function loadSpendingHistory(
  database: Queryable,
  organisationId: string,
  fromDay: string,
  slotsFromMs: number,
): Promise<SpendingHistory> {
  const [days, slots] = await Promise.all([
    database.query<{ day: string | null; billed: string; first: string | null }>(
      `select to_char(day, 'YYYY-MM-DD') as day, sum(billed_pico_usd)::text as billed, null as first
       from usage_model_days where organisation_id = $1 and day >= $2::date group by 1
       union all select null, '0', to_char(min(day), 'YYYY-MM-DD') from usage_model_days where organisation_id = $1 order by 1 nulls last`,
      [organisationId, fromDay],
    ),
    database.query<{ at: Date; billed: bigint }>(
      'select starts_at as at, billed_pico_usd as billed from usage_slots where organisation_id = $1 and starts_at >= $2',
      [organisationId, new Date(slotsFromMs)],
    ),
  ])
  return {
    days: days.flatMap(({ day, billed }) => (day === null ? [] : [{ day, billedPicoUsd: BigInt(billed) }])),
    slots: slots.map(({ at, billed }) => ({ startsAt: at.getTime(), billedPicoUsd: billed })),
    firstDay: days.find(({ first }) => first !== null)?.first ?? null,
  }
}
