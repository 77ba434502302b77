import { type ApiClient, expectStatus } from './portico.ts'

interface AddedModel {
  model: string
  provider: string
  /** Of an OpenAI-compatible host. */
  baseUrl: string
  apiKey: string
}

/** Adds a provider in the US, a chat model, its deployment there and prices, as an operator does. */
export async function addModel(operator: ApiClient, { model, provider, baseUrl, apiKey }: AddedModel): Promise<void> {
  const added = { format: 'openai', flavour: 'generic', baseUrl, apiKey, hosting: 'us', models: 'declared' }
  expectStatus(await operator('PUT', `/api/providers/${provider}`, added), 200)
  const limits = { kind: 'chat', maxOutputTokens: 100, contextTokens: 1_000 }
  expectStatus(await operator('PUT', `/api/models/${model}`, limits), 200)
  expectStatus(await operator('PUT', `/api/deployments/${model}-us`, { model, provider }), 200)
  expectStatus(await operator('POST', `/api/deployments/${model}-us/prices`, { input: '1', output: '1' }), 201)
}
