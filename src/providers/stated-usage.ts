import { type StatedUsage, parseAttoUsd } from '../kernel/index.ts'
import type { TokenUsage } from './port.ts'
import type { JsonObject } from './wire-json.ts'

/** Counts of a host; some report more cached than prompt tokens. */
export function clampedUsage(count: {
  prompt: number
  completionTokens: number
  cached: number
  written: number
  reasoning: number
}): TokenUsage {
  const cachedTokens = Math.min(count.cached, count.prompt)
  return {
    promptTokens: count.prompt,
    completionTokens: count.completionTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(count.written, count.prompt - cachedTokens),
    reasoningTokens: Math.min(count.reasoning, count.completionTokens),
  }
}

/** Adds what the host states beyond the counts, if anything. `isClamped`: the counts differ from the host's. */
export function stateUsage(
  usage: TokenUsage,
  {
    raw,
    isClamped = false,
    costAttoUsd = null,
    billedUnits = null,
  }: { raw: JsonObject; isClamped?: boolean } & Partial<Omit<StatedUsage, 'raw'>>,
): TokenUsage {
  if (!isClamped && costAttoUsd === null && billedUnits === null) return usage
  return { ...usage, stated: { raw, costAttoUsd, billedUnits } }
}

/** No call costs more; an invalid number must not become a bill. */
const maximumDollars = 100_000

/** Dollars of a JSON number, rounded up to attoUsd; null if it is not an amount. */
export function dollarsToAtto(dollars: unknown): bigint | null {
  if (typeof dollars !== 'number' || !Number.isFinite(dollars) || dollars < 0 || dollars > maximumDollars) return null
  try {
    // 12 digits: further digits of a sum of floats are rounding errors.
    return parseAttoUsd(Number(dollars.toPrecision(12)))
  } catch {
    // More than 18 decimals.
    return BigInt(Math.ceil(dollars * 1e18))
  }
}
