import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import type { Hold, Ledger, Outcome, Receipt } from '../billing/index.ts'
import { JsonText } from '../../platform/bodies/index.ts'
import {
  AppError,
  type Clock,
  createPseudonyms,
  createRequestId,
  type EndSignal,
  silentLog,
  systemClock,
} from '../../platform/kernel/index.ts'
import type { Catalogue, Deployment } from '../models/index.ts'
import { createRouter } from '../routing/index.ts'
import { createOrganisationLimiter, type Organisation } from '../../tenants/organisations/index.ts'
import { type Provider, type ProviderAnswer, ProviderError, type ProviderEvent } from '../providers/index.ts'
import { createTokenCounting } from '../tokens/index.ts'
import { createCompletions } from './complete.ts'

/** A client that leaves between two steps, which a test over HTTP cannot time; test/acceptance/gateway-*.test.ts has the rest. */

const deployments = ['first', 'second'].map((id): Deployment => ({
  id,
  providerId: `provider-of-${id}`,
  wire: { id, baseModel: id, acceptsTemperature: true, reasoning: false, maxOutputTokens: 100 },
  hosting: 'us',
  side: 'other',
  region: null,
  weight: id === 'first' ? 1_000_000_000 : 0.000_001,
  prices: [],
}))

function arrange(
  provider: (deployment: Deployment) => Partial<Provider>,
  durable: Promise<void> = Promise.resolve(),
  settledAs?: string,
  changes: { deployments?: Deployment[]; clock?: Clock; hold?: Ledger['hold'] } = {},
) {
  const { clock = systemClock } = changes
  const outcomes: Outcome[] = []
  const hold = {
    durable,
    makeDurable: () => durable,
    outputCapTokens: null,
    capReduced: false,
    grant: () => true,
    settle: async (outcome: Outcome) => {
      outcomes.push(outcome)
      return { ending: settledAs ?? (outcome.kind === 'answered' ? outcome.ending : 'unanswered') } as Receipt
    },
  } as unknown as Hold
  const catalogue = {
    resolve: () => ({
      model: { id: 'model', kind: 'chat', maxOutputTokens: 100 },
      deployments: changes.deployments ?? deployments,
    }),
    provider,
  } as unknown as Catalogue
  const completions = createCompletions({
    catalogue,
    router: createRouter({ clock, random: () => 0.5, log: silentLog }),
    ledger: { holdAtOnce: changes.hold ?? (() => hold), noteRefused() {} } as unknown as Ledger,
    tokens: createTokenCounting({ log: silentLog }),
    limiter: createOrganisationLimiter({ clock }),
    pseudonyms: createPseudonyms('k'.repeat(32)),
    clock,
    log: silentLog,
  })
  const client = new AbortController()
  const call = (stream: boolean) => ({
    requestId: createRequestId(),
    organisation: {
      id: 'organisation',
      subscription: { status: 'active', startsAt: 0, endsAt: null },
      limits: { tokensPerMinute: null },
    } as Organisation,
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

const untilAborted = (signal: EndSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

describe('the user of a request', () => {
  it('reaches the provider under another name, the same for each call', async () => {
    const users: (string | undefined)[] = []
    const { completions, call } = arrange(() => ({
      complete: async ({ request, deployment }) => {
        users.push(request.user)
        throw new ProviderError('invalid_request', `${deployment} has heard enough`, { retryable: false })
      },
    }))
    for (const user of ['ada@example.org', 'ada@example.org', 'bob@example.org']) {
      const asked = call(false)
      await completions.complete({ ...asked, request: { ...asked.request, user } }).catch(() => {})
    }
    const [first, second, other] = users
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })
})

describe('a call whose budget is too small for the bytes of a long text', () => {
  it('is held by the words in it', async () => {
    const bounds: number[] = []
    const { completions, call } = arrange(() => ({}), undefined, undefined, {
      hold: async ({ promptTokensBound }) => {
        bounds.push(promptTokensBound)
        throw new AppError(bounds.length === 1 ? 'insufficient_quota' : 'overloaded', 'no')
      },
    })
    const literal = Buffer.from('several words of a prompt '.repeat(100))
    const content = new JsonText([literal], { leads: literal.length, shortEscapes: 0, longEscapes: 0, base64Bytes: 0 })
    const asked = call(false)
    const complete = completions.complete({
      ...asked,
      request: { messages: [{ role: 'user', content }] },
      promptEstimate: { estimate: 500, bound: literal.length },
    })
    await expect(complete).rejects.toMatchObject({ code: 'overloaded' })
    expect(bounds).toEqual([literal.length, expect.any(Number)])
    expect(bounds[1]!).toBeLessThan(literal.length * 0.9)
  })
})

describe('a prompt without usage from the provider', () => {
  it('is estimated where decoding it to be counted would take long', async () => {
    const answer = { text: 'Hello', reasoningText: '', refusal: null, toolCalls: [], finishReason: 'stop', usage: null }
    const { completions, call, outcomes } = arrange(() => ({ complete: async () => answer as never }))
    const slice = Buffer.from('words '.repeat(10_000))
    const complete = (slices: number) => {
      const content = new JsonText(Array(slices).fill(slice), {
        leads: slices * slice.length,
        shortEscapes: 0,
        longEscapes: 0,
        base64Bytes: 0,
      })
      const promptEstimate = { estimate: 12_345, bound: 50_000_000 }
      return completions.complete({
        ...call(false),
        request: { messages: [{ role: 'user', content }] },
        promptEstimate,
      })
    }
    const counted = await complete(1)
    expect(counted.usage.promptTokens).toBeGreaterThan(5_000)
    expect(counted.usage.promptTokens).not.toBe(12_345)
    expect((await complete(700)).usage.promptTokens).toBe(12_345)
    expect(outcomes).toMatchObject([{ estimated: true }, { estimated: true }])
  })
})

describe('a client that leaves', () => {
  it('while the hold of its stream is being written leaves no open hold', async () => {
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

  it('is billed at the deployment that was processing its call', async () => {
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
    await completions.close()
    expect(outcomes).toMatchObject([{ kind: 'answered', deploymentId: 'second', providerId: 'provider-of-second' }])
  })

  it('while no provider processes its call is billed nothing', async () => {
    const { completions, call, leave, outcomes } = arrange(() => ({
      complete: async () => {
        // The provider has rejected the call; the router waits before the next try.
        setImmediate(leave)
        throw new ProviderError('server_error', 'Broken.', { retryable: true, status: 500 })
      },
    }))
    await expect(completions.complete(call(false))).rejects.toMatchObject({ code: 'client_closed' })
    expect(outcomes).toMatchObject([{ kind: 'unanswered' }])
  })
})

describe('a service that stops', () => {
  it('bills the prompt of a call that a provider was processing', async () => {
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

  it('bills what a stream had sent as ended by the stop, also where its writer finds that out first', async () => {
    const events = async function* () {
      for (;;) yield [{ type: 'text' as const, text: 'Hello' }]
    }
    const { completions, call, client, outcomes } = arrange(() => ({
      stream: async () => ({ adjusted: [], providerRequestId: null, events: events() }),
    }))
    const { events: sent } = await completions.stream(call(true))
    for await (const _ of sent) {
      client.abort(new AppError('shutting_down', 'The service is stopping.'))
      break
    }
    expect(outcomes).toMatchObject([{ kind: 'answered', ending: 'shutdown' }])
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

describe('a client that leaves while its answer is generated', () => {
  const usage = (completionTokens: number, reasoningTokens: number) => ({
    promptTokens: 7,
    completionTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens,
  })
  const thinking = deployments.map((deployment) => ({ ...deployment, wire: { ...deployment.wire, reasoning: true } }))

  /** A stream that shows one word; the rest comes when the test releases it, or never. */
  function thinkingProvider() {
    const rest = Promise.withResolvers<ProviderEvent[]>()
    const released = Promise.withResolvers<void>()
    const stream: Provider['stream'] = async ({ signal }) => ({
      adjusted: [],
      providerRequestId: null,
      events: (async function* () {
        try {
          yield [{ type: 'text' as const, text: 'Hello' }]
          yield await Promise.race([rest.promise, untilAborted(signal)])
        } finally {
          released.resolve()
        }
      })(),
    })
    return { provider: () => ({ stream }), rest, released: released.promise }
  }

  async function leaveAfterFirstWord({ completions, call, leave }: ReturnType<typeof arrange>) {
    const { events } = await completions.stream(call(true))
    for await (const batch of events) {
      expect(batch).toEqual([{ type: 'text', text: 'Hello' }])
      leave()
      break
    }
  }

  it('pays for the hidden reasoning that the provider reports afterwards', async () => {
    const { provider, rest, released } = thinkingProvider()
    const stage = arrange(provider, undefined, undefined, { deployments: thinking })
    await leaveAfterFirstWord(stage)
    expect(stage.outcomes).toEqual([])
    rest.resolve([{ type: 'usage', usage: usage(90, 80) }])
    await released
    await stage.completions.close()
    expect(stage.outcomes).toMatchObject([
      {
        ending: 'client_closed',
        estimated: false,
        usage: { promptTokens: 7, completionTokens: 90, reasoningTokens: 80 },
      },
    ])
  })

  it('pays for reasoning at the measured rate where no usage comes within 30 s, and the connection is released', async () => {
    const clock = createFakeClock()
    const { provider, released } = thinkingProvider()
    const stage = arrange(provider, undefined, undefined, { deployments: thinking, clock })
    await leaveAfterFirstWord(stage)
    await clock.advance(29_000)
    expect(stage.outcomes).toEqual([])
    await clock.advance(2_000)
    await released
    await stage.completions.close()
    // 50 tokens a second without a measurement; at most the cap of 100.
    expect(stage.outcomes).toMatchObject([
      {
        ending: 'client_closed',
        estimated: true,
        usage: { completionTokens: 100, reasoningTokens: expect.any(Number) },
      },
    ])
  })

  it('is billed for the time until then when the service stops', async () => {
    const clock = createFakeClock()
    const { provider, released } = thinkingProvider()
    const stage = arrange(provider, undefined, undefined, { deployments: thinking, clock })
    await leaveAfterFirstWord(stage)
    await clock.advance(1_000)
    await stage.completions.close()
    await released
    expect(stage.outcomes).toMatchObject([
      { ending: 'client_closed', estimated: true, usage: { completionTokens: 50 } },
    ])
  })

  it('uses the rate that earlier calls of the deployment had', async () => {
    const clock = createFakeClock()
    const { provider, released } = thinkingProvider()
    const whole = { text: 'Hi', reasoningText: '', refusal: null, toolCalls: [], finishReason: 'stop', adjusted: [] }
    const complete = async () => {
      await clock.advance(1_000)
      return { ...whole, usage: usage(10, 0) } as unknown as ProviderAnswer
    }
    const stage = arrange(() => ({ ...provider(), complete }), undefined, undefined, { deployments: thinking, clock })
    await stage.completions.complete(stage.call(false))
    await leaveAfterFirstWord(stage)
    await clock.advance(3_000)
    await stage.completions.close()
    await released
    expect(stage.outcomes[1]).toMatchObject({
      ending: 'client_closed',
      estimated: true,
      usage: { completionTokens: 30 },
    })
  })

  it('is billed for what it saw if nothing is hidden, and the provider stops at once', async () => {
    const { provider, released } = thinkingProvider()
    const stage = arrange(provider)
    await leaveAfterFirstWord(stage)
    await released
    expect(stage.outcomes).toMatchObject([{ ending: 'client_closed', estimated: true, usage: { reasoningTokens: 0 } }])
  })

  it('pays for a whole answer with hidden reasoning that the provider finishes', async () => {
    const answer = Promise.withResolvers<ProviderAnswer>()
    const begun = Promise.withResolvers<void>()
    const complete = () => {
      begun.resolve()
      return answer.promise
    }
    const stage = arrange(() => ({ complete }), undefined, undefined, { deployments: thinking })
    const completion = stage.completions.complete(stage.call(false))
    await begun.promise
    stage.leave()
    await expect(completion).rejects.toMatchObject({ code: 'client_closed' })
    const whole = { text: 'Hi', reasoningText: '', refusal: null, toolCalls: [], finishReason: 'stop', adjusted: [] }
    answer.resolve({ ...whole, usage: usage(60, 0) } as unknown as ProviderAnswer)
    await expect
      .poll(() => stage.outcomes)
      .toMatchObject([{ ending: 'client_closed', estimated: false, usage: { completionTokens: 60 } }])
  })

  it('keeps a bounded number of provider connections open', async () => {
    const stage = arrange(() => thinkingProvider().provider(), undefined, undefined, { deployments: thinking })
    const count = 40
    for (let index = 0; index < count; index++) {
      const { completions, call } = stage
      const { events } = await completions.stream({ ...call(true), organisation: sameOrganisation })
      for await (const _ of events) break
    }
    // 32 of one organisation are read on; the others were estimated and settled at once.
    expect(stage.outcomes).toHaveLength(count - 32)
    await stage.completions.close()
    expect(stage.outcomes).toHaveLength(count)
  })
})

const sameOrganisation = {
  id: 'one',
  subscription: { status: 'active', startsAt: 0, endsAt: null },
  limits: { tokensPerMinute: null },
} as unknown as Organisation

describe('a hold that cannot be written', () => {
  it('ends the provider’s call and refuses the client without waiting for either', async () => {
    const refused = Promise.withResolvers<void>()
    const { completions, call, outcomes } = arrange(
      () => ({ complete: ({ signal }) => untilAborted(signal) }),
      refused.promise,
    )
    const answer = completions.complete(call(false))
    refused.reject(new AppError('overloaded', 'The service cannot account for new requests at the moment.'))
    await expect(answer).rejects.toMatchObject({ code: 'overloaded' })
    expect(outcomes).toMatchObject([{ kind: 'unanswered' }])
  })
})
