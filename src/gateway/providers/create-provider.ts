import type { ProviderFormat } from '../../contract/provider-formats.ts'
import type { Clock, Log } from '../../platform/kernel/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import { createAnthropicAdapter } from './anthropic/index.ts'
import { createBedrockAdapter } from './bedrock/index.ts'
import { createCohereAdapter } from './cohere/index.ts'
import type { ProxySettings } from './connection-pool.ts'
import { createGeminiAdapter, createVertexAdapter } from './gemini/index.ts'
import { createHttpProvider } from './http-provider.ts'
import { createOfflineProvider } from './offline/offline-provider.ts'
import { createOllamaAdapter } from './ollama/index.ts'
import { createOpenAiAdapter } from './openai/index.ts'
import type { Provider, ProviderSettings } from './port.ts'
import { withStructuredAnswers } from './structured-answer.ts'
import type { CreateWireAdapter, WireAdapter } from './wire-adapter.ts'

export interface ProviderDependencies {
  log?: Log
  /** From the environment; read by config.ts. */
  proxies?: ProxySettings | undefined
  /** PEM certificates that every provider trusts in addition to the system's. */
  certificateAuthority?: string | undefined
  /** Called when a host refused a field, which is then omitted for an hour. */
  onRefusal?: (refusal: { deployment: string; field: string }) => void
  /** Required by the offline model, unused by others. */
  tokens?: TokenCounting
  clock?: Clock
  /** The offline model only: pause before each word of a stream. */
  offlineDelayMs?: number
}

/** Builds the provider for the settings. It connects at its first call. Throws RangeError on invalid settings. */
export function createProvider(settings: ProviderSettings, dependencies: ProviderDependencies = {}): Provider {
  if (settings.format === 'offline') {
    if (!dependencies.tokens) throw new RangeError('the offline model needs `tokens` to count its usage')
    return createOfflineProvider({
      id: settings.id,
      tokens: dependencies.tokens,
      ...(dependencies.offlineDelayMs !== undefined && { delayMs: dependencies.offlineDelayMs }),
      ...(dependencies.clock && { clock: dependencies.clock }),
    })
  }
  const adapter = createAdapter(settings)
  return createHttpProvider({ settings, adapter, ...dependencies })
}

/** The pure mappings of a format, without the transport. */
export function createAdapter(settings: ProviderSettings): WireAdapter {
  if (settings.format === 'offline') throw new RangeError('the offline model has no wire')
  return withStructuredAnswers(adapters[settings.format](settings))
}

const adapters: Readonly<Record<ProviderFormat, CreateWireAdapter>> = {
  openai: createOpenAiAdapter,
  azure: createOpenAiAdapter,
  anthropic: createAnthropicAdapter,
  gemini: createGeminiAdapter,
  vertex: createVertexAdapter,
  bedrock: createBedrockAdapter,
  cohere: createCohereAdapter,
  ollama: createOllamaAdapter,
}
