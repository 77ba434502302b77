import type { HoldRequest, PriceSchedule } from '../../src/gateway/billing/index.ts'
import { perMillion, usageOf } from '../../src/gateway/billing/testing/ledger-fixture.ts'
import { parseAttoUsd, type StatedUsage, type TokenCounts } from '../../src/platform/kernel/index.ts'
import type { Chance } from './random.ts'

export type SimulatedUsage = TokenCounts & { stated?: StatedUsage }

/** What a call sets aside and what its provider counts, within the bounds that the request states. */
export interface SimulatedKind {
  name: string
  request: Partial<HoldRequest>
  usage(outputTokens: number): SimulatedUsage
  /** attoUsd before markup, from the numbers of the price list, without the ledger's functions. */
  cost(usage: SimulatedUsage): bigint
}

const searchAtto = parseAttoUsd('0.0005')
const containerAtto = parseAttoUsd('0.0015')

/** Prices with every class, and a dearer step for prompts above 2,000 tokens. */
function pricesOf(chance: Chance): PriceSchedule {
  const plain = perMillion(chance.pick([0, 1, 3]), chance.pick([10, 15]))
  const { input, output } = plain.base
  const base = {
    ...plain.base,
    cacheRead: input / 10n,
    cacheWrite: (input * 5n) / 4n,
    ...(chance.happens(0.5) && { cacheWriteHour: (input * 7n) / 4n }),
    ...(chance.happens(0.5) && { reasoning: output * 2n }),
  }
  const dearer = { input: input * 2n, output: (output * 3n) / 2n, cacheRead: input / 5n, cacheWrite: input * 3n }
  return {
    ...plain,
    base,
    ...(chance.happens(0.3) && { contextSteps: [{ abovePromptTokens: 2_000, prices: dearer }] }),
    toolUses: { web_search: searchAtto, mcp: 0n, code_execution: containerAtto },
  }
}

/** Each token in one class at its price, writes of an hour and uses of tools. */
function costAt({ base, contextSteps }: PriceSchedule, usage: SimulatedUsage): bigint {
  const [step] = contextSteps
  const prices: PriceSchedule['base'] = step && usage.promptTokens > step.abovePromptTokens ? step.prices : base
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = prices
  const hour = prices.cacheWriteHour ?? (prices.cacheWrite === undefined ? input : 2n * input)
  const hours = usage.cacheWriteHourTokens ?? 0
  const classes: [tokens: number, price: bigint][] = [
    [usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens, input],
    [usage.cachedTokens, cacheRead],
    [usage.cacheWriteTokens - hours, cacheWrite],
    [hours, hour],
    [usage.completionTokens - usage.reasoningTokens, output],
    [usage.reasoningTokens, reasoning],
    [usage.toolUses?.web_search ?? 0, searchAtto],
    [usage.toolUses?.code_execution ?? 0, containerAtto],
  ]
  return classes.reduce((sum, [count, price]) => sum + BigInt(count) * price, 0n)
}

const names = ['text', 'media', 'tools', 'cache', 'reasoning', 'hosted tools', 'embeddings', 'rerank'] as const

/** Deterministic from the chance; the usage is drawn here, so that it does not depend on the order of statements. */
export function pickKind(chance: Chance): SimulatedKind {
  const name = chance.pick(names)
  const prices = pricesOf(chance)
  // Images, audio, files and definitions of tools are tokens of the prompt with other bounds.
  const bound = { text: 100, media: 4_000, tools: 1_500, 'hosted tools': 3_000 }[name as string] ?? 600
  const prompt = chance.happens(0.4) ? bound : chance.integer(1, bound)
  /** Often all: only then a price of one class reaches the bound. */
  const partOf = (whole: number) => (chance.happens(0.4) ? whole : chance.integer(0, whole))
  const written = name === 'cache' ? partOf(prompt) : 0
  const hours = partOf(written)
  const cached = name === 'cache' ? partOf(prompt - written) : 0
  const share = chance.next()
  const uses = { web_search: chance.integer(0, 2), mcp: 1, code_execution: chance.integer(0, 1) }
  const isMetered = name === 'embeddings' || name === 'rerank'
  const units = chance.integer(1, 4)
  const request: Partial<HoldRequest> = {
    promptTokensBound: bound,
    promptTokensEstimate: Math.ceil(bound / 2),
    candidates: [{ deploymentId: 'fixture-deployment', prices: [prices] }],
    ...(name === 'cache' && { writesHourCache: true }),
    ...(name === 'hosted tools' && {
      toolUses: [
        { kinds: ['web_search', 'mcp'], most: 3 },
        { kinds: ['code_execution'], most: 1 },
      ],
    }),
    ...(isMetered && { surface: 'embeddings', stream: false }),
    ...(name === 'embeddings' && { outputCapTokens: 0, modelMaxOutputTokens: 0 }),
    ...(name === 'rerank' && { outputCapTokens: units, modelMaxOutputTokens: units }),
  }
  const stated: StatedUsage = { raw: null, costAttoUsd: null, billedUnits: { inputTokens: 0, outputTokens: units } }
  return {
    name,
    request,
    usage: (outputTokens) => ({
      ...usageOf(prompt, isMetered ? 0 : outputTokens),
      cachedTokens: cached,
      cacheWriteTokens: written,
      ...(hours > 0 && { cacheWriteHourTokens: hours }),
      ...(name === 'reasoning' && { reasoningTokens: Math.floor(outputTokens * share) }),
      ...(name === 'hosted tools' && { toolUses: uses }),
      ...(name === 'rerank' && { stated }),
    }),
    // A search unit has the price of output.
    cost: (usage) => costAt(prices, usage.stated ? usageOf(0, units) : usage),
  }
}
