import {
  attoUsdPerPicoUsd,
  ceilDivide,
  ceilToPicoUsd,
  type HostedToolKind,
  type StatedUsage,
  type TokenCounts,
  type ToolUses,
} from '../../platform/kernel/index.ts'

/** Prices of a deployment and the cost of a call. Pure: no clock, no database. */

/** attoUsd per token (see kernel/money.ts). A missing cache price is not free: the input price counts then. */
export interface TokenPrices {
  input: bigint
  output: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
  /** Of a write that the cache keeps for an hour, where the list states it; see `hourWritePrice`. */
  cacheWriteHour?: bigint
  /** Where reasoning tokens cost something else than output. */
  reasoning?: bigint
}

export interface PriceSchedule {
  /** Names the list and its day, for the receipt: `snapshot 2026-08-01`, `operator 2026-11-21T10:00:00Z`. */
  source: string
  /** In force from this moment on, milliseconds since the epoch. */
  validFrom: number
  base: TokenPrices
  /** Ascending. A step with `abovePromptTokens` below the request's prompt tokens replaces the whole base for the whole request. */
  contextSteps: { abovePromptTokens: number; prices: TokenPrices }[]
  /** attoUsd of one use of a tool that the provider runs. A kind without a price is not offered. */
  toolUses?: Readonly<Partial<Record<HostedToolKind, bigint>>>
}

/** attoUsd per token of every class, with defaults applied. */
export interface UnitPrices {
  input: bigint
  output: bigint
  cacheRead: bigint
  cacheWrite: bigint
  reasoning: bigint
}

interface Cost {
  unitPrices: UnitPrices
  /** Exact: before markup and rounding. */
  baseAttoUsd: bigint
  /** With markup, rounded once, up. */
  totalPicoUsd: bigint
}

/** 10,000 basis points = 100 %. */
export const basisPointsPerWhole = 10_000n

/** The schedule in force at a moment: the newest whose validFrom has passed; before all of them the oldest. */
export function scheduleInForce(prices: readonly PriceSchedule[], atMs: number): PriceSchedule {
  let inForce: PriceSchedule | undefined
  let oldest: PriceSchedule | undefined
  for (const schedule of prices) {
    if (!oldest || schedule.validFrom < oldest.validFrom) oldest = schedule
    if (schedule.validFrom <= atMs && (!inForce || schedule.validFrom > inForce.validFrom)) inForce = schedule
  }
  const schedule = inForce ?? oldest
  if (!schedule) throw new RangeError('a deployment without a price cannot be called')
  return schedule
}

/** The unit prices that hold for a request with this many prompt tokens. */
export function unitPricesAt(schedule: PriceSchedule, promptTokens: number): UnitPrices {
  return withDefaults(pricesAt(schedule, promptTokens))
}

function pricesAt(schedule: PriceSchedule, promptTokens: number): TokenPrices {
  let prices = schedule.base
  let above = -1
  for (const step of schedule.contextSteps) {
    if (step.abovePromptTokens < promptTokens && step.abovePromptTokens > above) {
      prices = step.prices
      above = step.abovePromptTokens
    }
  }
  return prices
}

/**
 * Keeping a prefix for an hour costs this many times the input where a list has a price of writes but none of an hour. Anthropic's rule
 * for all its models: platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11.
 */
const hourWriteFactor = 2n

/** The price of a write that is kept for an hour. Without any price of writes they cost the input, however long they are kept. */
export function hourWritePrice({ input, cacheWrite, cacheWriteHour }: TokenPrices): bigint {
  if (cacheWriteHour !== undefined) return cacheWriteHour
  return cacheWrite === undefined ? input : hourWriteFactor * input
}

/** What writes that are kept for an hour cost beyond the price of a write; negative if they cost less. */
function hourWriteSurcharge(usage: TokenCounts, schedule: PriceSchedule): bigint {
  const counted = clampUsage(usage)
  const prices = pricesAt(schedule, counted.promptTokens)
  return BigInt(counted.cacheWriteHourTokens ?? 0) * (hourWritePrice(prices) - withDefaults(prices).cacheWrite)
}

/** Uses of one kind of tool with their price. */
export interface PricedUses {
  kind: HostedToolKind
  uses: number
  attoUsdPerUse: bigint
}

/** No answer has more; keeps a garbled count from becoming a bill. */
const maximumUses = 10_000

/** The uses that a provider has counted. A kind without a price is not called, so it costs nothing here. */
export function priceUses(toolUses: ToolUses | undefined, schedule: PriceSchedule): PricedUses[] {
  return Object.entries(toolUses ?? {}).flatMap(([name, count]) => {
    const kind = name as HostedToolKind
    const uses = Math.min(wholeTokens(count), maximumUses)
    return uses === 0 ? [] : [{ kind, uses, attoUsdPerUse: schedule.toolUses?.[kind] ?? 0n }]
  })
}

const costOfUses = (priced: readonly PricedUses[]): bigint =>
  priced.reduce((sum, { uses, attoUsdPerUse }) => sum + BigInt(uses) * attoUsdPerUse, 0n)

export function withDefaults(prices: TokenPrices): UnitPrices {
  return {
    input: prices.input,
    output: prices.output,
    cacheRead: prices.cacheRead ?? prices.input,
    cacheWrite: prices.cacheWrite ?? prices.input,
    reasoning: prices.reasoning ?? prices.output,
  }
}

/** Usage that adds up: whole non-negative counts, parts never larger than what they are a part of. */
export function clampUsage(usage: TokenCounts): TokenCounts {
  const promptTokens = wholeTokens(usage.promptTokens)
  const completionTokens = wholeTokens(usage.completionTokens)
  const cachedTokens = Math.min(wholeTokens(usage.cachedTokens), promptTokens)
  const cacheWriteTokens = Math.min(wholeTokens(usage.cacheWriteTokens), promptTokens - cachedTokens)
  const hourTokens = Math.min(wholeTokens(usage.cacheWriteHourTokens ?? 0), cacheWriteTokens)
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    ...(hourTokens > 0 && { cacheWriteHourTokens: hourTokens }),
    reasoningTokens: Math.min(wholeTokens(usage.reasoningTokens), completionTokens),
  }
}

/** No context window comes near it; keeps a garbled count from overflowing the database's int8 money. */
const maximumTokens = 1_000_000_000

function wholeTokens(count: number): number {
  return Number.isFinite(count) && count > 0 ? Math.min(Math.ceil(count), maximumTokens) : 0
}

/**
 * What a call costs. Each token is counted in exactly one class: cached and cache-written ones come off the prompt,
 * reasoning ones off the completion. `statedAttoUsd` is a base cost that the provider itself stated; it replaces the sum.
 */
export function costOf(
  usage: TokenCounts,
  schedule: PriceSchedule,
  markupBasisPoints: number,
  statedAttoUsd: bigint | null = null,
): Cost {
  const counted = clampUsage(usage)
  const unitPrices = unitPricesAt(schedule, counted.promptTokens)
  const baseAttoUsd = statedAttoUsd ?? sumOf(counted, unitPrices)
  return { unitPrices, baseAttoUsd, totalPicoUsd: withMarkup(baseAttoUsd, markupBasisPoints) }
}

function sumOf(usage: TokenCounts, prices: UnitPrices): bigint {
  const tokens = tokensByClass(usage)
  return (
    BigInt(tokens.input) * prices.input +
    BigInt(tokens.cacheRead) * prices.cacheRead +
    BigInt(tokens.cacheWrite) * prices.cacheWrite +
    BigInt(tokens.output) * prices.output +
    BigInt(tokens.reasoning) * prices.reasoning
  )
}

function tokensByClass(usage: TokenCounts): Record<keyof UnitPrices, number> {
  return {
    input: usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens,
    cacheRead: usage.cachedTokens,
    cacheWrite: usage.cacheWriteTokens,
    output: usage.completionTokens - usage.reasoningTokens,
    reasoning: usage.reasoningTokens,
  }
}

/** The parts of the base cost of tokens times prices, for receipts. Classes without tokens are left out. */
export function costLines(usage: TokenCounts, prices: UnitPrices) {
  const tokens = tokensByClass(clampUsage(usage))
  return (Object.keys(tokens) as (keyof UnitPrices)[])
    .filter((tokenClass) => tokens[tokenClass] > 0)
    .map((tokenClass) => ({
      tokenClass,
      tokens: tokens[tokenClass],
      unitPriceAttoUsd: prices[tokenClass],
      costAttoUsd: BigInt(tokens[tokenClass]) * prices[tokenClass],
    }))
}

/** The exact cost with markup, in attoUsd times basis points; divided by 10,000 and rounded up it is what is billed. */
export function unroundedCost(baseAttoUsd: bigint, markupBasisPoints: number): bigint {
  return baseAttoUsd * (basisPointsPerWhole + BigInt(markupBasisPoints))
}

/** Adds the markup and rounds, once and up, to picoUsd. */
export function withMarkup(baseAttoUsd: bigint, markupBasisPoints: number): bigint {
  return ceilDivide(unroundedCost(baseAttoUsd, markupBasisPoints), basisPointsPerWhole * attoUsdPerPicoUsd)
}

/** Base cost in picoUsd for display; billing never rounds twice. */
export function displayedBaseCost(baseAttoUsd: bigint): bigint {
  return ceilToPicoUsd(baseAttoUsd)
}

/** Where a base cost comes from: tokens times prices, the provider's own statement, or its billed units times prices. */
export type CostBasis = 'tokens' | 'stated' | 'billed_units'

/** Both costs of a call whose provider states one, in attoUsd without markup. */
export interface ComparedCosts {
  statedAttoUsd: bigint
  /** Tokens times prices. */
  computedAttoUsd: bigint
}

/** An undocumented cost beyond this factor of tokens times prices is in another unit, or the zero of a proxy without a price for the model. */
const plausibleFactor = 10n

/**
 * A stated cost first, then billed units times prices, then writes that are kept for an hour and uses of tools; none of them: tokens times
 * prices. `compared` is null without a stated cost.
 */
export function statedCost(
  usage: TokenCounts,
  stated: StatedUsage | undefined,
  schedule: PriceSchedule,
  priced: readonly PricedUses[] = [],
): { statedAttoUsd: bigint | null; costBasis: CostBasis; compared: ComparedCosts | null } {
  const beyondTokens = hourWriteSurcharge(usage, schedule) + costOfUses(priced)
  const statedAttoUsd = stated?.costAttoUsd ?? -1n
  const computedAttoUsd = costOf(usage, schedule, 0).baseAttoUsd + beyondTokens
  const compared = statedAttoUsd >= 0n ? { statedAttoUsd, computedAttoUsd } : null
  if (compared && (stated?.costIsDocumented || isPlausible(compared)))
    return { statedAttoUsd, costBasis: 'stated', compared }
  if (compared || !stated?.billedUnits) {
    if (beyondTokens === 0n) return { statedAttoUsd: null, costBasis: 'tokens', compared }
    // The classes of tokens have one price of writes: the counts of the provider's usage explain the cost.
    return { statedAttoUsd: computedAttoUsd, costBasis: 'billed_units', compared }
  }
  const { inputTokens, outputTokens } = stated.billedUnits
  const units: TokenCounts = {
    promptTokens: inputTokens,
    completionTokens: outputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  const unitsCost = costOf(units, schedule, 0).baseAttoUsd + costOfUses(priced)
  return { statedAttoUsd: unitsCost, costBasis: 'billed_units', compared: null }
}

function isPlausible({ statedAttoUsd, computedAttoUsd }: ComparedCosts): boolean {
  return statedAttoUsd * plausibleFactor >= computedAttoUsd && statedAttoUsd <= computedAttoUsd * plausibleFactor
}

/** A usage object has some 500 characters; a larger one is left out. */
const maximumRawCharacters = 4_096

/** PostgreSQL takes neither NUL nor halves of surrogate pairs inside JSON. */
export function storableUsage(raw: Record<string, unknown> | null): Record<string, unknown> | null {
  const text = raw === null ? '' : JSON.stringify(raw)
  return text === '' || text.length > maximumRawCharacters || /\\u(?:0000|d[89a-f])/.test(text) ? null : raw
}
