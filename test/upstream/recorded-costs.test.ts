import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCostCheck } from '../../src/gateway/billing/cost-check.ts'
import type { Receipt } from '../../src/gateway/billing/port.ts'
import { type PriceSchedule, statedCost } from '../../src/gateway/billing/prices.ts'
import { createAdapter } from '../../src/gateway/providers/create-provider.ts'
import type { TokenUsage } from '../../src/gateway/providers/port.ts'
import { parseAttoUsd, silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { sharedDataFolder } from '../harness/shared-data.ts'
import { foldStream } from './fold-answer.ts'

/** Costs that hosts state in recorded answers, compared with tokens times the prices of that time. */

/** US dollars per million tokens: input, output and cached input. Models that OpenRouter routes to hosts of several prices are left out. */
const pricesOf: Record<string, [input: number, output: number, cacheRead?: number]> = {
  'anthropic/claude-4.5-haiku-20251001': [1, 5],
  'anthropic/claude-opus-5': [5, 25],
  'anthropic/claude-sonnet-4': [3, 15],
  'anthropic/claude-sonnet-4.5': [3, 15],
  'google/gemini-2.5-flash': [0.3, 2.5],
  'google/gemini-3-pro-preview': [2, 12],
  'google/gemini-3.1-flash-lite-preview-20260303': [0.25, 1.5],
  'grok-3-mini': [0.3, 0.5, 0.075],
  'grok-3-mini-high': [0.3, 0.5, 0.075],
  'grok-4-fast-reasoning': [0.2, 0.5, 0.05],
  'grok-code-fast-1': [0.2, 1.5, 0.02],
  'openai/gpt-5': [1.25, 10, 0.125],
  'openai/gpt-5.4-nano-20260317': [0.2, 1.25],
}

const hosts = new Set(['avian', 'openrouter', 'vercel', 'xai'])

interface RecordedCost {
  name: string
  provider: string
  model: string
  usage: TokenUsage | null
}

function readFolder(name: 'wire' | 'wire-tools'): RecordedCost[] {
  const folder = sharedDataFolder(name)
  if (!folder) return []
  const { records } = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as {
    records: { provider: string; kind: string; file: string }[]
  }
  return records
    .filter(({ provider, kind }) => hosts.has(provider) && (kind === 'nonstream' || kind === 'stream'))
    .map(({ provider, kind, file }) => ({ provider, kind, file, body: readFileSync(path.join(folder, file)) }))
    .filter(({ body }) => /"cost(?:_in_usd_ticks)?":\s*[\d.]/.test(body.toString()))
    .map(({ provider, kind, file, body }) => {
      const adapter = createAdapter({
        id: 'p',
        apiKey: 'k',
        format: 'openai',
        flavour: provider,
        baseUrl: 'http://h.test',
      })
      const usage =
        kind === 'nonstream'
          ? adapter.fromResponse(body).usage
          : (foldStream(adapter.createStreamReader(), [body]).usage ?? null)
      return { name: file, provider, model: /"model":\s*"([^"]+)"/.exec(body.toString())![1]!, usage }
    })
}

const perToken = (dollars: number) => parseAttoUsd(dollars) / 1_000_000n

function schedule([input, output, cacheRead = input]: [number, number, number?]): PriceSchedule {
  const base = { input: perToken(input), output: perToken(output), cacheRead: perToken(cacheRead) }
  return { source: 'recording', validFrom: 0, base, contextSteps: [] }
}

const recorded = [...readFolder('wire'), ...readFolder('wire-tools')]

const missing = recorded.length === 0 ? ' (skipped: shared data not found)' : ''

describe.skipIf(recorded.length === 0)(`a recorded answer that states its cost${missing}`, () => {
  test('has it read', () => {
    expect(recorded.length).toBeGreaterThan(100)
    for (const { name, usage } of recorded) expect(usage?.stated?.costAttoUsd, name).toBeTypeOf('bigint')
  })

  test('costs tokens times prices, except where Vercel’s gateway adds the reasoning of GPT-5 twice', () => {
    const { check } = createCostCheck({ clock: systemClock, log: silentLog })
    const compared = new Map<string, number>()
    for (const { name, provider, model, usage } of recorded) {
      const prices = pricesOf[model]
      if (!prices) continue
      const { costBasis, compared: costs } = statedCost(usage!, usage!.stated, schedule(prices))
      const isTwice = provider === 'vercel' && model === 'openai/gpt-5' && usage!.reasoningTokens > 0
      const again = isTwice ? BigInt(usage!.reasoningTokens) * perToken(prices[1]) : 0n
      expect(costs!.statedAttoUsd, name).toBe(costs!.computedAttoUsd + again)
      expect(costBasis, name).toBe('stated')
      expect(check({ deploymentId: name } as Receipt, costs!), name).toBe(isTwice ? 'above' : 'equal')
      const kind = `${provider}${isTwice ? ', above' : ''}`
      compared.set(kind, (compared.get(kind) ?? 0) + 1)
    }
    expect([...compared.keys()].toSorted()).toEqual(['openrouter', 'vercel', 'vercel, above', 'xai'])
  })
})
