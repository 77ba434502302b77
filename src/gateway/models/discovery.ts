import type { ModelKind } from '../../contract/model-kinds.ts'
import { type Clock, type Log, describeError } from '../../platform/kernel/index.ts'
import type { Provider, ProviderSettings } from '../providers/index.ts'
import { type Declarations, type ProviderDeclaration, noDeclarations } from './declarations.ts'

/** Interval between listings: a model pulled into Ollama appears within this time. */
const discoveryIntervalMs = 60_000
/** Longest wait for one listing; the start waits for the first one. */
const discoveryTimeoutMs = 2_000
/** Upper bound on the models of one listing. */
const maximumDiscoveredModels = 1_000

/** Names of embedding models of local hosts, whose listings have no kind. */
const embeddingNames = /embed|^(bge|gte|e5|all-minilm|paraphrase)[-_]|minilm/i

const rerankNames = /rerank/i

/** Guesses from the name of a model what it does. */
export function guessModelKind(name: string): ModelKind {
  // bge-reranker is no embedding model.
  if (rerankNames.test(name)) return 'rerank'
  return embeddingNames.test(name) ? 'embedding' : 'chat'
}

/**
 * Lists the models of providers with `models: discovered`: a running Ollama, vLLM, LM Studio. A provider that does not answer has no models
 * until it does.
 */
export function createDiscovery({
  providers,
  provider,
  onChange,
  clock,
  log,
}: {
  /** The providers to list now. */
  providers: () => readonly ProviderDeclaration[]
  provider: (settings: ProviderSettings) => Provider
  onChange: () => void
  clock: Clock
  log: Log
}) {
  const found = new Map<string, readonly string[]>()
  const closed = new AbortController()

  async function ask(declaration: ProviderDeclaration): Promise<readonly string[]> {
    const { id } = declaration.settings
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(discoveryTimeoutMs)])
    try {
      const names = (await provider(declaration.settings).listModels?.(signal)) ?? []
      if (names.length > maximumDiscoveredModels)
        log.warn({ provider: id, models: names.length, taken: maximumDiscoveredModels }, 'a listing is too long')
      return [...new Set(names)].slice(0, maximumDiscoveredModels).sort()
    } catch (error) {
      if (found.get(id)?.length)
        log.info({ provider: id, error: describeError(error) }, 'a provider lists no models now')
      return []
    }
  }

  async function refresh(): Promise<void> {
    const asked = providers()
    const listings = await Promise.all(asked.map(ask))
    if (closed.signal.aborted) return
    let changed = false
    for (const [index, { settings }] of asked.entries()) {
      const names = listings[index]!
      if (String(found.get(settings.id) ?? '') === String(names)) continue
      changed = true
      found.set(settings.id, names)
      log.info({ provider: settings.id, models: names.length }, 'models discovered')
    }
    for (const id of found.keys()) if (!asked.some(({ settings }) => settings.id === id)) found.delete(id)
    if (changed) onChange()
  }

  const stop = clock.every(discoveryIntervalMs, () => void refresh())
  return {
    /** Lists all of them once; never rejects. */
    refresh,
    declarations: (): Declarations => ({
      ...noDeclarations,
      origin: 'discovered',
      models: [...found.values()]
        .flat()
        .map((id) => (guessModelKind(id) === 'chat' ? { id } : { id, kind: guessModelKind(id) })),
      deployments: [...found].flatMap(([providerId, names]) =>
        names.map((name) => ({ id: `${providerId}/${name}`, modelId: name, providerId })),
      ),
    }),
    close(): void {
      closed.abort()
      stop()
    },
  }
}
