import type { PriceSchedule, TokenPrices } from '../billing/index.ts'
import { type HostedToolKind, parseAttoUsd, parsePicoUsd } from '../../platform/kernel/index.ts'
import type { ProviderSettings } from '../providers/index.ts'
import type { Hosting } from './catalogue.ts'
import type { PriceSnapshot, SnapshotModel, SnapshotPrices } from './price-snapshot.ts'

/** Prices as an operator writes them: US dollars per million tokens, decimals as text or number. */
export interface StatedPrices {
  readonly input: string | number
  readonly output?: string | number | undefined
  readonly cacheRead?: string | number | undefined
  readonly cacheWrite?: string | number | undefined
  readonly cacheWriteHour?: string | number | undefined
  readonly reasoning?: string | number | undefined
  /** US dollars per 1,000 uses of a tool that the provider runs. */
  readonly perThousandUses?: Readonly<Partial<Record<HostedToolKind, string | number | undefined>>> | undefined
  readonly contextSteps?: readonly (Omit<StatedPrices, 'contextSteps' | 'perThousandUses'> & {
    readonly abovePromptTokens: number
  })[]
}

/** Dollars per million tokens as attoUsd per token: 1 dollar is 1e12, so the decimal is parsed as picoUsd. Throws RangeError. */
export function statedSchedule(prices: StatedPrices, source: string, validFrom: number): PriceSchedule {
  const steps = [...(prices.contextSteps ?? [])].sort((left, right) => left.abovePromptTokens - right.abovePromptTokens)
  return {
    source,
    validFrom,
    base: tokenPrices({ ...prices, output: prices.output ?? '0' }, parsePicoUsd),
    contextSteps: steps.map((step) => ({
      abovePromptTokens: step.abovePromptTokens,
      prices: tokenPrices({ ...step, output: step.output ?? prices.output ?? '0' }, parsePicoUsd),
    })),
    ...usePrices(prices.perThousandUses),
  }
}

const usesPerPrice = 1_000n

/** A price has at most 12 decimals, so no digit is lost. */
function usePrices(stated: StatedPrices['perThousandUses']): Pick<PriceSchedule, 'toolUses'> {
  const prices = Object.entries(stated ?? {}).flatMap(([kind, price]) =>
    price === undefined ? [] : [[kind, parseAttoUsd(price) / usesPerPrice]],
  )
  return prices.length === 0 ? {} : { toolUses: Object.fromEntries(prices) as NonNullable<PriceSchedule['toolUses']> }
}

/** The snapshot's prices of a model, newest first. The oldest applies to all earlier times. `list`: that of the model. */
export function snapshotSchedules(model: SnapshotModel, snapshotDate: string, list = ''): PriceSchedule[] {
  const uses = usePrices(listedUsePrices(list, model.id))
  const schedule = (prices: SnapshotPrices, validFrom: number): PriceSchedule => ({
    source: `snapshot ${snapshotDate}`,
    validFrom,
    base: tokenPrices(prices, parseAttoUsd),
    contextSteps: (prices.steps ?? []).map((step) => ({
      abovePromptTokens: step.above,
      prices: tokenPrices(step, parseAttoUsd),
    })),
    ...uses,
  })
  const later = (model.later ?? []).map((prices) => schedule(prices, Date.parse(prices.date)))
  return [schedule(model, 0), ...later].toReversed()
}

export const freeSchedule = (source: string): PriceSchedule => statedSchedule({ input: '0', output: '0' }, source, 0)

function tokenPrices(
  prices: Omit<StatedPrices, 'contextSteps' | 'perThousandUses'> & { output: string | number },
  parse: (decimal: string | number) => bigint,
): TokenPrices {
  const optional = (name: 'cacheRead' | 'cacheWrite' | 'cacheWriteHour' | 'reasoning') =>
    prices[name] === undefined ? {} : { [name]: parse(prices[name]) }
  return {
    input: parse(prices.input),
    output: parse(prices.output),
    ...optional('cacheRead'),
    ...optional('cacheWrite'),
    ...optional('cacheWriteHour'),
    ...optional('reasoning'),
  }
}

/** Formats and flavours that have a price list of the same name. */
const ownLists = new Set([
  'openai',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'perplexity',
  'cerebras',
  'scaleway',
  'ovhcloud',
  'nebius',
  'stackit',
  'berget',
  'anthropic',
  'gemini',
  'vertex',
  'cohere',
])

/**
 * The price lists in which a provider's models are looked up by default. Regional hosting uses only the regional list if other regions are
 * cheaper: a price that may be too low is not used.
 */
export function defaultPriceLists(settings: ProviderSettings, hosting: Hosting): string[] {
  const { format, flavour, baseUrl } = settings
  if (format === 'azure' || format === 'bedrock') {
    if (hosting === 'eu') return [`${format}-eu`]
    return hosting === 'us' || hosting === 'global' ? [`${format}-${hosting}`, format] : [format]
  }
  // Any host may be behind an explicit address without a flavour, so no list applies.
  const name = format === 'openai' ? (flavour ?? (baseUrl === undefined ? 'openai' : '')) : format
  if (name === 'openai' && hosting === 'eu') return ['openai-eu']
  return ownLists.has(name) ? [name] : []
}

/** The list entry of a model, by canonical id, alias or wire id. */
export function findInLists(
  snapshot: PriceSnapshot,
  lists: readonly string[],
  id: string,
): { model: SnapshotModel; ownedBy: string; list: string } | undefined {
  for (const name of lists) {
    const list = snapshot.lists[name]
    const model = list?.models.find((entry) => entry.id === id || entry.wire === id || entry.aliases?.includes(id))
    if (list && model) return { model, ownedBy: list.ownedBy, list: name }
  }
  return undefined
}

interface UsePriceRule {
  list: string
  models: RegExp
  /** US dollars per 1,000 uses. */
  prices: Partial<Record<HostedToolKind, string>>
  /** The provider's page. The amounts were compared on 2026-11-24 with pages of others that cite it, not with the page itself. */
  source: string
}

/**
 * Prices of tools that providers run, by price list; the community tables of the snapshot do not have them. A kind without a price is not
 * offered. Later rules win, kind by kind.
 */
const rules: readonly UsePriceRule[] = [
  {
    list: 'anthropic',
    models: /^claude-/,
    // Fetches and searches for tools cost their tokens only. Code is billed by the hour of a container, which no usage states.
    prices: { web_search: '10', web_fetch: '0', tool_search: '0', mcp: '0' },
    source: 'https://platform.claude.com/docs/en/about-claude/pricing#tool-use-pricing',
  },
  {
    list: 'openai',
    models: /^(gpt-|o[134])/,
    // A container of the smallest memory. Calls of MCP servers cost their tokens only.
    prices: { web_search: '10', code_execution: '30', mcp: '0' },
    source: 'https://platform.openai.com/docs/pricing#built-in-tools',
  },
  // Pages and code cost their tokens only.
  ...['gemini', 'vertex'].flatMap((list) => [
    {
      list,
      // An answer with searches.
      models: /^gemini-[12]/,
      prices: { web_search: '35', web_fetch: '0', code_execution: '0' },
      source: 'https://ai.google.dev/gemini-api/docs/pricing',
    },
    {
      list,
      // A query.
      models: /^gemini-([3-9]|\d\d)/,
      prices: { web_search: '14', web_fetch: '0', code_execution: '0' },
      source: 'https://ai.google.dev/gemini-api/docs/pricing',
    },
  ]),
]

function listedUsePrices(list: string, model: string): Partial<Record<HostedToolKind, string>> {
  return Object.assign(
    {},
    ...rules.filter((rule) => rule.list === list && rule.models.test(model)).map(({ prices }) => prices),
  ) as Partial<Record<HostedToolKind, string>>
}
