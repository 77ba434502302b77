import type { Queryable, SqlValue } from '../../platform/database/index.ts'
import { coverDays, withSpans } from './usage-spans.store.ts'
import { noSpace, otherTags } from './usage-tables.ts'

/**
 * Queries of usage reports over sums of days and of spans. What is needed for each day is read from the days, everything else from spans
 * where they are closed. Bounded by the number of days or spans, and of different models, Spaces and tag values in each.
 */

export interface UsageFilter {
  organisationId: string
  /** Consecutive days, `YYYY-MM-DD`. */
  days: readonly string[]
  /** Spans that end before this day are closed. */
  closedTo: string
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

type StoredFigures = Record<Exclude<keyof UsageFigures, 'billedPicoUsd'>, number | null> & { billed: string | null }

/** Sums of floats are exact below 2^53, as are the numbers that they become, and take a third of the time. Money is exact without a limit. */
const sums = `sum(requests::float8) as requests, sum(failed_requests::float8) as failed, sum(prompt_tokens::float8) as "promptTokens",
  sum(completion_tokens::float8) as "completionTokens", sum(cached_tokens::float8) as "cachedTokens",
  sum(reasoning_tokens::float8) as "reasoningTokens", sum(billed_pico_usd) as billed`
const totalSums = `sum(requests), sum(failed), sum("promptTokens"), sum("completionTokens"), sum("cachedTokens"), sum("reasoningTokens"),
  sum(billed)::text`
const sumNames = 'requests, failed, "promptTokens", "completionTokens", "cachedTokens", "reasoningTokens", billed::text'

function figuresOf(row: StoredFigures): UsageFigures {
  return {
    requests: row.requests ?? 0,
    failed: row.failed ?? 0,
    promptTokens: row.promptTokens ?? 0,
    completionTokens: row.completionTokens ?? 0,
    cachedTokens: row.cachedTokens ?? 0,
    reasoningTokens: row.reasoningTokens ?? 0,
    billedPicoUsd: BigInt(row.billed ?? 0),
  }
}

/** Where a report reads: all calls, or those with one tag. */
export type UsageSource = { kind: 'all' } | { kind: 'tag'; tagId: bigint }

export type UsageColumn = 'model' | 'surface' | 'space'

const columnOf: Record<UsageColumn, string> = { model: 'model', surface: 'surface', space: 'space_id' }
const figureColumns =
  'requests, failed_requests, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, billed_pico_usd'

/** Rows (model, surface, space_id, …figures) that pass a filter. */
interface Relation {
  /** Uses $1 to $7. */
  rows: string
  parameters: SqlValue[]
}

const passes = `($4::text is null or model = $4) and ($5::text is null or surface = $5) and ($6::uuid is null or space_id = $6)
  and $7::int8 is not null`
const withoutSpace = `'${noSpace}'::uuid as space_id`

/** One row for each day, with its `day`. `needed`: the column that a report is split by. */
function dayRows(source: UsageSource, filter: UsageFilter, needed?: UsageColumn): Relation {
  const { organisationId, days, model, surface, spaceId } = filter
  const relation =
    source.kind === 'tag'
      ? // Only completions of the gateway have tags.
        `select day, model, 'gateway' as surface, ${withoutSpace}, ${figureColumns} from usage_tag_days
           where organisation_id = $1 and tag_id = $7`
      : spaceId !== null || needed === 'space'
        ? `select day, model, surface, space_id, ${figureColumns} from usage_days where organisation_id = $1`
        : `select day, model, surface, ${withoutSpace}, ${figureColumns} from usage_model_days where organisation_id = $1`
  const tagId = source.kind === 'tag' ? source.tagId : 0n
  return {
    rows: `select * from (${relation}) as kept where day between $2::date and $3::date and ${passes}`,
    parameters: [organisationId, days[0]!, days.at(-1)!, model, surface, spaceId, tagId],
  }
}

/** Rows of spans, and of the days that are not in one. */
function sumRows(source: UsageSource, filter: UsageFilter, needed?: UsageColumn): Relation {
  const { organisationId, model, surface, spaceId } = filter
  // The days of one tag and of one Space have an index.
  if (source.kind === 'tag' || spaceId !== null) return dayRows(source, filter, needed)
  const covered = coverDays(filter.days, filter.closedTo)
  const [days, spans] = needed === 'space' ? ['usage_days', 'usage_spans'] : ['usage_model_days', 'usage_model_spans']
  const columns = `model, surface, ${needed === 'space' ? 'space_id' : withoutSpace}, ${figureColumns}`
  return {
    rows: `select * from (${withSpans(columns, days, spans)}) as kept where ${passes}`,
    parameters: [organisationId, covered.days, covered.spans, model, surface, spaceId, 0n],
  }
}

export interface ValueFigures extends UsageFigures {
  /** A model, a surface, a Space or the id of a tag. */
  value: string
}

export interface TopValues {
  totals: UsageFigures
  /** Highest cost first. */
  values: ValueFigures[]
  different: number
}

/** The values of a column with the highest cost, at most `limit`. `noSpace` is a value. */
export function loadTopValues(
  database: Queryable,
  source: UsageSource,
  filter: UsageFilter,
  column: UsageColumn,
  limit: number,
): Promise<TopValues> {
  return loadTop(database, sumRows(source, filter, column), columnOf[column], limit)
}

async function loadTop(
  database: Queryable,
  relation: Relation,
  value: string,
  limit: number,
  isNamed = 'true',
): Promise<TopValues> {
  const place = relation.parameters.length + 1
  const rows = await database.query<StoredFigures & { value: string | null; different: string | null }>(
    `with summed as materialized (select ${value} as value, ${sums} from (${relation.rows}) as passing group by 1)
     (select value::text, null as different, ${sumNames} from summed where ${isNamed}
      order by summed.billed desc, summed.requests desc, summed.value limit $${place})
     union all
     select null, (count(*) filter (where ${isNamed}))::text, ${totalSums} from summed`,
    [...relation.parameters, limit],
  )
  const total = rows.find(({ value: of }) => of === null)!
  return {
    totals: figuresOf(total),
    values: rows.flatMap((row) => (row.value === null ? [] : [{ value: row.value, ...figuresOf(row) }])),
    different: Number(total.different),
  }
}

export async function loadTotals(database: Queryable, source: UsageSource, filter: UsageFilter): Promise<UsageFigures> {
  const { rows: relation, parameters } = sumRows(source, filter)
  const [row] = await database.query<StoredFigures>(
    `select ${sumNames} from (select ${sums} from (${relation}) as passing) as summed`,
    parameters,
  )
  return figuresOf(row!)
}

/** What a chart shows of a day. */
export interface DayFigures {
  requests: number
  billedPicoUsd: bigint
}

export interface DayPart extends DayFigures {
  day: string
  value: string
}

type StoredPart = { day: string; value: string; requests: number; billed: string }

const partOf = ({ billed, ...part }: StoredPart): DayPart => ({ ...part, billedPicoUsd: BigInt(billed) })
const partSums = 'sum(requests::float8) as requests, sum(billed_pico_usd)::text as billed'

/** The days with calls. */
export async function loadDays(
  database: Queryable,
  source: UsageSource,
  filter: UsageFilter,
): Promise<Map<string, DayFigures>> {
  const { rows: relation, parameters } = dayRows(source, filter)
  const rows = await database.query<Omit<StoredPart, 'value'>>(
    `select to_char(day, 'YYYY-MM-DD') as day, ${partSums} from (${relation}) as passing group by passing.day`,
    parameters,
  )
  return new Map(rows.map(({ day, requests, billed }) => [day, { requests, billedPicoUsd: BigInt(billed) }]))
}

/** The days of these values. */
export async function loadDayParts(
  database: Queryable,
  source: UsageSource,
  filter: UsageFilter,
  column: UsageColumn,
  values: readonly string[],
): Promise<DayPart[]> {
  const { rows: relation, parameters } = dayRows(source, filter, column)
  const name = columnOf[column]
  const rows = await database.query<StoredPart>(
    `select to_char(day, 'YYYY-MM-DD') as day, ${name}::text as value, ${partSums} from (${relation}) as passing
     where ${name} = any($8::${column === 'space' ? 'uuid' : 'text'}[]) group by passing.day, passing.${name}`,
    [...parameters, values],
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

/** The text of tags by their id. */
export async function loadTagValues(database: Queryable, tagIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await database.query<{ id: string; value: string }>(
    'select tag_id::text as id, value from usage_tags where tag_id = any($1::int8[])',
    [tagIds],
  )
  return new Map(rows.map(({ id, value }) => [id, value]))
}

/** The tags of a key with the highest cost, at most `limit`. Values above the limit of different values count in the totals only. */
export function loadTopTags(
  database: Queryable,
  { organisationId, days, closedTo, model }: UsageFilter,
  key: string,
  limit: number,
): Promise<TopValues> {
  const covered = coverDays(days, closedTo)
  const columns = `tag_id, ${figureColumns}`
  // Sums of tags without models have far fewer rows.
  const rows =
    model === null
      ? withSpans(columns, 'usage_tag_sums', 'usage_tag_spans', 'key = $5::text and $4::text is null')
      : withSpans(columns, 'usage_tag_days', 'usage_tag_model_spans', 'key = $5::text and model = $4::text')
  const parameters = [organisationId, covered.days, covered.spans, model, key]
  return loadTop(database, { rows, parameters }, 'tag_id', limit, `summed.value <> ${otherTags}`)
}

/** The days of these tags; `value` is the id of the tag. */
export async function loadTagDayParts(
  database: Queryable,
  { organisationId, days, model }: UsageFilter,
  tagIds: readonly string[],
): Promise<DayPart[]> {
  const rows = await database.query<StoredPart>(
    `select to_char(day, 'YYYY-MM-DD') as day, tag_id::text as value, ${partSums}
     from ${model === null ? 'usage_tag_sums' : 'usage_tag_days'}
     where organisation_id = $1 and tag_id = any($5::int8[]) and day between $2::date and $3::date
       and ($4::text is null or ${model === null ? 'true' : 'model = $4'}) group by day, tag_id`,
    [organisationId, days[0]!, days.at(-1)!, model, tagIds],
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

const histogram = `array_agg(bucket) as buckets, array_agg(first_tokens) as "firstTokens", array_agg(totals) as totals`
const histogramSums = 'sum(first_tokens::float8) as first_tokens, sum(totals::float8) as totals'

/** Histograms of completions, or of the filter's surface, by day and by model: the other one is null. */
export async function loadLatency(database: Queryable, filter: UsageFilter): Promise<LatencyCounts[]> {
  const { organisationId, days, closedTo, model, surface } = filter
  const covered = coverDays(days, closedTo)
  const passes = `($4::text is null or model = $4) and (case when $5::text is null then surface <> 'embeddings' else surface = $5 end)`
  const measured = 'first_tokens, totals'
  // Days without models have far fewer rows.
  const openDays = model === null ? days.filter((day) => day >= closedTo) : days
  const closedDays = model === null ? days.filter((day) => day < closedTo) : []
  // One row for each histogram: thousands of rows take longer to transfer than to sum up.
  const [byDay, byModel] = await Promise.all([
    database.query<Omit<LatencyCounts, 'model'>>(
      `select to_char(day, 'YYYY-MM-DD') as day, ${histogram} from (
         select day, bucket, ${histogramSums} from (
           select day, model, surface, bucket, ${measured} from usage_latency_days where organisation_id = $1 and day = any($2::date[])
           union all select day, $4::text, surface, bucket, ${measured} from usage_latency_day_sums
             where organisation_id = $1 and day = any($3::date[])) as kept
         where ${passes} group by day, bucket) as counted
       group by counted.day`,
      [organisationId, openDays, closedDays, model, surface],
    ),
    database.query<Omit<LatencyCounts, 'day'>>(
      `select model, ${histogram} from (
         select model, bucket, ${histogramSums}
         from (${withSpans(`model, surface, bucket, ${measured}`, 'usage_latency_days', 'usage_latency_spans')}) as kept
         where ${passes} group by model, bucket) as counted
       group by model`,
      [organisationId, covered.days, covered.spans, model, surface],
    ),
  ])
  return [...byDay.map((row) => ({ ...row, model: null })), ...byModel.map((row) => ({ ...row, day: null }))]
}

export interface FailureCount {
  day: string | null
  model: string | null
  code: string | null
  refused: boolean
  requests: number
}

/** Failed and refused calls, by day, and by model and code: the other is null. The model of some refused calls is empty. */
export function loadFailures(database: Queryable, filter: UsageFilter): Promise<FailureCount[]> {
  const { organisationId, days, model, surface } = filter
  return database.query<FailureCount>(
    `select to_char(day, 'YYYY-MM-DD') as day, model, code, refused, sum(requests::float8) as requests
     from usage_failures where organisation_id = $1 and day between $2::date and $3::date and ($4::text is null or model = $4)
       and ($5::text is null or surface = $5)
     group by grouping sets ((day, refused), (model, code, refused))`,
    [organisationId, days[0]!, days.at(-1)!, model, surface],
  )
}

export interface UsageOptions {
  models: string[]
  spaceIds: string[]
  tagKeys: string[]
}

/** What the calls of a range can be filtered by, at most `limit` of each. */
export async function loadOptions(database: Queryable, filter: UsageFilter, limit: number): Promise<UsageOptions> {
  const covered = coverDays(filter.days, filter.closedTo)
  const [row] = await database.query<UsageOptions>(
    `select array(select distinct model from (${withSpans('model', 'usage_model_days', 'usage_model_spans')}) as used
         order by 1 limit $4) as models,
       array(select space_id::text from usage_spaces where organisation_id = $1 order by space_id desc limit $4) as "spaceIds",
       array(select key from usage_tag_keys where organisation_id = $1 order by key) as "tagKeys"`,
    [filter.organisationId, covered.days, covered.spans, limit],
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
