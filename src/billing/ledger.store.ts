import type { InstanceId, OrganisationId, RequestId, SpaceId } from '../kernel/index.ts'
import type { Database, Queryable } from '../database/index.ts'
import type { BilledUsage, Receipt, Surface } from './port.ts'
import type { UnitPrices } from './prices.ts'

/** An open hold as the database knows it; enough to settle it after a crash. */
export interface HoldRow {
  requestId: RequestId
  organisationId: OrganisationId
  period: string
  amountPicoUsd: bigint
  surface: Surface
  spaceId: SpaceId | null
  model: string
  startedAt: number
  promptTokens: number
  outputTokens: number
  inputAttoUsd: bigint
  outputAttoUsd: bigint
  priceSource: string
  markupBasisPoints: number
}

/** A receipt with what the audit needs to recompute it. */
export interface Entry extends Receipt {
  /** The base cost stated by the provider; null: tokens times prices. */
  statedAttoUsd: bigint | null
}

/** A change of an open hold; null leaves the field as it is. */
export interface HoldChange {
  requestId: RequestId
  amountPicoUsd: bigint | null
  outputTokens: number | null
}

/** No request id occurs twice in one batch: the writer merges what belongs to one request. */
export interface Batch {
  opens: HoldRow[]
  changes: HoldChange[]
  /** `unopened`: the hold itself was still waiting in this batch, so there is no row to take away. */
  settlements: { entry: Entry; unopened: boolean }[]
}

export interface BatchResult {
  /** False: another instance took this one for dead and settled its holds; nothing of the batch was written. */
  alive: boolean
  opened: string[]
  entered: string[]
}

/**
 * The one statement of the hot path: holds, growth, progress and settlements of many requests in one round trip and one commit. It touches
 * rows of this instance only, so instances never wait for each other here. Repeating it after a lost connection is harmless:
 * what is there already is left out.
 */
const writeBatchStatement = `
with me as materialized (
  select instance_id from ledger_instances where instance_id = $1 for share
), opened as (
  insert into ledger_holds (request_id, organisation_id, period, instance_id, amount_pico_usd, surface, space_id, model,
    started_at, prompt_tokens, output_tokens, input_atto_usd, output_atto_usd, price_source, markup_basis_points)
  select o.request_id, o.organisation_id, o.period, me.instance_id, o.amount_pico_usd, o.surface, o.space_id, o.model,
    o.started_at, o.prompt_tokens, o.output_tokens, o.input_atto_usd, o.output_atto_usd, o.price_source, o.markup_basis_points
  from me cross join json_to_recordset($2::json) as o (request_id text, organisation_id uuid, period text, amount_pico_usd int8,
    surface text, space_id uuid, model text, started_at timestamptz, prompt_tokens int8, output_tokens int8,
    input_atto_usd int8, output_atto_usd int8, price_source text, markup_basis_points int4)
  where not exists (select from ledger_entries e where e.request_id = o.request_id)
  on conflict (request_id) do nothing
  returning request_id
), changed as (
  update ledger_holds h
  set amount_pico_usd = coalesce(c.amount_pico_usd, h.amount_pico_usd),
    output_tokens = greatest(h.output_tokens, c.output_tokens)
  from me cross join json_to_recordset($3::json) as c (request_id text, amount_pico_usd int8, output_tokens int8)
  where h.request_id = c.request_id and h.instance_id = me.instance_id
  returning h.request_id
), settling as materialized (
  select s.* from me cross join json_to_recordset($4::json) as s (unopened boolean, request_id text, organisation_id uuid, period text,
    surface text, space_id uuid, model text, deployment_id text, provider_id text, hosting text, started_at timestamptz,
    settled_at timestamptz, prompt_tokens int8, completion_tokens int8, cached_tokens int8, cache_write_tokens int8,
    reasoning_tokens int8, input_atto_usd int8, output_atto_usd int8, cache_read_atto_usd int8, cache_write_atto_usd int8,
    reasoning_atto_usd int8, price_source text, stated_atto_usd numeric, markup_basis_points int4, billed_pico_usd int8,
    written_off_pico_usd int8, estimated boolean, ending text, finish_reason text)
), released as (
  delete from ledger_holds h using settling s where h.request_id = s.request_id and h.instance_id = $1 returning h.request_id
), entered as (
  insert into ledger_entries (request_id, organisation_id, period, surface, space_id, model, deployment_id, provider_id, hosting,
    started_at, settled_at, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
    input_atto_usd, output_atto_usd, cache_read_atto_usd, cache_write_atto_usd, reasoning_atto_usd, price_source,
    stated_atto_usd, markup_basis_points, billed_pico_usd, written_off_pico_usd, estimated, ending, finish_reason)
  select s.request_id, s.organisation_id, s.period, s.surface, s.space_id, s.model, s.deployment_id, s.provider_id, s.hosting,
    s.started_at, s.settled_at, s.prompt_tokens, s.completion_tokens, s.cached_tokens, s.cache_write_tokens, s.reasoning_tokens,
    s.input_atto_usd, s.output_atto_usd, s.cache_read_atto_usd, s.cache_write_atto_usd, s.reasoning_atto_usd, s.price_source,
    s.stated_atto_usd, s.markup_basis_points, s.billed_pico_usd, s.written_off_pico_usd, s.estimated, s.ending, s.finish_reason
  from settling s
  where s.unopened or s.request_id in (select request_id from released)
  on conflict (request_id) do nothing
  returning request_id, organisation_id, period, billed_pico_usd
), moved as (
  update ledger_leases l set settled_pico_usd = l.settled_pico_usd + d.billed
  from (select organisation_id, period, sum(billed_pico_usd)::int8 as billed from entered group by 1, 2) d
  where l.organisation_id = d.organisation_id and l.period = d.period and l.instance_id = $1 and d.billed > 0
  returning 1
)
select exists (select from me) as alive,
  (select coalesce(array_agg(request_id), '{}') from opened) as opened,
  (select coalesce(array_agg(request_id), '{}') from entered) as entered`

export async function writeBatch(database: Queryable, instanceId: InstanceId, batch: Batch): Promise<BatchResult> {
  const parameters = [
    instanceId,
    JSON.stringify(batch.opens.map(holdToJson)),
    JSON.stringify(batch.changes.map(changeToJson)),
    JSON.stringify(batch.settlements.map(({ entry, unopened }) => ({ unopened, ...entryToJson(entry) }))),
  ]
  const rows = await database.query<BatchResult>(writeBatchStatement, parameters, { prepared: true })
  return rows[0]!
}

/** Those of the ids whose hold by this instance is in the database. */
export async function loadOpenHoldIds(
  database: Queryable,
  instanceId: InstanceId,
  requestIds: string[],
): Promise<Set<string>> {
  const rows = await database.query<{ request_id: string }>(
    'select request_id from ledger_holds where request_id = any($1::text[]) and instance_id = $2',
    [requestIds, instanceId],
  )
  return new Set(rows.map((row) => row.request_id))
}

interface StoredHold {
  request_id: string
  organisation_id: string
  period: string
  amount_pico_usd: bigint
  surface: Surface
  space_id: string | null
  model: string
  started_at: Date
  prompt_tokens: bigint
  output_tokens: bigint
  input_atto_usd: bigint
  output_atto_usd: bigint
  price_source: string
  markup_basis_points: number
}

/** Open holds of one instance, at most `limit`. */
export async function loadHoldsOf(database: Queryable, instanceId: string, limit: number): Promise<HoldRow[]> {
  const rows = await database.query<StoredHold>(
    'select * from ledger_holds where instance_id = $1 order by request_id limit $2',
    [instanceId, limit],
  )
  return rows.map((row) => ({
    requestId: row.request_id as RequestId,
    organisationId: row.organisation_id as OrganisationId,
    period: row.period,
    amountPicoUsd: row.amount_pico_usd,
    surface: row.surface,
    spaceId: row.space_id as SpaceId | null,
    model: row.model,
    startedAt: row.started_at.getTime(),
    promptTokens: Number(row.prompt_tokens),
    outputTokens: Number(row.output_tokens),
    inputAttoUsd: row.input_atto_usd,
    outputAttoUsd: row.output_atto_usd,
    priceSource: row.price_source,
    markupBasisPoints: row.markup_basis_points,
  }))
}

interface StoredEntry {
  request_id: string
  organisation_id: string
  period: string
  surface: Surface
  space_id: string | null
  model: string
  deployment_id: string | null
  provider_id: string | null
  hosting: string | null
  started_at: Date
  settled_at: Date
  prompt_tokens: bigint
  completion_tokens: bigint
  cached_tokens: bigint
  cache_write_tokens: bigint
  reasoning_tokens: bigint
  input_atto_usd: bigint
  output_atto_usd: bigint
  cache_read_atto_usd: bigint
  cache_write_atto_usd: bigint
  reasoning_atto_usd: bigint
  price_source: string
  stated_atto_usd: string | null
  markup_basis_points: number
  billed_pico_usd: bigint
  written_off_pico_usd: bigint
  estimated: boolean
  ending: string
  finish_reason: string | null
  base_pico_usd: string
}

/** Entries by request id; ids without one are missing from the map. */
export async function loadEntries(database: Queryable, requestIds: readonly string[]): Promise<Map<string, Receipt>> {
  const rows = await database.query<StoredEntry>(
    `select *, ceil(coalesce(stated_atto_usd,
        (prompt_tokens - cached_tokens - cache_write_tokens)::numeric * input_atto_usd + cached_tokens::numeric * cache_read_atto_usd
        + cache_write_tokens::numeric * cache_write_atto_usd + (completion_tokens - reasoning_tokens)::numeric * output_atto_usd
        + reasoning_tokens::numeric * reasoning_atto_usd) / 1000000)::text as base_pico_usd
      from ledger_entries where request_id = any($1::text[])`,
    [requestIds],
  )
  return new Map(rows.map((row) => [row.request_id, receiptOf(row)]))
}

export async function loadReceipt(database: Database, requestId: string): Promise<Receipt | undefined> {
  return (await loadEntries(database, [requestId])).get(requestId)
}

function receiptOf(row: StoredEntry): Receipt {
  return {
    requestId: row.request_id as RequestId,
    organisationId: row.organisation_id as OrganisationId,
    surface: row.surface,
    spaceId: row.space_id as SpaceId | null,
    model: row.model,
    deploymentId: row.deployment_id,
    providerId: row.provider_id,
    hosting: row.hosting,
    startedAt: row.started_at.getTime(),
    settledAt: row.settled_at.getTime(),
    period: row.period,
    usage: {
      promptTokens: Number(row.prompt_tokens),
      completionTokens: Number(row.completion_tokens),
      cachedTokens: Number(row.cached_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    unitPrices: {
      input: row.input_atto_usd,
      output: row.output_atto_usd,
      cacheRead: row.cache_read_atto_usd,
      cacheWrite: row.cache_write_atto_usd,
      reasoning: row.reasoning_atto_usd,
    },
    priceSource: row.price_source,
    baseCostPicoUsd: BigInt(row.base_pico_usd),
    markupBasisPoints: row.markup_basis_points,
    billedPicoUsd: row.billed_pico_usd,
    writtenOffPicoUsd: row.written_off_pico_usd,
    estimated: row.estimated,
    ending: row.ending,
    finishReason: row.finish_reason,
  }
}

function holdToJson(hold: HoldRow) {
  return {
    request_id: hold.requestId,
    organisation_id: hold.organisationId,
    period: hold.period,
    amount_pico_usd: String(hold.amountPicoUsd),
    surface: hold.surface,
    space_id: hold.spaceId,
    model: storable(hold.model),
    started_at: isoTime(hold.startedAt),
    prompt_tokens: hold.promptTokens,
    output_tokens: hold.outputTokens,
    input_atto_usd: String(hold.inputAttoUsd),
    output_atto_usd: String(hold.outputAttoUsd),
    price_source: storable(hold.priceSource),
    markup_basis_points: hold.markupBasisPoints,
  }
}

function changeToJson(change: HoldChange) {
  return {
    request_id: change.requestId,
    amount_pico_usd: change.amountPicoUsd === null ? null : String(change.amountPicoUsd),
    output_tokens: change.outputTokens,
  }
}

function entryToJson(entry: Entry) {
  return {
    request_id: entry.requestId,
    organisation_id: entry.organisationId,
    period: entry.period,
    surface: entry.surface,
    space_id: entry.spaceId,
    model: storable(entry.model),
    deployment_id: storable(entry.deploymentId),
    provider_id: storable(entry.providerId),
    hosting: storable(entry.hosting),
    started_at: isoTime(entry.startedAt),
    settled_at: isoTime(entry.settledAt),
    ...usageToJson(entry.usage),
    ...pricesToJson(entry.unitPrices),
    price_source: storable(entry.priceSource),
    stated_atto_usd: entry.statedAttoUsd === null ? null : String(entry.statedAttoUsd),
    markup_basis_points: entry.markupBasisPoints,
    billed_pico_usd: String(entry.billedPicoUsd),
    written_off_pico_usd: String(entry.writtenOffPicoUsd),
    estimated: entry.estimated,
    ending: storable(entry.ending),
    finish_reason: storable(entry.finishReason),
  }
}

function usageToJson(usage: BilledUsage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
  }
}

function pricesToJson(prices: UnitPrices) {
  return {
    input_atto_usd: String(prices.input),
    output_atto_usd: String(prices.output),
    cache_read_atto_usd: String(prices.cacheRead),
    cache_write_atto_usd: String(prices.cacheWrite),
    reasoning_atto_usd: String(prices.reasoning),
  }
}

/** PostgreSQL text takes no NUL; one from a provider must not make a whole batch fail. */
function storable<Text extends string | null>(text: Text): Text {
  return (text === null ? null : text.replaceAll('\0', '').slice(0, maximumTextLength)) as Text
}

const maximumTextLength = 500

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString()
}
