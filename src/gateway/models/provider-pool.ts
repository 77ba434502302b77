import { AppError, type Clock, type Log, describeError } from '../../platform/kernel/index.ts'
import type { ConnectionsView, Provider, ProviderEvent, ProviderSettings } from '../providers/index.ts'

/** How long a replaced provider waits for its calls; longer than any answer takes. */
const maximumDrainMs = 30 * 60_000

/**
 * The live providers. A provider with changed settings is replaced at once: new calls use the new one, and the old one closes its
 * connections after its last call.
 */
export function createProviderPool({
  createProvider,
  clock,
  log,
}: {
  createProvider: (settings: ProviderSettings) => Provider
  clock: Clock
  log: Log
}) {
  const entries = new Map<string, { settings: ProviderSettings; fingerprint: string; leased: LeasedProvider | null }>()
  const draining = new Set<Promise<void>>()

  function retire(leased: LeasedProvider | null) {
    if (!leased) return
    const drained = drain(leased, clock)
      .catch((error: unknown) =>
        log.warn({ provider: leased.id, error: describeError(error) }, 'a provider did not close'),
      )
      .finally(() => draining.delete(drained))
    draining.add(drained)
  }

  return {
    get(id: string): Provider {
      const entry = entries.get(id)
      if (!entry)
        throw new AppError('upstream_error', 'The model has no provider at the moment.', {
          internal: `no provider ${id}`,
        })
      // Created at the first call: an unused provider opens no connections.
      entry.leased ??= leaseProvider(createProvider(entry.settings))
      return entry.leased
    },
    /** Connections in use; null before the first call. */
    connections: (id: string): ConnectionsView | null => entries.get(id)?.leased?.connections?.() ?? null,
    /** Replaces the providers of the pool. A provider with unchanged settings keeps its instance and its connections. */
    replace(settings: readonly ProviderSettings[]): void {
      const kept = new Set(settings.map((one) => one.id))
      for (const [id, entry] of entries) {
        if (kept.has(id)) continue
        entries.delete(id)
        retire(entry.leased)
      }
      for (const one of settings) {
        const fingerprint = JSON.stringify(one)
        const former = entries.get(one.id)
        if (former?.fingerprint === fingerprint) continue
        entries.set(one.id, { settings: one, fingerprint, leased: null })
        retire(former?.leased ?? null)
      }
    },
    /** Waits for calls in flight, at most `maximumDrainMs`. */
    async close(): Promise<void> {
      for (const entry of entries.values()) retire(entry.leased)
      entries.clear()
      while (draining.size > 0) await Promise.all(draining)
    },
  }
}

interface LeasedProvider extends Provider {
  /** Resolves when no call is in flight. */
  idle(): Promise<void>
}

async function drain(leased: LeasedProvider, clock: Clock): Promise<void> {
  const stop = new AbortController()
  // A stream that was opened but never read would wait forever.
  await Promise.race([leased.idle(), clock.sleep(maximumDrainMs, stop.signal).catch(() => {})])
  stop.abort()
  await leased.close()
}

/** Counts calls in flight; a stream counts until it ends. */
function leaseProvider(provider: Provider): LeasedProvider {
  let inFlight = 0
  let waiting: (() => void)[] = []
  const begin = () => {
    inFlight++
    let ended = false
    return () => {
      if (ended) return
      ended = true
      if (--inFlight > 0) return
      const resolvers = waiting
      waiting = []
      for (const resolve of resolvers) resolve()
    }
  }
  const during = <T>(work: () => Promise<T>): Promise<T> => {
    const end = begin()
    const working = work()
    working.then(end, end)
    return working
  }
  const { embed, rerank, countTokens, listModels, connections } = provider
  return {
    id: provider.id,
    ...(provider.peer && { peer: provider.peer }),
    complete: (call) => during(() => provider.complete(call)),
    async stream(call) {
      const end = begin()
      // The caller's signal ends a stream that is not read to its end.
      const onAbort = () => end()
      call.signal.addEventListener('abort', onAbort, { once: true })
      try {
        const stream = await provider.stream(call)
        return {
          adjusted: stream.adjusted,
          providerRequestId: stream.providerRequestId,
          events: countUntilEnd(stream.events, () => {
            call.signal.removeEventListener('abort', onAbort)
            end()
          }),
        }
      } catch (error) {
        call.signal.removeEventListener('abort', onAbort)
        end()
        throw error
      }
    },
    ...(provider.embedsTokens ? { embedsTokens: true } : {}),
    ...(embed ? { embed: (call) => during(() => embed.call(provider, call)) } : {}),
    ...(countTokens ? { countTokens: (call) => during(() => countTokens.call(provider, call)) } : {}),
    ...(rerank ? { rerank: (call) => during(() => rerank.call(provider, call)) } : {}),
    ...(listModels ? { listModels: (signal) => during(() => listModels.call(provider, signal)) } : {}),
    ...(connections ? { connections: () => connections.call(provider) } : {}),
    close: () => provider.close(),
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}

/** Passes the reads through. */
function countUntilEnd(events: AsyncIterable<ProviderEvent[]>, end: () => void): AsyncIterable<ProviderEvent[]> {
  return {
    [Symbol.asyncIterator]() {
      const inner = events[Symbol.asyncIterator]()
      const endIfDone = ({ done }: IteratorResult<ProviderEvent[]>) => {
        if (done) end()
      }
      return {
        next() {
          const reading = inner.next()
          reading.then(endIfDone, end)
          return reading
        },
        async return(value?: unknown) {
          try {
            return (await inner.return?.(value)) ?? { done: true as const, value: undefined }
          } finally {
            end()
          }
        },
      }
    },
  }
}
