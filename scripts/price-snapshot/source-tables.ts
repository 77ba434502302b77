import { readFileSync } from 'node:fs'
import path from 'node:path'
import { formatAttoUsd, parseAttoUsd, parsePicoUsd } from '../../src/platform/kernel/index.ts'

/** The three community tables as records of one shape; prices in attoUsd per token, null if the table has none. */

export interface TablePrices {
  input: bigint
  output: bigint
  cacheRead: bigint | null
  cacheWrite: bigint | null
  /** Of a write that is kept for an hour. */
  cacheWriteHour: bigint | null
  reasoning: bigint | null
  steps: (Omit<TablePrices, 'reasoning' | 'steps'> & { above: number })[]
}

export interface TableRow {
  prices: TablePrices
  /** Prices that replace the earlier ones from a day on (`YYYY-MM-DD`), ascending. */
  later: { date: string; prices: TablePrices }[]
}

export interface LitellmEntry {
  litellm_provider?: string
  mode?: string
  max_input_tokens?: number
  max_output_tokens?: number
  max_tokens?: number
  output_vector_size?: number
  deprecation_date?: string
  supports_reasoning?: boolean
  supported_endpoints?: string[]
  supported_output_modalities?: string[]
  regional_processing_uplift_multiplier_eu?: number
  [field: string]: unknown
}

export interface ModelsDevEntry {
  release_date?: string
  reasoning?: boolean
  temperature?: boolean
  status?: string
  cost?: ModelsDevCost & { tiers?: (ModelsDevCost & { tier: { size: number } })[] }
  limit?: { context?: number; output?: number; input?: number }
  modalities?: { input?: string[]; output?: string[] }
}

interface ModelsDevCost {
  input?: number
  output?: number
  cache_read?: number
  cache_write?: number
  reasoning?: number
}

type GenaiPrice = number | { base: number; tiers: { start: number; price: number }[] }
type GenaiMatch = {
  or?: GenaiMatch[]
  and?: GenaiMatch[]
  equals?: string
  starts_with?: string
  ends_with?: string
  contains?: string
  regex?: string
}
interface GenaiPrices {
  input_mtok?: GenaiPrice
  output_mtok?: GenaiPrice
  cache_read_mtok?: GenaiPrice
  cache_write_mtok?: GenaiPrice
}
interface GenaiModel {
  id: string
  match: GenaiMatch
  prices: GenaiPrices | { constraint?: { start_date?: string; start_time?: string }; prices: GenaiPrices }[]
}

export interface SourceTables {
  litellm: Record<string, LitellmEntry>
  modelsDev: Record<string, { models: Record<string, ModelsDevEntry> }>
  genai: { id: string; models: GenaiModel[] }[]
}

export function readSourceTables(folder: string): SourceTables {
  const read = (name: string): unknown => JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
  return {
    litellm: read('litellm-model-prices.json') as SourceTables['litellm'],
    modelsDev: read('models-dev-subset.json') as SourceTables['modelsDev'],
    genai: read('genai-prices.json') as SourceTables['genai'],
  }
}

/**
 * Some cells have rounding errors of binary fractions (2.7500000000000004e-7), some a third of a cent; 9 significant digits are more than a
 * price list has.
 */
function perToken(value: unknown): bigint | null {
  return typeof value === 'number' && value >= 0 ? parseAttoUsd(Number(value.toPrecision(9))) : null
}

/** Dollars per million tokens: one millionth of attoUsd per dollar is picoUsd. */
function perMillion(value: unknown): bigint | null {
  return typeof value === 'number' && value >= 0 ? parsePicoUsd(Number(value.toPrecision(9))) : null
}

export function litellmRow(entry: LitellmEntry): TableRow | null {
  const input = perToken(entry.input_cost_per_token)
  const output = perToken(entry.output_cost_per_token) ?? (entry.mode === 'embedding' ? 0n : null)
  if (input === null || output === null) return null
  const steps = Object.keys(entry)
    .map((field) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1])
    .filter((thousands) => thousands !== undefined)
    .map((thousands) => {
      const at = (field: string) => perToken(entry[`${field}_above_${thousands}k_tokens`])
      return {
        above: Number(thousands) * 1000,
        input: at('input_cost_per_token') ?? input,
        output: at('output_cost_per_token') ?? output,
        cacheRead: at('cache_read_input_token_cost'),
        cacheWrite: at('cache_creation_input_token_cost'),
        cacheWriteHour: at('cache_creation_input_token_cost_above_1hr'),
      }
    })
    .sort((left, right) => left.above - right.above)
  const prices = {
    input,
    output,
    cacheRead: perToken(entry.cache_read_input_token_cost),
    cacheWrite: perToken(entry.cache_creation_input_token_cost),
    cacheWriteHour: perToken(entry.cache_creation_input_token_cost_above_1hr),
    reasoning: perToken(entry.output_cost_per_reasoning_token),
    steps,
  }
  return { prices, later: [] }
}

export function modelsDevRow(entry: ModelsDevEntry | undefined): TableRow | null {
  const cost = entry?.cost
  const input = perMillion(cost?.input)
  const output = perMillion(cost?.output)
  if (!cost || input === null || output === null) return null
  const steps = (cost.tiers ?? [])
    .map((tier) => ({
      above: tier.tier.size,
      input: perMillion(tier.input) ?? input,
      output: perMillion(tier.output) ?? output,
      cacheRead: perMillion(tier.cache_read),
      cacheWrite: perMillion(tier.cache_write),
      cacheWriteHour: null,
    }))
    .sort((left, right) => left.above - right.above)
  const prices = {
    input,
    output,
    cacheRead: perMillion(cost.cache_read),
    cacheWrite: perMillion(cost.cache_write),
    cacheWriteHour: null,
    reasoning: perMillion(cost.reasoning),
    steps,
  }
  return { prices, later: [] }
}

/**
 * The row in force on `day`, and those that start after it. Prices by time of day are omitted: the highest of them cannot be determined.
 */
export function genaiRow(tables: SourceTables, provider: string, id: string, day: string): TableRow | null {
  const model = tables.genai
    .find((entry) => entry.id === provider)
    ?.models.find((candidate) => matches(candidate.match, id))
  if (!model) return null
  if (!Array.isArray(model.prices)) {
    const prices = genaiPrices(model.prices)
    return prices && { prices, later: [] }
  }
  if (model.prices.some((entry) => entry.constraint?.start_time !== undefined)) return null
  let inForce: TablePrices | null = null
  const later: TableRow['later'] = []
  for (const entry of model.prices) {
    const prices = genaiPrices(entry.prices)
    const start = entry.constraint?.start_date
    if (!prices) continue
    if (start === undefined || start <= day) inForce = prices
    else later.push({ date: start, prices })
  }
  return inForce && { prices: inForce, later: later.sort((left, right) => left.date.localeCompare(right.date)) }
}

function genaiPrices(prices: GenaiPrices): TablePrices | null {
  const base = (price: GenaiPrice | undefined) => perMillion(typeof price === 'object' ? price.base : price)
  const above = (price: GenaiPrice | undefined, start: number) =>
    perMillion(typeof price === 'object' ? price.tiers.findLast((tier) => tier.start <= start)?.price : price)
  const input = base(prices.input_mtok)
  if (input === null) return null
  const output = base(prices.output_mtok) ?? 0n
  const starts = new Set(
    Object.values(prices).flatMap((price: GenaiPrice) =>
      typeof price === 'object' ? (price.tiers ?? []).map((tier) => tier.start) : [],
    ),
  )
  return {
    input,
    output,
    cacheRead: base(prices.cache_read_mtok),
    cacheWrite: base(prices.cache_write_mtok),
    cacheWriteHour: null,
    reasoning: null,
    steps: [...starts]
      .sort((left, right) => left - right)
      .map((start) => ({
        above: start,
        input: above(prices.input_mtok, start) ?? input,
        output: above(prices.output_mtok, start) ?? output,
        cacheRead: above(prices.cache_read_mtok, start),
        cacheWrite: above(prices.cache_write_mtok, start),
        cacheWriteHour: null,
      })),
  }
}

function matches(rule: GenaiMatch, id: string): boolean {
  if (rule.or) return rule.or.some((inner) => matches(inner, id))
  if (rule.and) return rule.and.every((inner) => matches(inner, id))
  if (rule.equals !== undefined) return id === rule.equals
  if (rule.starts_with !== undefined) return id.startsWith(rule.starts_with)
  if (rule.ends_with !== undefined) return id.endsWith(rule.ends_with)
  if (rule.contains !== undefined) return id.includes(rule.contains)
  if (rule.regex !== undefined) return new RegExp(rule.regex).test(id)
  return false
}

export function describePrices(prices: TablePrices): string {
  return `${formatAttoUsd(prices.input)}/${formatAttoUsd(prices.output)}`
}
