import { expect, test } from 'vitest'
import { buildCatalogue } from './build-catalogue.ts'
import { knownDimensions } from './embedding-dimensions.ts'
import { listEmbeddingModels } from './embedding-models.ts'
import { fromConfiguration, type ConfiguredModel } from './from-configuration.ts'
import { loadPriceSnapshot } from './price-snapshot.ts'

const host = (id: string, hosting: string) => ({
  id,
  format: 'openai' as const,
  flavour: 'generic' as const,
  baseUrl: 'http://127.0.0.1:1/v1',
  hosting,
  models: 'declared' as const,
})

function list(models: ConfiguredModel[], providers: object[] = [host('east', 'us'), host('west', 'eu')]) {
  const configuration = fromConfiguration({ providers: providers as never, models })
  return listEmbeddingModels(buildCatalogue(loadPriceSnapshot(), [configuration]), Date.now())
}

const at = (provider: string, input: string) => ({ provider, prices: { input, output: '0' } })

test('a model is listed for each side, at the price of its most expensive deployment, the cheapest first', () => {
  const models: ConfiguredModel[] = [
    { id: 'dear', kind: 'embedding', dimensions: 8, deployments: [at('east', '3')] },
    {
      id: 'both',
      kind: 'embedding',
      dimensions: 4,
      deployments: [at('east', '1'), at('east', '2'), at('west', '0.5')],
    },
    { id: 'chat', deployments: [at('east', '1')] },
    { id: 'size-unknown', kind: 'embedding', deployments: [at('east', '1')] },
  ]
  expect(list(models)).toEqual([
    { id: 'eu/both', providers: ['west'], hostings: ['eu'], dimensions: 4, input: 500_000_000_000n },
    { id: 'both', providers: ['east'], hostings: ['us'], dimensions: 4, input: 2_000_000_000_000n },
    { id: 'dear', providers: ['east'], hostings: ['us'], dimensions: 8, input: 3_000_000_000_000n },
  ])
})

test.each([
  ['openai', 'text-embedding-3-small', 1536],
  ['mistral', 'mistral-embed', 1024],
  ['cohere', 'embed-multilingual-v3.0', 1024],
  ['cohere', 'embed-v4.0', 1536],
  ['gemini', 'gemini-embedding-001', 3072],
])('the snapshot offers a model of %s: %s with %i dimensions', (list_, id, dimensions) => {
  const format = list_ === 'mistral' ? 'openai' : list_
  const flavour = format === 'openai' ? { flavour: list_ } : {}
  const found = list([], [{ id: list_, format, ...flavour, apiKey: 'k', hosting: 'us' }])
  expect(found.find((model) => model.id === id)).toMatchObject({ dimensions, providers: [list_] })
})

test('models that Ollama lists have known dimensions, whatever their tag', () => {
  const names = [
    'nomic-embed-text',
    'nomic-embed-text:latest',
    'bge-m3:567m',
    'granite-embedding:278m',
    'all-minilm:33m',
  ]
  expect(names.map(knownDimensions)).toEqual([768, 768, 1024, 768, 384])
  expect(knownDimensions('llama3.2')).toBeNull()
})
