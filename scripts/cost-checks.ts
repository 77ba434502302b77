/**
 * Runs worked sums through the billing code: `npm run cost-checks [-- --data FILE]`. A check names usage and unit prices, or a
 * recorded answer in which the provider states its own cost. Prints each check that differs; the last line is
 * `N passed, N failed`.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { costOf, type PriceSchedule, type TokenPrices } from '../src/gateway/billing/index.ts'
import { SseParser, formatPicoUsd, parseAttoUsd, parsePicoUsd, type TokenCounts } from '../src/platform/kernel/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'

const decimal = z.union([z.string(), z.number()])
const pricesSchema = z.object({
  input: decimal,
  output: decimal.optional(),
  cache_read: decimal.nullish(),
  cache_write: decimal.nullish(),
  reasoning: decimal.nullish(),
})
const checkSchema = z.object({
  name: z.string(),
  why: z.string().optional(),
  usage: z.object({
    prompt_tokens: z.number(),
    completion_tokens: z.number().default(0),
    cached_tokens: z.number().default(0),
    cache_write_tokens: z.number().default(0),
    reasoning_tokens: z.number().default(0),
  }),
  price_table: z.string().optional(),
  model_key: z.string().optional(),
  unit_prices_usd_per_token: pricesSchema.optional(),
  context_steps: z
    .array(z.object({ above_prompt_tokens: z.number(), unit_prices_usd_per_token: pricesSchema }))
    .default([]),
  markup_basis_points: z.number().int().default(0),
  expected_usd: decimal.optional(),
  record: z.string().optional(),
  stated_usd: decimal.optional(),
})
const fileSchema = z.object({ checks: z.array(checkSchema) })
type Check = z.infer<typeof checkSchema>

function main(): void {
  const { values } = parseArgs({ options: { data: { type: 'string' } } })
  const file = values.data === undefined ? sharedDataFolder('prices', 'cost-checks.json') : path.resolve(values.data)
  if (file === undefined || !existsSync(file)) {
    console.error(`${values.data ?? 'prices/cost-checks.json'} is not there; name a file with -- --data FILE`)
    process.exitCode = 1
    return
  }
  const { checks } = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  let failed = 0
  for (const [index, check] of checks.entries()) {
    const difference = differenceOf(check, path.dirname(file))
    if (difference === null) continue
    failed += 1
    console.log(`${index + 1} ${check.name}${check.record ? ` (${check.record})` : ''}: ${difference}`)
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

/** null: our sum is the expected one, to the last digit. */
function differenceOf(check: Check, folder: string): string | null {
  try {
    const expected = check.record === undefined ? check.expected_usd : (check.stated_usd ?? check.expected_usd)
    if (expected === undefined) return 'the check names no expected cost'
    const found =
      check.record === undefined
        ? costOf(usageOf(check), scheduleOf(check, folder), check.markup_basis_points)
        : costOf(usageOf(check), unpriced, check.markup_basis_points, statedCost(check, check.record, folder))
    return found.totalPicoUsd === parsePicoUsd(expected)
      ? null
      : `expected ${expected}, found ${formatPicoUsd(found.totalPicoUsd)} dollars`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function usageOf({ usage }: Check): TokenCounts {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    cachedTokens: usage.cached_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    reasoningTokens: usage.reasoning_tokens,
  }
}

const unpriced: PriceSchedule = { source: 'stated', validFrom: 0, base: { input: 0n, output: 0n }, contextSteps: [] }

function scheduleOf(check: Check, folder: string): PriceSchedule {
  if (!check.unit_prices_usd_per_token) throw new Error('the check names no unit prices')
  const base = pricesOf(check.unit_prices_usd_per_token)
  const table = tableEntry(check, folder)
  // Where the table has no cache price, the rule that the input price counts then is what is checked: leave it to our code.
  if (table && table['cache_read_input_token_cost'] === undefined) delete base.cacheRead
  if (table && table['cache_creation_input_token_cost'] === undefined) delete base.cacheWrite
  return {
    source: check.name,
    validFrom: 0,
    base,
    contextSteps: check.context_steps.map((step) => ({
      abovePromptTokens: step.above_prompt_tokens,
      prices: pricesOf(step.unit_prices_usd_per_token),
    })),
  }
}

function pricesOf(prices: z.infer<typeof pricesSchema>): TokenPrices {
  const optional = (value: string | number | null | undefined) =>
    value === null || value === undefined ? undefined : parseAttoUsd(value)
  const cacheRead = optional(prices.cache_read)
  const cacheWrite = optional(prices.cache_write)
  const reasoning = optional(prices.reasoning)
  return {
    input: parseAttoUsd(prices.input),
    output: parseAttoUsd(prices.output ?? 0),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

/** The model's row of a LiteLLM table in the folder of the checks; undefined if there is none. */
function tableEntry(check: Check, folder: string): Record<string, unknown> | undefined {
  if (check.price_table !== 'litellm-model-prices.json' || check.model_key === undefined) return undefined
  const file = path.join(folder, check.price_table)
  if (!existsSync(file)) return undefined
  tables.set(
    file,
    tables.get(file) ?? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>),
  )
  return tables.get(file)?.[check.model_key]
}
const tables = new Map<string, Record<string, Record<string, unknown>>>()

const recordsSchema = z.object({ records: z.array(z.object({ id: z.string(), file: z.string() })) })

/** attoUsd that the recorded answer itself states, read from its bytes. */
function statedCost(check: Check, record: string, folder: string): bigint {
  const wire = [path.join(folder, '../wire'), sharedDataFolder('wire')].find(
    (candidate) => candidate !== undefined && existsSync(path.join(candidate, 'index.json')),
  )
  if (wire === undefined) throw new Error('the recordings (folder wire) are not there')
  const { records } = recordsSchema.parse(JSON.parse(readFileSync(path.join(wire, 'index.json'), 'utf8')))
  const entry = records.find(({ id }) => id === record)
  if (!entry) throw new Error(`the recordings have no ${record}`)
  const usage = lastUsage(readFileSync(path.join(wire, entry.file)))
  if (usage.prompt_tokens !== check.usage.prompt_tokens || usage.completion_tokens !== check.usage.completion_tokens) {
    throw new Error(`the recording counts ${usage.prompt_tokens} + ${usage.completion_tokens} tokens`)
  }
  return parseAttoUsd(usage.cost)
}

const statedUsage = z.object({ prompt_tokens: z.number(), completion_tokens: z.number(), cost: z.number() })
const carrier = z.object({ usage: statedUsage })

/** When usage comes several times the last one counts. */
function lastUsage(body: Buffer): z.infer<typeof statedUsage> {
  const whole = body.toString().trimStart()
  const texts = whole.startsWith('{') ? [whole] : sseData(body)
  const last = texts
    .filter((text) => text.startsWith('{'))
    .map((text) => carrier.safeParse(JSON.parse(text)))
    .findLast((parsed) => parsed.success)
  if (!last) throw new Error('the recording states no cost')
  return last.data.usage
}

function sseData(body: Buffer): string[] {
  const parser = new SseParser({ maximumEventBytes: 1_000_000 })
  return [...parser.push(body), ...parser.end()].map(({ data }) => data)
}

main()
