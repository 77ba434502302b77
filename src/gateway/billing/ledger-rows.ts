import type { OrganisationId, RequestId, SpaceId } from '../../platform/kernel/index.ts'
import type { CallTags, Receipt, Surface } from './port.ts'
import type { PricedUses } from './prices.ts'

/** A row of an open hold; enough to settle it after a crash. */
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
export interface Entry {
  receipt: Receipt
  /** The base cost stated by the provider; null: tokens times prices. */
  statedAttoUsd: bigint | null
  /** For usage reports; they are personal data and not part of the ledger. */
  tags: CallTags | null
}

/** A change of an open hold; null leaves the field as it is. */
export interface HoldChange {
  requestId: RequestId
  amountPicoUsd: bigint | null
  outputTokens: number | null
}

/**
 * Rows of the ledger as JSON with the names of their columns. Every call needs two of them, so they are written out: `JSON.stringify` of
 * an object with as many fields takes several times as long. Ids are UUIDs, and periods are days: they need no
 * escape. A column that is left out is null.
 */

export function encodeHold(hold: HoldRow): string {
  return (
    `{"request_id":${JSON.stringify(hold.requestId)},"organisation_id":"${hold.organisationId}","period":"${hold.period}"` +
    `,"amount_pico_usd":"${hold.amountPicoUsd}","surface":"${hold.surface}"${spaceField(hold.spaceId)}` +
    `,"model":${textToJson(hold.model)},"started_at":"${isoTime(hold.startedAt)}","prompt_tokens":${hold.promptTokens}` +
    `,"output_tokens":${hold.outputTokens},"input_atto_usd":"${hold.inputAttoUsd}","output_atto_usd":"${hold.outputAttoUsd}"` +
    `,"price_source":${textToJson(hold.priceSource)},"markup_basis_points":${hold.markupBasisPoints}}`
  )
}

export function encodeEntry({ receipt, statedAttoUsd, tags }: Entry): string {
  const { usage } = receipt
  return (
    `{"request_id":${JSON.stringify(receipt.requestId)},${kindFields(receipt)}` +
    `,"started_at":"${isoTime(receipt.startedAt)}","settled_at":"${isoTime(receipt.settledAt)}"` +
    `,"prompt_tokens":${usage.promptTokens},"completion_tokens":${usage.completionTokens},"cached_tokens":${usage.cachedTokens}` +
    `,"cache_write_tokens":${usage.cacheWriteTokens},"reasoning_tokens":${usage.reasoningTokens}` +
    (statedAttoUsd === null ? '' : `,"stated_atto_usd":"${statedAttoUsd}"`) +
    (receipt.toolUses === undefined ? '' : `,"tool_uses":${encodeUses(receipt.toolUses)}`) +
    (receipt.rawUsage === null ? '' : `,"raw_usage":${JSON.stringify(receipt.rawUsage)}`) +
    `,"billed_pico_usd":"${receipt.billedPicoUsd}","written_off_pico_usd":"${receipt.writtenOffPicoUsd}"` +
    (receipt.firstTokenMs === null ? '' : `,"first_token_ms":${receipt.firstTokenMs}`) +
    (receipt.failure === null ? '' : `,"failure":${textToJson(receipt.failure)}`) +
    (receipt.schemaMismatch === null ? '' : `,"schema_mismatch":${textToJson(receipt.schemaMismatch)}`) +
    (tags === null ? '}' : `,"tags":${JSON.stringify(tags)}}`)
  )
}

/** `[kind, uses, attoUsd of one]` for each kind; the amounts are texts. */
function encodeUses(toolUses: readonly PricedUses[]): string {
  return JSON.stringify(toolUses.map(({ kind, uses, attoUsdPerUse }) => [kind, uses, String(attoUsdPerUse)]))
}

/** What an entry has in common with many others of its organisation and model, without the braces. */
export function kindFields(receipt: Entry['receipt']): string {
  const { unitPrices } = receipt
  return (
    `"organisation_id":"${receipt.organisationId}","period":"${receipt.period}"` +
    `,"surface":"${receipt.surface}"${spaceField(receipt.spaceId)},"model":${textToJson(receipt.model)}` +
    `,"deployment_id":${textToJson(receipt.deploymentId)},"provider_id":${textToJson(receipt.providerId)}` +
    `,"hosting":${textToJson(receipt.hosting)}` +
    `,"input_atto_usd":"${unitPrices.input}","output_atto_usd":"${unitPrices.output}","cache_read_atto_usd":"${unitPrices.cacheRead}"` +
    `,"cache_write_atto_usd":"${unitPrices.cacheWrite}","reasoning_atto_usd":"${unitPrices.reasoning}"` +
    `,"price_source":${textToJson(receipt.priceSource)},"cost_basis":"${receipt.costBasis}"` +
    `,"markup_basis_points":${receipt.markupBasisPoints},"estimated":${receipt.estimated},"ending":${textToJson(receipt.ending)}` +
    `,"finish_reason":${textToJson(receipt.finishReason)}`
  )
}

/** A batch whose holds and entries are JSON already. */
interface EncodedBatch {
  opens: string[]
  changes: HoldChange[]
  settlements: { encoded: string; unopened: boolean }[]
}

/** The last three parameters of ledger_write_batch. */
export function encodeBatch({ opens, changes, settlements }: EncodedBatch): [string, string, string] {
  return [
    `[${opens.join(',')}]`,
    encodeChanges(changes),
    `[${settlements.map(({ encoded, unopened }) => `{"unopened":${unopened},${encoded.slice(1)}`).join(',')}]`,
  ]
}

export function encodeChanges(changes: readonly HoldChange[]): string {
  return JSON.stringify(Object.fromEntries(changes.map(changeToJson)))
}

function changeToJson({ requestId, amountPicoUsd, outputTokens }: HoldChange): [RequestId, unknown[]] {
  return [requestId, [amountPicoUsd === null ? null : String(amountPicoUsd), outputTokens]]
}

const maximumTextLength = 500
/** Texts that were encoded before: names of models, deployments, providers and price lists recur in every call. */
const knownTexts = new Map<string, string>()
const maximumKnownTexts = 1_000

/** PostgreSQL rejects NUL and halves of surrogate pairs in text; those from a provider must not fail a whole batch. */
function textToJson(text: string | null): string {
  if (text === null) return 'null'
  const known = knownTexts.get(text)
  if (known !== undefined) return known
  const encoded = JSON.stringify(text.replaceAll('\0', '').slice(0, maximumTextLength).toWellFormed())
  if (knownTexts.size >= maximumKnownTexts) knownTexts.clear()
  if (text.length <= maximumTextLength) knownTexts.set(text, encoded)
  return encoded
}

function spaceField(spaceId: string | null): string {
  return spaceId === null ? '' : `,"space_id":"${spaceId}"`
}

let knownSecond = Number.NaN
let knownPrefix = ''

/** ISO 8601 in UTC with milliseconds; most calls of a second differ in the milliseconds only. */
function isoTime(atMs: number): string {
  const second = Math.floor(atMs / 1000)
  if (second !== knownSecond) {
    knownPrefix = new Date(second * 1000).toISOString().slice(0, -'000Z'.length)
    knownSecond = second
  }
  return `${knownPrefix}${String(Math.floor(atMs - second * 1000)).padStart(3, '0')}Z`
}
