import { type StatedUsage, parseAttoUsd } from '../../platform/kernel/index.ts'
import type { TokenUsage } from './port.ts'
import { asCount, asName, asObject, type JsonObject } from './wire-json.ts'

/** Counts of a host; some report more cached than prompt tokens, or more reasoning than completion tokens. */
export function clampedUsage(count: {
  prompt: number
  completionTokens: number
  cached: number
  written: number
  reasoning: number
}): TokenUsage {
  const cachedTokens = Math.min(count.cached, count.prompt)
  // A part is never larger than the whole: such reasoning is counted outside of the completion (Gemini behind Vercel's gateway).
  const outside = count.reasoning > count.completionTokens ? count.reasoning : 0
  return {
    promptTokens: count.prompt,
    completionTokens: count.completionTokens + outside,
    cachedTokens,
    cacheWriteTokens: Math.min(count.written, count.prompt - cachedTokens),
    reasoningTokens: count.reasoning,
  }
}

/** Adds what the host states beyond the counts, if anything. `isCorrected`: the counts differ from the host's. */
export function stateUsage(
  usage: TokenUsage,
  {
    raw,
    isCorrected = false,
    costAttoUsd = null,
    costIsDocumented,
    billedUnits = null,
  }: { raw: JsonObject; isCorrected?: boolean; costIsDocumented?: boolean } & Partial<
    Omit<StatedUsage, 'raw' | 'costIsDocumented'>
  >,
): TokenUsage {
  if (!isCorrected && costAttoUsd === null && billedUnits === null) return usage
  return { ...usage, stated: { raw, costAttoUsd, billedUnits, ...(costIsDocumented && { costIsDocumented }) } }
}

/** What an answer without completion tokens (vectors, a ranking) states about its cost; absent if it states none. */
export function statedCostOnly(
  raw: JsonObject,
  { documentsCost }: { documentsCost: boolean },
): { stated?: StatedUsage } {
  const costAttoUsd = statedCostOf(raw)
  if (costAttoUsd === null) return {}
  return { stated: { raw, costAttoUsd, billedUnits: null, ...(documentsCost && { costIsDocumented: true }) } }
}

/** The cost of several requests; absent unless each of them states one. */
export function addStated(sum: StatedUsage | undefined, next: StatedUsage | undefined): { stated?: StatedUsage } {
  const [before, added] = [sum?.costAttoUsd ?? null, next?.costAttoUsd ?? null]
  if (!sum || before === null || added === null) return {}
  return { stated: { ...sum, raw: null, costAttoUsd: before + added } }
}

/** No call costs more; an invalid number must not become a bill. */
const maximumDollars = 100_000

/**
 * The cost in a usage object of the OpenAI-compatible family, in attoUsd; null if it states none in US dollars. Sources, read 2026-11:
 * - OpenRouter and hosts with its form (Vercel's gateway, Avian): `cost` in dollars. With a key of the customer (BYOK) it is the host's fee,
 *   and the price of the inference is a separate field (openrouter.ai/docs/use-cases/usage-accounting).
 * - Perplexity: `cost.total_cost` in dollars, including search fees (docs.perplexity.ai/api-reference/chat-completions-post).
 * - xAI: `cost_in_usd_ticks` of 1e-10 dollars (docs.x.ai).
 * - DeepInfra: `estimated_cost` in dollars (deepinfra.com/docs).
 * - LiteLLM: `cost` in dollars at the end of a stream (github.com/BerriAI/litellm/pull/39069); see `statedInHeaders`.
 */
export function statedCostOf(usage: JsonObject): bigint | null {
  const ticks = asCount(usage.cost_in_usd_ticks)
  if (ticks !== undefined) return ticks <= maximumDollars * 1e10 ? BigInt(ticks) * 100_000_000n : null
  const parts = asObject(usage.cost)
  const currency = asName(parts.currency) ?? asName(usage.currency) ?? 'USD'
  if (currency.toUpperCase() !== 'USD') return null
  const stated = dollarsToAtto(parts.total_cost ?? usage.cost ?? usage.estimated_cost)
  if (stated === null || usage.is_byok !== true) return stated
  const inference = dollarsToAtto(asObject(usage.cost_details).upstream_inference_cost)
  return inference === null ? null : stated + inference
}

/** Of LiteLLM for a whole answer, in dollars: docs.litellm.ai/docs/proxy/response_headers. Those of a stream are sent before its cost is known. */
const costHeader = 'x-litellm-response-cost'

/** The cost that the headers of a whole answer state; undefined without one. */
function statedInHeaders({ [costHeader]: text }: Record<string, string>): StatedUsage | undefined {
  // Python writes small numbers with an exponent.
  if (text === undefined || !/^\d{1,6}(?:\.\d{1,30})?(?:e-\d{1,2})?$/.test(text)) return undefined
  const costAttoUsd = dollarsToAtto(Number(text))
  return costAttoUsd === null ? undefined : { raw: { [costHeader]: text }, costAttoUsd, billedUnits: null }
}

/** Adds the cost that the headers state, unless the body states one or what is billed. */
export function withStatedHeader<Answer extends { stated?: StatedUsage }>(
  answer: Answer,
  headers: Record<string, string>,
): Answer {
  const { stated } = answer
  if (stated && (stated.costAttoUsd !== null || stated.billedUnits)) return answer
  const inHeaders = statedInHeaders(headers)
  return inHeaders ? { ...answer, stated: { ...inHeaders, ...(stated?.raw && { raw: stated.raw }) } } : answer
}

/** Dollars of a JSON number or decimal text, rounded up to attoUsd; null if it is not an amount. */
function dollarsToAtto(amount: unknown): bigint | null {
  const dollars = typeof amount === 'string' && /^\d{1,9}(?:\.\d{1,20})?$/.test(amount) ? Number(amount) : amount
  if (typeof dollars !== 'number' || !Number.isFinite(dollars) || dollars < 0 || dollars > maximumDollars) return null
  try {
    // 12 digits: further digits of a sum of floats are rounding errors.
    return parseAttoUsd(Number(dollars.toPrecision(12)))
  } catch {
    // More than 18 decimals.
    return BigInt(Math.ceil(dollars * 1e18))
  }
}
