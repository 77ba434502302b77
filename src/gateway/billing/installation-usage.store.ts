import type { InstallationSplit } from '../../contract/installation-usage.ts'
import type { OwnedDatabase, Queryable, SqlValue } from '../../platform/database/index.ts'
import { countingTimeoutMs, tryCountingLock } from './usage-counting.store.ts'

/**
 * Sums of the whole installation (migration 0250-installation-usage). A query reads the smallest table that has its columns, so its rows are
 * bounded by days and by different providers and models; organisations are added only where a report shows them.
 */

export interface InstallationFilter {
  /** Consecutive days, `YYYY-MM-DD`. */
  days: readonly string[]
  organisationId: string | null
  /** Empty: calls that reached no provider. */
  provider: string | null
  model: string | null
  hosting: string | null
}

export interface InstallationFigures {
  requests: number
  failed: number
  promptTokens: number
  completionTokens: number
  billedPicoUsd: bigint
}

const columnOf: Record<InstallationSplit, string> = {
  organisation: 'organisation_id',
  provider: 'provider_id',
  model: 'model',
  hosting: 'hosting',
}
/** A report waits at most this long; it is one of few people. */
const options = { timeoutMs: 15_000 }

/** Sums of floats are exact below 2^53. Money is exact without a limit. */
const sums = `sum(requests::float8) as requests, sum(failed_requests::float8) as failed, sum(prompt_tokens::float8) as "promptTokens",
  sum(completion_tokens::float8) as "completionTokens", sum(billed_pico_usd) as billed`
const sumNames = 'requests, failed, "promptTokens", "completionTokens", billed::text'

type StoredFigures = Record<Exclude<keyof InstallationFigures, 'billedPicoUsd'>, number | null> & {
  billed: string | null
}

function figuresOf(row: StoredFigures): InstallationFigures {
  return {
    requests: row.requests ?? 0,
    failed: row.failed ?? 0,
    promptTokens: row.promptTokens ?? 0,
    completionTokens: row.completionTokens ?? 0,
    billedPicoUsd: BigInt(row.billed ?? 0),
  }
}

interface Relation {
  table: string
  where: string
  parameters: SqlValue[]
}

const tables = {
  figures: {
    all: 'installation_days',
    withoutOrganisations: 'installation_provider_days',
    organisations: 'installation_organisation_days',
  },
  latency: {
    withoutOrganisations: 'installation_provider_latency',
    organisations: 'installation_organisation_latency',
  },
} as const

const hasSource = ({ provider, model, hosting }: InstallationFilter) =>
  provider !== null || model !== null || hosting !== null

function relation(filter: InstallationFilter, split?: InstallationSplit): Relation {
  const { all, withoutOrganisations, organisations } = tables.figures
  const needsSource = hasSource(filter) || (split !== undefined && split !== 'organisation')
  const needsOrganisation = filter.organisationId !== null || split === 'organisation'
  const table = !needsOrganisation ? withoutOrganisations : needsSource ? all : organisations
  return { table, ...conditions(filter) }
}

function conditions({ days, organisationId, provider, model, hosting }: InstallationFilter): Omit<Relation, 'table'> {
  const parameters: SqlValue[] = [[...days]]
  const parts = ['day = any($1::date[])']
  const add = (column: string, value: string | null, type: string) => {
    if (value === null) return
    parameters.push(value)
    parts.push(`${column} = $${parameters.length}::${type}`)
  }
  add('organisation_id', organisationId, 'uuid')
  add('provider_id', provider, 'text')
  add('model', model, 'text')
  add('hosting', hosting, 'text')
  return { where: parts.join(' and '), parameters }
}

export async function loadInstallationTotals(
  database: Queryable,
  filter: InstallationFilter,
): Promise<InstallationFigures> {
  const { table, where, parameters } = relation(filter)
  const [row] = await database.query<StoredFigures>(
    `select ${sumNames} from (select ${sums} from ${table} where ${where}) as summed`,
    parameters,
    options,
  )
  return figuresOf(row!)
}

export interface InstallationValue extends InstallationFigures {
  value: string
}

/** The values of a column with the highest cost, at most `limit`, and the number of different ones. */
export async function loadInstallationValues(
  database: Queryable,
  filter: InstallationFilter,
  split: InstallationSplit,
  limit: number,
): Promise<{ values: InstallationValue[]; different: number }> {
  const { table, where, parameters } = relation(filter, split)
  const rows = await database.query<StoredFigures & { value: string; different: bigint }>(
    `with summed as materialized (select ${columnOf[split]} as value, ${sums} from ${table} where ${where} group by 1)
     select value::text, ${sumNames}, (select count(*) from summed) as different
     from summed order by summed.billed desc, summed.requests desc, summed.value limit $${parameters.length + 1}`,
    [...parameters, limit],
    options,
  )
  return {
    values: rows.map((row) => ({ value: row.value, ...figuresOf(row) })),
    different: Number(rows[0]?.different ?? 0),
  }
}

export interface InstallationDay {
  day: string
  /** null: the whole day. */
  value: string | null
  requests: number
  failed: number
  billedPicoUsd: bigint
}

/** Days with calls: whole ones, or those of some values of a column. */
export async function loadInstallationDays(
  database: Queryable,
  filter: InstallationFilter,
  parts?: { split: InstallationSplit; values: readonly string[] },
): Promise<InstallationDay[]> {
  const { table, where, parameters } = relation(filter, parts?.split)
  const column = parts && columnOf[parts.split]
  const type = parts?.split === 'organisation' ? 'uuid' : 'text'
  const rows = await database.query<Omit<InstallationDay, 'billedPicoUsd'> & { billed: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, ${column ? `${column}::text` : 'null'} as value, sum(requests::float8) as requests,
       sum(failed_requests::float8) as failed, sum(billed_pico_usd)::text as billed
     from ${table} where ${where} ${column ? `and ${column} = any($${parameters.length + 1}::${type}[])` : ''}
     group by ${table}.day ${column ? `, ${column}` : ''}`,
    column ? [...parameters, [...parts!.values]] : parameters,
    options,
  )
  return rows.map(({ billed, ...day }) => ({ ...day, billedPicoUsd: BigInt(billed) }))
}

export interface InstallationLatency {
  /** A day, a value, or null for everything. */
  key: string | null
  buckets: number[]
  firstTokens: number[]
  totals: number[]
}

/** Whether durations are recorded for a filter: of one organisation by model only (usage_latency_days). */
export const hasLatency = ({ organisationId, provider, hosting }: InstallationFilter): boolean =>
  organisationId === null || (provider === null && hosting === null)

/** Histograms by day, or by the values of a column. Call only if `hasLatency`; null: they are not recorded for this split. */
export async function loadInstallationLatency(
  database: Queryable,
  filter: InstallationFilter,
  by: 'day' | InstallationSplit,
  values?: readonly string[],
): Promise<InstallationLatency[] | null> {
  const { organisationId } = filter
  if (by === 'organisation' && hasSource(filter)) return null
  if (organisationId !== null && (by === 'provider' || by === 'hosting')) return null
  const table =
    organisationId !== null && by !== 'organisation'
      ? 'usage_latency_days'
      : by === 'organisation'
        ? tables.latency.organisations
        : tables.latency.withoutOrganisations
  const { where, parameters } = conditions(filter)
  const key = by === 'day' ? `to_char(day, 'YYYY-MM-DD')` : `${columnOf[by]}::text`
  const place = parameters.length + 1
  const chosen = values ? `and ${columnOf[by as InstallationSplit]}::text = any($${place}::text[])` : ''
  return database.query<InstallationLatency>(
    `select key, array_agg(bucket) as buckets, array_agg(first_tokens) as "firstTokens", array_agg(totals) as totals from (
       select ${key} as key, bucket, sum(first_tokens::float8) as first_tokens, sum(totals::float8) as totals
       from ${table} where ${where} ${chosen} ${table === 'usage_latency_days' ? `and surface <> 'embeddings'` : ''}
       group by 1, bucket) as counted group by key`,
    values ? [...parameters, [...values]] : parameters,
    options,
  )
}

export interface InstallationRow extends InstallationFigures {
  day: string
  organisationId: string
  provider: string
  model: string
  hosting: string
}

/** Rows of the export in the order of their keys, after the last one of the former page. */
export async function loadInstallationRows(
  database: Queryable,
  filter: InstallationFilter,
  after: InstallationRow | undefined,
  limit: number,
): Promise<InstallationRow[]> {
  const { where, parameters } = conditions(filter)
  const place = parameters.length
  const follows = after
    ? `and (day, organisation_id, provider_id, model, hosting) > ($${place + 2}::date, $${place + 3}::uuid, $${place + 4}, $${place + 5}, $${place + 6})`
    : ''
  const keys = after ? [after.day, after.organisationId, after.provider, after.model, after.hosting] : []
  const rows = await database.query<StoredFigures & Omit<InstallationRow, keyof InstallationFigures>>(
    `select to_char(day, 'YYYY-MM-DD') as day, organisation_id::text as "organisationId", provider_id as provider, model, hosting,
       requests::float8 as requests, failed_requests::float8 as failed, prompt_tokens::float8 as "promptTokens",
       completion_tokens::float8 as "completionTokens", billed_pico_usd::text as billed
     from installation_days where ${where} ${follows}
     order by installation_days.day, organisation_id, provider_id, model, hosting limit $${place + 1}`,
    [...parameters, limit, ...keys],
    options,
  )
  return rows.map((row) => {
    const { day, organisationId, provider, model, hosting } = row
    return { day, organisationId, provider, model, hosting, ...figuresOf(row) }
  })
}

export interface InstallationOptions {
  providers: string[]
  models: string[]
  hostings: string[]
}

/** What a range can be filtered by, at most `limit` of each. */
export async function loadInstallationOptions(
  database: Queryable,
  days: readonly string[],
  limit: number,
): Promise<InstallationOptions> {
  const [row] = await database.query<InstallationOptions>(
    `with used as materialized (
       select distinct provider_id, model, hosting from installation_provider_days where day = any($1::date[]))
     select array(select distinct provider_id from used where provider_id <> '' order by 1 limit $2) as providers,
       array(select distinct model from used order by 1 limit $2) as models,
       array(select distinct hosting from used where hosting <> '' order by 1 limit $2) as hostings`,
    [[...days], limit],
    options,
  )
  return row!
}

/** Adds up to `limit` entries from before migration 0250. `done`: there are none left. */
export function countOldInstallationEntries(
  database: OwnedDatabase,
  limit: number,
): Promise<{ done: boolean; locked: boolean }> {
  const count = async (transaction: Queryable) => {
    if (!(await tryCountingLock(transaction))) return { done: false, locked: false }
    const [row] = await transaction.query<{ more: boolean }>('select installation_count_old($1::int4) as more', [limit])
    return { done: !row!.more, locked: true }
  }
  return database.transaction(count, { timeoutMs: countingTimeoutMs, background: true })
}

export async function isInstallationBackfilled(database: Queryable): Promise<boolean> {
  const [state] = await database.query<{ finished: boolean }>(
    'select finished_at is not null as finished from installation_backfill',
  )
  return state!.finished
}
