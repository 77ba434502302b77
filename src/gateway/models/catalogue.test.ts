import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { type Log, silentLog } from '../../platform/kernel/index.ts'
import type { Provider, ProviderSettings } from '../providers/index.ts'
import { createCatalogue } from './create-catalogue.ts'
import { type Declarations, noDeclarations } from './declarations.ts'
import type { CatalogueConfiguration, ConfiguredModel, ConfiguredProvider } from './from-configuration.ts'
import { statedSchedule } from './price-lists.ts'
import { testOrganisation, testSnapshot } from './testing/catalogue-fixture.ts'

const organisation = testOrganisation()
const openai: ConfiguredProvider = { id: 'openai', format: 'openai', apiKey: 'sk-test-0123456789' }
const model = (
  id: string,
  deployments: ConfiguredModel['deployments'],
  fields: Partial<ConfiguredModel> = {},
): ConfiguredModel => ({
  id,
  kind: 'chat',
  aliases: [],
  deployments,
  ...fields,
})

async function setUp({
  configuration = {},
  operator = {},
  listings = {},
}: {
  configuration?: Partial<CatalogueConfiguration>
  operator?: Partial<Declarations>
  /** Names in each provider's listing; an Error: the provider does not answer. */
  listings?: Record<string, string[] | Error>
} = {}) {
  const clock = createFakeClock()
  const warnings: string[] = []
  const log: Log = { ...silentLog, warn: (fields) => warnings.push(String(fields['problem'])) }
  const stored = { declarations: { ...noDeclarations, origin: 'operator' as const, ...operator } as Declarations }
  const subscribers: ((ids: string[] | 'all') => Promise<void>)[] = []
  const made: ProviderSettings[] = []
  const catalogue = createCatalogue({
    configuration: { providers: [], models: [], ...configuration },
    snapshot: testSnapshot,
    store: { loadDeclarations: () => Promise.resolve(stored.declarations) },
    changes: {
      subscribe(_topic, onChange) {
        subscribers.push(onChange)
        return () => {}
      },
    },
    createProvider(settings) {
      made.push(settings)
      return {
        id: settings.id,
        listModels: async () => {
          const listing = listings[settings.id] ?? []
          if (listing instanceof Error) throw listing
          return listing
        },
        close: () => Promise.resolve(),
      } as unknown as Provider
    },
    clock,
    log,
  })
  await catalogue.start()
  return {
    catalogue,
    clock,
    warnings,
    made,
    ids: (who = organisation, nowMs = clock.now()) => catalogue.list(who, nowMs).map(({ id }) => id),
    resolve: (id: string, who = organisation, nowMs = clock.now()) => catalogue.resolve(who, id, nowMs),
    async change(declarations: Partial<Declarations>) {
      stored.declarations = { ...noDeclarations, origin: 'operator', ...declarations }
      await Promise.all(subscribers.map((subscriber) => subscriber('all')))
    },
  }
}

describe('sources of models', () => {
  test('without any provider the offline model can be called, free of charge, and has no eu/ twin', async () => {
    const { ids, resolve } = await setUp()
    expect(ids()).toEqual(['portico/offline'])
    expect(resolve('eu/portico/offline')).toBeUndefined()
    const found = resolve('portico/offline')!
    expect(found.model).toMatchObject({ tier: 'base', plans: ['free', 'team', 'enterprise'] })
    expect(found.deployments[0]).toMatchObject({ hosting: 'local', prices: [{ base: { input: 0n, output: 0n } }] })
  })

  test('an OpenAI key alone offers OpenAI’s models of the snapshot, with its facts and prices', async () => {
    const { ids, resolve } = await setUp({ configuration: { openaiApiKey: 'sk-test-0123456789' } })
    expect(ids()).toEqual(['big', 'old', 'portico/offline', 'small'])
    const found = resolve('big')!
    expect(found.model).toMatchObject({
      ownedBy: 'openai',
      tier: 'premium',
      contextTokens: 200_000,
      maxOutputTokens: 32_000,
      created: Date.UTC(2026, 0, 2) / 1000,
    })
    expect(found.deployments[0]).toMatchObject({
      id: 'openai/big',
      providerId: 'openai',
      hosting: 'global',
      wire: { id: 'big', acceptsTemperature: false, reasoning: true },
    })
    expect(resolve('small')?.model.tier).toBe('base')
  })

  test('embedding models resolve but are not in the list of chat models', async () => {
    const { ids, resolve } = await setUp({ configuration: { providers: [openai] } })
    expect(ids()).not.toContain('vectors')
    expect(resolve('vectors')?.model).toMatchObject({ kind: 'embedding', dimensions: 256 })
  })

  test('an OpenAI-compatible host is configuration only', async () => {
    const { ids, resolve } = await setUp({
      configuration: {
        providers: [{ id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1234/v1', hosting: 'eu' }],
        models: [model('llama', [{ provider: 'mine', wireId: 'llama-3', prices: { input: '0.15', output: 0.6 } }])],
      },
    })
    expect(ids()).toEqual(['eu/llama', 'portico/offline'])
    expect(resolve('eu/llama')!.deployments[0]).toMatchObject({
      wire: { id: 'llama-3' },
      prices: [{ base: { input: 150_000_000_000n, output: 600_000_000_000n }, source: 'configuration' }],
    })
  })

  test('a running Ollama offers its models free of charge; one that does not answer offers none', async () => {
    const up = await setUp({
      configuration: { ollamaUrl: 'http://127.0.0.1:11434' },
      listings: { ollama: ['qwen3:8b', 'nomic-embed-text'] },
    })
    expect(up.ids()).toEqual(['portico/offline', 'qwen3:8b'])
    expect(up.resolve('qwen3:8b')!.deployments[0]).toMatchObject({
      hosting: 'local',
      prices: [{ base: { input: 0n } }],
    })
    expect(up.resolve('nomic-embed-text')?.model.kind).toBe('embedding')
    const down = await setUp({
      configuration: { ollamaUrl: 'http://127.0.0.1:11434' },
      listings: { ollama: new Error('refused') },
    })
    expect(down.ids()).toEqual(['portico/offline'])
    expect(down.warnings).toEqual([])
  })

  test('an Ollama that starts later is found within a minute', async () => {
    const listings: Record<string, string[] | Error> = { ollama: new Error('refused') }
    const { ids, clock } = await setUp({ configuration: { ollamaUrl: 'http://127.0.0.1:11434' }, listings })
    listings['ollama'] = ['qwen3:8b']
    await clock.advance(60_000)
    expect(ids()).toContain('qwen3:8b')
  })
})

describe('models that cannot be called', () => {
  test('a model without a price is not callable and is logged; price zero is a price', async () => {
    const { ids, warnings } = await setUp({
      configuration: {
        providers: [{ id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }],
        models: [
          model('unpriced', [{ provider: 'mine' }]),
          model('free', [{ provider: 'mine', prices: { input: 0, output: '0' } }]),
        ],
      },
    })
    expect(ids()).toEqual(['free', 'portico/offline'])
    expect(warnings).toEqual(['deployment mine/unpriced: it has no price'])
  })

  test('a model is callable from the start of its first price', async () => {
    const schedule = statedSchedule({ input: 1, output: 2 }, 'operator', Date.UTC(2027, 0, 1))
    const { ids } = await setUp({
      configuration: {
        providers: [{ id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }],
        models: [model('soon', [{ provider: 'mine' }])],
      },
      operator: { prices: [{ id: '1', deploymentId: 'mine/soon', schedule }] },
    })
    expect(ids(organisation, Date.UTC(2026, 11, 31))).not.toContain('soon')
    expect(ids(organisation, Date.UTC(2027, 0, 1))).toContain('soon')
  })

  test('a model that is missing in an EU list has no price: the plain price is not used', async () => {
    const { ids } = await setUp({
      configuration: {
        providers: [{ id: 'azure', format: 'azure', baseUrl: 'https://x.test', hosting: 'eu' }],
        models: [model('big', [{ provider: 'azure' }]), model('small', [{ provider: 'azure' }])],
      },
    })
    expect(ids()).toEqual(['eu/big', 'portico/offline'])
  })

  test('a cloud without declared hosting serves neither side', async () => {
    const { resolve, warnings } = await setUp({
      configuration: {
        providers: [{ id: 'azure', format: 'azure', baseUrl: 'https://x.test', priceLists: ['openai'] }],
        models: [model('big', [{ provider: 'azure' }])],
      },
    })
    expect(resolve('big')).toBeUndefined()
    expect(resolve('eu/big')).toBeUndefined()
    expect(warnings).toEqual(['deployment azure/big: no hosting is declared (eu, us, global, local …)'])
  })

  test('disabled models, other plans and retired models are neither listed nor callable', async () => {
    const kit = await setUp({ configuration: { providers: [openai] } })
    const closed = (who: Parameters<typeof kit.ids>[0], id: string, nowMs?: number) => {
      expect(kit.ids(who, nowMs)).not.toContain(id)
      expect(kit.resolve(id, who, nowMs)).toBeUndefined()
    }
    closed(testOrganisation({ disabledModels: ['big'] }), 'big')
    expect(kit.resolve('big-2026', testOrganisation({ disabledModels: ['big'] }))).toBeUndefined()
    closed(testOrganisation({ plan: 'free' }), 'big')
    expect(kit.ids(testOrganisation({ plan: 'free' }))).toContain('small')
    closed(organisation, 'old', Date.UTC(2026, 10, 30))
    expect(kit.ids(organisation, Date.UTC(2026, 10, 30) - 1)).toContain('old')
  })

  test('an id is exact: case, blanks and doubled prefixes find nothing', async () => {
    const { resolve } = await setUp({
      configuration: { providers: [{ ...openai, hosting: 'eu', priceLists: ['openai'] }] },
    })
    expect(resolve('eu/big')).toBeDefined()
    for (const id of ['eu/eu/big', 'EU/big', 'Big', ' big', 'big ', 'eu/', '', 'big/', '__proto__', 'constructor'])
      expect(resolve(id), id).toBeUndefined()
  })
})

describe('traits of a model', () => {
  const prices = { input: 1, output: 1 }
  const anthropic: ConfiguredProvider = { id: 'mine', format: 'anthropic', hosting: 'us' }

  test('follow from the id on the wire if the model has another id', async () => {
    const { resolve } = await setUp({
      configuration: {
        providers: [anthropic, { id: 'x', format: 'openai', flavour: 'openai', apiKey: 'k' }],
        models: [
          model('house', [{ provider: 'mine', wireId: 'claude-3-haiku-20240307', prices }]),
          model('other', [{ provider: 'x', wireId: 'big', prices }]),
          model('chat', [{ provider: 'x', wireId: 'gpt-5', prices }], { baseModel: 'gpt-4o' }),
        ],
      },
    })
    expect(resolve('house')).toMatchObject({
      model: { maxOutputTokens: 4096 },
      deployments: [{ wire: { id: 'claude-3-haiku-20240307', maxOutputTokens: 4096 } }],
    })
    expect(resolve('other')).toMatchObject({
      model: { contextTokens: 200_000, maxOutputTokens: 32_000 },
      deployments: [{ wire: { baseModel: 'big', reasoning: true, acceptsTemperature: false, contextTokens: 200_000 } }],
    })
    // A declared base model has priority over the id on the wire.
    expect(resolve('chat')?.deployments[0]!.wire).toMatchObject({ reasoning: false, acceptsTemperature: true })
  })

  test('can be declared for a model and for a deployment; the deployment wins', async () => {
    const { resolve } = await setUp({
      configuration: {
        providers: [anthropic],
        models: [
          model('house', [{ provider: 'mine', prices, traits: { tools: false, maxOutputTokens: 100 } }], {
            traits: { tools: true, refuses: ['seed'] },
          }),
        ],
      },
    })
    expect(resolve('house')?.deployments[0]!.wire).toMatchObject({
      maxOutputTokens: 100,
      traits: { tools: false, refuses: ['seed'], maxOutputTokens: 100 },
    })
  })
})

describe('precedence', () => {
  test('a name with and without :latest is the same model, unless both exist', async () => {
    const prices = { input: 1, output: 1 }
    const { catalogue, clock } = await setUp({
      configuration: {
        providers: [{ id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1', hosting: 'us' }],
        models: ['llama:latest', 'qwen', 'qwen:latest'].map((id) => model(id, [{ provider: 'mine', prices }])),
      },
    })
    const find = (id: string) => catalogue.find(organisation, id, clock.now())?.id
    expect(find('llama')).toBe('llama:latest')
    expect(find('qwen')).toBe('qwen')
    expect(find('qwen:latest')).toBe('qwen:latest')
    expect(find('llama:7b')).toBeUndefined()
  })

  test('aliases resolve to the canonical id, with and without eu/; a canonical id wins over an alias', async () => {
    const { resolve, warnings } = await setUp({
      configuration: {
        providers: [{ id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1', hosting: 'eu' }],
        models: [
          model('one', [{ provider: 'mine', prices: { input: 1, output: 1 } }], { aliases: ['best', 'two'] }),
          model('two', [{ provider: 'mine', prices: { input: 2, output: 2 } }], { aliases: ['best'] }),
        ],
      },
    })
    expect(resolve('eu/best')).toMatchObject({ eu: true, model: { id: 'one' } })
    expect(resolve('eu/two')?.model.id).toBe('two')
    expect(warnings).toEqual([
      'alias two of one: it already refers to two',
      'alias best of two: it already refers to one',
    ])
  })

  test('a model of the configuration has exactly its declared deployments', async () => {
    const { resolve } = await setUp({
      configuration: {
        providers: [openai, { id: 'mine', format: 'openai', baseUrl: 'http://127.0.0.1:1/v1', hosting: 'us' }],
        models: [model('big', [{ provider: 'mine', prices: { input: 1, output: 1 } }])],
      },
    })
    expect(resolve('big')!.deployments.map(({ id }) => id)).toEqual(['mine/big'])
    expect(resolve('small')!.deployments.map(({ id }) => id)).toEqual(['openai/small'])
  })

  test('several providers of one model are deployments of it, each on its side', async () => {
    const { resolve } = await setUp({
      configuration: {
        providers: [
          openai,
          { ...openai, id: 'second' },
          { ...openai, id: 'inside', hosting: 'eu', priceLists: ['openai'] },
        ],
      },
    })
    expect(resolve('big')!.deployments.map(({ id }) => id)).toEqual(['openai/big', 'second/big'])
    expect(resolve('eu/big')!.deployments.map(({ id }) => id)).toEqual(['inside/big'])
  })

  test('the operator’s price wins from its start; announced prices of the snapshot do not replace it', async () => {
    const from = Date.UTC(2026, 10, 25)
    const schedule = statedSchedule({ input: 9, output: 9 }, 'operator', from)
    const { resolve } = await setUp({
      configuration: { providers: [openai] },
      operator: { prices: [{ id: '1', deploymentId: 'openai/big', schedule }] },
    })
    const prices = resolve('big')!.deployments[0]!.prices
    expect(prices.map((price) => [price.source, price.validFrom])).toEqual([
      ['operator', from],
      ['snapshot 2026-08-01', 0],
    ])
  })

  test('announced prices of a later day are listed, newest first', async () => {
    const { resolve } = await setUp({ configuration: { providers: [openai] } })
    expect(resolve('big')!.deployments[0]!.prices).toMatchObject([
      { validFrom: Date.UTC(2126, 11, 1), base: { input: 4_000_000_000_000n } },
      {
        validFrom: 0,
        base: { input: 3_000_000_000_000n },
        contextSteps: [{ abovePromptTokens: 100_000, prices: { input: 6_000_000_000_000n } }],
      },
    ])
  })

  test('the operator overrides single facts; the others stay', async () => {
    const { resolve } = await setUp({
      configuration: { providers: [openai] },
      operator: {
        models: [{ id: 'big', tier: 'base', plans: ['free'], aliases: ['chosen'] }],
        deployments: [{ id: 'openai/big', weight: 3 } as Declarations['deployments'][number]],
      },
    })
    const found = resolve('chosen', testOrganisation({ plan: 'free' }))!
    expect(found.model).toMatchObject({ id: 'big', tier: 'base', contextTokens: 200_000 })
    expect(found.deployments[0]).toMatchObject({ weight: 3, wire: { id: 'big' } })
  })
})

describe('changes at run time', () => {
  test('a change applies to the next call', async () => {
    const { ids, change } = await setUp({ configuration: { providers: [openai] } })
    await change({ models: [{ id: 'big', enabled: false }] })
    expect(ids()).not.toContain('big')
    await change({ switches: [{ providerId: 'openai', enabled: false }] })
    expect(ids()).toEqual(['portico/offline'])
    await change({})
    expect(ids()).toContain('big')
  })

  test('a provider with unchanged settings keeps its connections', async () => {
    const { catalogue, change, made } = await setUp({ configuration: { providers: [openai] } })
    const first = catalogue.provider({ providerId: 'openai' })
    await change({ models: [{ id: 'big', tier: 'base' }] })
    expect(catalogue.provider({ providerId: 'openai' })).toBe(first)
    expect(made.filter(({ id }) => id === 'openai')).toHaveLength(1)
  })

  test('an override of a removed model is logged and has no other effect', async () => {
    const { ids, warnings, change } = await setUp()
    await change({ deployments: [{ id: 'gone/model', weight: 2 } as Declarations['deployments'][number]] })
    expect(ids()).toEqual(['portico/offline'])
    expect(warnings).toEqual(['deployment gone/model: its model or its provider is not declared'])
  })
})

test('base-tier models are the callable ones of the organisation, cheapest first', async () => {
  const { catalogue, clock } = await setUp({ configuration: { providers: [openai] } })
  expect(catalogue.baseTierModels(organisation, clock.now()).map(({ id }) => id)).toEqual(['portico/offline', 'small'])
})
