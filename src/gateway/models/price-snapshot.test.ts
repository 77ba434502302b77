import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildSnapshot } from '../../../scripts/price-snapshot/build-snapshot.ts'
import { readSourceTables } from '../../../scripts/price-snapshot/source-tables.ts'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { parseAttoUsd } from '../../platform/kernel/index.ts'
import { findInLists, snapshotSchedules } from './price-lists.ts'
import { type SnapshotModel, loadPriceSnapshot } from './price-snapshot.ts'

const snapshot = loadPriceSnapshot()
const models = Object.entries(snapshot.lists).flatMap(([list, { models }]) => models.map((model) => ({ list, model })))
const find = (list: string, id: string): SnapshotModel => findInLists(snapshot, [list], id)!.model

describe('the shipped snapshot', () => {
  test('names its sources, licence and rules', () => {
    expect(snapshot.sources.map(({ licence }) => licence)).toEqual(['MIT', 'MIT', 'MIT'])
    expect(snapshot.date).toBe('2026-08-01')
    expect(snapshot.rules.length).toBeGreaterThan(3)
  })

  test('contains the main providers and their EU lists', () => {
    const names = Object.keys(snapshot.lists)
    for (const name of [
      'openai',
      'openai-eu',
      'azure',
      'azure-eu',
      'anthropic',
      'gemini',
      'vertex',
      'mistral',
      'bedrock',
      'bedrock-eu',
      'groq',
      'deepseek',
      'xai',
      'together',
      'openrouter',
      'perplexity',
      'cerebras',
      'cohere',
    ])
      expect(names).toContain(name)
  })

  test('has exact prices, zero only for the output of embeddings, and no cache read above the input price', () => {
    for (const { list, model } of models) {
      for (const schedule of snapshotSchedules(model, snapshot.date)) {
        const where = `${list}/${model.id}`
        for (const prices of [schedule.base, ...schedule.contextSteps.map((step) => step.prices)]) {
          expect(prices.input, where).toBeGreaterThan(0n)
          if (model.kind !== 'embedding') expect(prices.output, where).toBeGreaterThan(0n)
          if (prices.cacheRead !== undefined) expect(prices.cacheRead, where).toBeLessThanOrEqual(prices.input)
          if (prices.cacheWrite !== undefined) expect(prices.cacheWrite, where).toBeGreaterThanOrEqual(prices.input)
        }
      }
    }
  })

  test('names each model once in a list, without the prefix of a hosting', () => {
    for (const [name, list] of Object.entries(snapshot.lists)) {
      const ids = list.models.map(({ id }) => id)
      expect(new Set(ids).size, name).toBe(ids.length)
      for (const id of ids) expect(id).not.toMatch(/^(eu|us|global)[/.]/)
    }
  })

  test('context steps ascend and are never cheaper than lower steps', () => {
    for (const { list, model } of models) {
      let below = { above: 0, input: model.input, output: model.output }
      for (const step of model.steps ?? []) {
        expect(step.above, `${list}/${model.id}`).toBeGreaterThan(below.above)
        expect(parseAttoUsd(step.input), `${list}/${model.id}`).toBeGreaterThanOrEqual(parseAttoUsd(below.input))
        below = step
      }
    }
  })

  test('an EU price is never below the plain price of the same model, for long prompts too', () => {
    for (const [eu, plain] of [
      ['azure-eu', 'azure'],
      ['bedrock-eu', 'bedrock-global'],
      ['openai-eu', 'openai'],
    ] as const) {
      for (const model of snapshot.lists[eu]!.models) {
        const twin = snapshot.lists[plain]!.models.find(({ id }) => id === model.id)
        if (!twin) continue
        expect(parseAttoUsd(model.input), `${eu}/${model.id}`).toBeGreaterThanOrEqual(parseAttoUsd(twin.input))
        expect(model.steps?.length ?? 0, `${eu}/${model.id}`).toBeGreaterThanOrEqual(twin.steps?.length ?? 0)
      }
    }
  })

  test('has the correct price where the tables are misleading', () => {
    // Ten percent more in the EU data zone.
    expect([find('azure', 'gpt-5.4').input, find('azure-eu', 'gpt-5.4').input]).toEqual(['0.0000025', '0.00000275'])
    expect(find('bedrock-eu', 'claude-sonnet-4-6')).toMatchObject({ wire: 'eu.anthropic.claude-sonnet-4-6' })
    // All three tables disagree about this floating name.
    expect(find('mistral', 'mistral-small-latest').disagreement).toContain('models.dev')
    // An announced price of a later day.
    expect(find('anthropic', 'claude-sonnet-5').later).toMatchObject([{ date: '2026-09-01', input: '0.000003' }])
    expect(find('anthropic', 'claude-opus-4-7').temperature).toBe(false)
    expect(find('openai', 'o3')).toMatchObject({ temperature: false, reasoningModel: true })
    expect(find('anthropic', 'claude-sonnet-4-5')).toMatchObject({ cacheWriteHour: '0.000006' })
    expect(find('openai', 'text-embedding-3-small')).toMatchObject({ kind: 'embedding', dimensions: 1536, output: '0' })
  })
})

const folder = sharedDataFolder('prices')
describe.skipIf(folder === undefined)(
  `against the source tables${folder ? '' : ' (skipped: shared data is not there)'}`,
  () => {
    test('the file equals the output of the script', () => {
      const built = buildSnapshot(readSourceTables(folder!))
      expect(snapshot).toEqual(JSON.parse(JSON.stringify(built)))
    })

    test('the worked cost checks use the unit prices of the snapshot', () => {
      interface Check {
        model_key?: string
        unit_prices_usd_per_token?: Record<'input' | 'output' | 'cache_read' | 'cache_write', string>
      }
      const { checks } = JSON.parse(readFileSync(path.join(folder!, 'cost-checks.json'), 'utf8')) as { checks: Check[] }
      const priced = checks.filter((check) => check.model_key && check.unit_prices_usd_per_token)
      expect(priced.length).toBeGreaterThan(3)
      const lists: Record<string, string> = { 'gpt-4o-mini': 'openai', 'claude-sonnet-4-5': 'anthropic' }
      for (const { model_key: key, unit_prices_usd_per_token: stated } of priced) {
        const [list, id] = key!.includes('/') ? key!.split('/') : [lists[key!]!, key!]
        const { base } = snapshotSchedules(find(list!, id!), snapshot.date).at(-1)!
        expect([base.input, base.output, base.cacheRead ?? base.input, base.cacheWrite ?? base.input], key).toEqual(
          [stated!.input, stated!.output, stated!.cache_read, stated!.cache_write].map(parseAttoUsd),
        )
      }
    })
  },
)
