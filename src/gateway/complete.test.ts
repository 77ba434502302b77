import { describe, expect, it } from 'vitest'
import type { Hold, Ledger, Outcome, Receipt } from '../billing/index.ts'
import { AppError, createRequestId, silentLog, systemClock } from '../kernel/index.ts'
import { type Catalogue, type Deployment, createRouter } from '../models/index.ts'
import type { Organisation } from '../organisations/index.ts'
import { type Provider, type ProviderAnswer, ProviderError } from '../providers/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import { createCompletions } from './complete.ts'

/** A client that leaves between two steps, which no test over HTTP can place; test/acceptance/gateway-*.test.ts has the rest. */

const deployments = ['first', 'second'].map((id): Deployment => ({
  id,
  providerId: `provider-of-${id}`,
  wire: { id, baseModel: id, acceptsTemperature: true, reasoning: false, maxOutputTokens: 100 },
  hosting: 'us',
  region: null,
  weight: id === 'first' ? 1_000_000_000 : 0.000_001,
  prices: [],
}))

function arrange(
  provider: (deployment: Deployment) => Partial<Provider>,
  durable: Promise<void> = Promise.resolve(),
  settledAs?: string,
) {
  const outcomes: Outcome[] = []
  const hold = {
    durable,
    outputCapTokens: null,
    capReduced: false,
    grant: () => true,
    settle: async (outcome: Outcome) => {
      outcomes.push(outcome)
      return { ending: settledAs ?? (outcome.kind === 'answered' ? outcome.ending : 'unanswered') } as Receipt
    },
  } as unknown as Hold
  const catalogue = {
    resolve: () => ({ model: { id: 'model', kind: 'chat', maxOutputTokens: 100 }, deployments }),
    provider,
  } as unknown as Catalogue
  const completions = createCompletions({
    catalogue,
    router: createRouter({ clock: systemClock, random: () => 0.5, log: silentLog }),
    ledger: { hold: async () => hold } as unknown as Ledger,
    tokens: createTokenCounting({ log: silentLog }),
    clock: systemClock,
    log: silentLog,
  })
  const client = new AbortController()
  const call = (stream: boolean) => ({
    requestId: createRequestId(),
    organisation: { subscription: { status: 'active', startsAt: 0, endsAt: null } } as Organisation,
    surface: 'gateway' as const,
    spaceId: null,
    model: 'model',
    request: { messages: [{ role: 'user' as const, content: 'Hello' }] },
    stream,
    signal: client.signal,
  })
  const leave = () => client.abort(new AppError('client_closed', 'The client has closed the connection.'))
  return { completions, call, leave, client, outcomes }
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

describe('a client that leaves', () => {
  it('while the hold of its stream is being written leaves no open hold, though nobody reads the stream', async () => {
    const { promise: durable, resolve: written } = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const { completions, call, leave, outcomes } = arrange(
      () => ({
        stream: async () => {
          answered.resolve()
          return { adjusted: [], providerRequestId: null, events: (async function* () {})() }
        },
      }),
      durable,
    )
    const streamed = completions.stream(call(true))
    await answered.promise
    leave()
    written()
    await expect(streamed).rejects.toMatchObject({ code: 'client_closed' })
    expect(outcomes).toMatchObject([{ kind: 'answered', ending: 'client_closed', deploymentId: 'first' }])
  })

  it('is billed at the deployment that was working for it', async () => {
    const { promise: working, resolve: begun } = Promise.withResolvers<void>()
    const { completions, call, leave, outcomes } = arrange((deployment) => ({
      complete: ({ signal }) => {
        if (deployment.id === 'first') throw new ProviderError('quota', 'Empty.', { retryable: false })
        begun()
        return untilAborted(signal)
      },
    }))
    const answer = completions.complete(call(false))
    await working
    leave()
    await expect(answer).rejects.toMatchObject({ code: 'client_closed' })
    expect(outcomes).toMatchObject([{ kind: 'answered', deploymentId: 'second', providerId: 'provider-of-second' }])
  })

  it('while no provider works for it is billed nothing', async () => {
    const { completions, call, leave, outcomes } = arrange(() => ({
      complete: async () => {
        // Refused in so many words; the router now waits before the next try.
        setImmediate(leave)
        throw new ProviderError('server_error', 'Broken.', { retryable: true, status: 500 })
      },
    }))
    await expect(completions.complete(call(false))).rejects.toMatchObject({ code: 'client_closed' })
    expect(outcomes).toMatchObject([{ kind: 'unanswered' }])
  })
})

describe('a service that stops', () => {
  it('bills the prompt of a call that its provider was working on', async () => {
    const { promise: working, resolve: begun } = Promise.withResolvers<void>()
    const { completions, call, client, outcomes } = arrange(() => ({
      complete: ({ signal }) => {
        begun()
        return untilAborted(signal)
      },
    }))
    const answer = completions.complete(call(false))
    await working
    client.abort(new AppError('shutting_down', 'The service is stopping.'))
    await expect(answer).rejects.toMatchObject({ code: 'shutting_down' })
    expect(outcomes).toMatchObject([{ kind: 'answered', ending: 'shutdown', estimated: true }])
  })
})

describe('a call that another instance has settled meanwhile', () => {
  const answer = { text: 'Hello', reasoningText: '', refusal: null, toolCalls: [], finishReason: 'stop', usage: null }

  it('delivers no whole answer', async () => {
    const { completions, call } = arrange(
      () => ({ complete: async () => ({ ...answer, adjusted: [] }) as unknown as ProviderAnswer }),
      undefined,
      'crashed',
    )
    await expect(completions.complete(call(false))).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('ends its stream with an error instead of a finish', async () => {
    const events = async function* () {
      yield [{ type: 'text' as const, text: 'Hello' }]
    }
    const { completions, call } = arrange(
      () => ({ stream: async () => ({ adjusted: [], providerRequestId: null, events: events() }) }),
      undefined,
      'crashed',
    )
    const { events: relayed } = await completions.stream(call(true))
    const seen: string[] = []
    const read = async () => {
      for await (const batch of relayed) seen.push(...batch.map((event) => event.type))
    }
    await expect(read()).rejects.toMatchObject({ code: 'overloaded' })
    expect(seen).toEqual(['text'])
  })
})
