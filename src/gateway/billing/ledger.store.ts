import { encodeBatch, encodeEntry, encodeHold, type Entry, type HoldChange, type HoldRow } from './ledger-rows.ts'
import type { HostedToolKind, InstanceId, TokenCounts } from '../../platform/kernel/index.ts'
import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import type { Receipt } from './port.ts'
import type { UnitPrices } from './prices.ts'

/** No request id occurs twice in one batch: the writer merges what belongs to one request. */
export interface Batch {
  opens: HoldRow[]
  changes: HoldChange[]
  /** `unopened`: the hold itself was still waiting in this batch, so there is no row to delete. */
  settlements: { entry: Entry; unopened: boolean }[]
}

export interface BatchResult {
  /** False: nothing was written, because another instance presumed this one dead and settled its holds, or a later attempt came first. */
  alive: boolean
  opened: string[]
  entered: string[]
}

/** Who writes a batch. */
export interface BatchWriter {
  instanceId: InstanceId
  /**
   * Rises after each statement whose outcome is unknown: the database refuses statements of lower attempts that are still on their way.
   * null: the caller has locked the row of the instance.
   */
  attempt: number | null
}

/**
 * Holds, growth, progress and settlements of many requests in one round trip and one commit; the statement is in the migrations
 * 0201-late-writes and 0090-usage. Repeating it with a higher attempt is harmless.
 */
export async function writeBatch(
  database: Queryable,
  { instanceId, attempt }: BatchWriter,
  batch: Batch,
  signal?: AbortSignal,
): Promise<BatchResult> {
  const { opens, changes, settlements } = batch
  const rows = await database.query<{ alive: boolean; opened_ids: string[]; entered_ids: string[] }>(
    'select alive, opened_ids, entered_ids from ledger_write_batch($1, $2::int8, $3::json, $4::jsonb, $5::json)',
    [
      instanceId,
      attempt,
      ...encodeBatch({
        opens: opens.map(encodeHold),
        changes,
        settlements: settlements.map(({ entry, unopened }) => ({ encoded: encodeEntry(entry), unopened })),
      }),
    ],
    { ...(signal && { signal }) },
  )
  const { alive, opened_ids: opened, entered_ids: entered } = rows[0]!
  return { alive, opened, entered }
}

/** Those of the ids whose hold by this instance is in the database. */
export async function loadOpenHoldIds(
  database: Queryable,
  instanceId: InstanceId,
  requestIds: string[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const rows = await database.query<{ request_id: string }>(
    'select request_id from ledger_holds where request_id = any($1::text[]) and instance_id = $2',
    [requestIds, instanceId],
    { signal },
  )
  return new Set(rows.map((row) => row.request_id))
}

type StoredHold = Omit<HoldRow, 'startedAt' | 'promptTokens' | 'outputTokens'> & {
  startedAt: Date
  promptTokens: bigint
  outputTokens: bigint
}

/** Open holds of one instance, at most `limit`. */
export async function loadHoldsOf(database: Queryable, instanceId: string, limit: number): Promise<HoldRow[]> {
  const rows = await database.query<StoredHold>(
    `select request_id as "requestId", organisation_id as "organisationId", period, amount_pico_usd as "amountPicoUsd", surface,
       space_id as "spaceId", model, started_at as "startedAt", prompt_tokens as "promptTokens", output_tokens as "outputTokens",
       input_atto_usd as "inputAttoUsd", output_atto_usd as "outputAttoUsd", price_source as "priceSource",
       markup_basis_points as "markupBasisPoints"
     from ledger_holds where instance_id = $1 order by request_id limit $2`,
    [instanceId, limit],
  )
  return rows.map((row) => ({
    ...row,
    startedAt: row.startedAt.getTime(),
    promptTokens: Number(row.promptTokens),
    outputTokens: Number(row.outputTokens),
  }))
}

type StoredEntry = Omit<
  Receipt,
  'startedAt' | 'settledAt' | 'usage' | 'unitPrices' | 'baseCostPicoUsd' | 'toolUses'
> & {
  startedAt: Date
  settledAt: Date
  baseCostPicoUsd: string
  storedUses: [kind: HostedToolKind, uses: number, attoUsd: string][] | null
} & Record<Exclude<keyof TokenCounts, 'toolUses'>, bigint> &
  UnitPrices

/** Entries by request id; ids without one are missing from the map. */
export async function loadEntries(
  database: Queryable,
  requestIds: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Receipt>> {
  const rows = await database.query<StoredEntry>(
    `select request_id as "requestId", organisation_id as "organisationId", surface, space_id as "spaceId", model,
        deployment_id as "deploymentId", provider_id as "providerId", hosting, started_at as "startedAt", settled_at as "settledAt",
        period, price_source as "priceSource", cost_basis as "costBasis", raw_usage as "rawUsage", tool_uses as "storedUses",
        markup_basis_points as "markupBasisPoints", billed_pico_usd as "billedPicoUsd", written_off_pico_usd as "writtenOffPicoUsd",
        estimated, ending, finish_reason as "finishReason", first_token_ms as "firstTokenMs", failure,
        schema_mismatch as "schemaMismatch",
        prompt_tokens as "promptTokens", completion_tokens as "completionTokens",
        cached_tokens as "cachedTokens", cache_write_tokens as "cacheWriteTokens", reasoning_tokens as "reasoningTokens",
        input_atto_usd as input, output_atto_usd as output, cache_read_atto_usd as "cacheRead", cache_write_atto_usd as "cacheWrite",
        reasoning_atto_usd as reasoning, ceil(coalesce(stated_atto_usd,
        (prompt_tokens - cached_tokens - cache_write_tokens)::numeric * input_atto_usd + cached_tokens::numeric * cache_read_atto_usd
        + cache_write_tokens::numeric * cache_write_atto_usd + (completion_tokens - reasoning_tokens)::numeric * output_atto_usd
        + reasoning_tokens::numeric * reasoning_atto_usd) / 1000000)::text as "baseCostPicoUsd"
      from ledger_entries where request_id = any($1::text[])`,
    [requestIds],
    { ...(signal && { signal }) },
  )
  return new Map(rows.map((row) => [row.requestId, receiptOf(row)]))
}

export async function loadReceipt(database: OwnedDatabase, requestId: string): Promise<Receipt | undefined> {
  return (await loadEntries(database, [requestId])).get(requestId)
}

function receiptOf(stored: StoredEntry): Receipt {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens, ...priced } = stored
  const { input, output, cacheRead, cacheWrite, reasoning, storedUses, ...entry } = priced
  return {
    ...entry,
    startedAt: entry.startedAt.getTime(),
    settledAt: entry.settledAt.getTime(),
    usage: {
      promptTokens: Number(promptTokens),
      completionTokens: Number(completionTokens),
      cachedTokens: Number(cachedTokens),
      cacheWriteTokens: Number(cacheWriteTokens),
      reasoningTokens: Number(reasoningTokens),
    },
    unitPrices: { input, output, cacheRead, cacheWrite, reasoning },
    ...(storedUses && {
      toolUses: storedUses.map(([kind, uses, attoUsd]) => ({ kind, uses, attoUsdPerUse: BigInt(attoUsd) })),
    }),
    baseCostPicoUsd: BigInt(entry.baseCostPicoUsd),
  }
}
