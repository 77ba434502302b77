import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../harness/random.ts'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { chatAnswer, chatStream, errorAnswer, quotaUsedUp, rateLimited, webPage } from '../upstream/replies.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'
import {
  behindWords,
  eventStream,
  faults,
  largestAnswerBytes,
  limitMs,
  midFaults,
  providerKey,
  whole,
} from '../harness/gateway-faults.ts'

/** Faults of a provider and their effect on the client of the gateway, as in docs/use/errors.md and docs/operate/routing.md. */

let stage: GatewayStage

const idOf = (name: string, way: string) => `${way}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
const wanted = faults.flatMap((fault) =>
  (['plain', 'stream'] as const)
    .filter((way) => fault.only === undefined || fault.only === way)
    .map((way) => ({ ...fault, way, id: idOf(fault.name, way) })),
)
const wantedMid = midFaults.map((fault) => ({ ...fault, id: idOf(fault.name, 'mid') }))
const models = [...wanted, ...wantedMid].map(({ id, hasty }) => ({ id, hasty: hasty === true }))
const further = ['filtered', 'well', 'unreachable', 'storm-a', 'storm-b']

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [
        { id: 'patient', baseUrl, apiKey: providerKey, hosting: 'us' },
        {
          id: 'hasty',
          baseUrl,
          apiKey: providerKey,
          hosting: 'us',
          limits: { headersTimeoutMs: limitMs, idleTimeoutMs: limitMs, maximumResponseBytes: largestAnswerBytes },
        },
        // Nothing listens on port 1 of this machine.
        { id: 'gone', baseUrl: 'http://127.0.0.1:1', apiKey: providerKey, hosting: 'us' },
        { id: 'narrow', baseUrl, apiKey: providerKey, hosting: 'us', limits: { maximumConnections: 1 } },
      ],
      models: [
        ...models.map(({ id, hasty }) => model(id, [hasty ? 'hasty' : 'patient'])),
        ...further.map((id) => model(id, [id === 'unreachable' ? 'gone' : 'patient'])),
        model('kept', ['narrow']),
        {
          id: 'storm',
          contextTokens: 8000,
          maxOutputTokens: 1000,
          deployments: ['storm-a', 'storm-b', 'storm-c'].map((wireId) => ({
            provider: 'patient',
            wireId,
            prices: stagePrices,
          })),
        },
      ],
    }),
  })
})
afterAll(() => stage?.stop())

function model(id: string, providers: string[]) {
  return {
    id,
    contextTokens: 8000,
    maxOutputTokens: 1000,
    deployments: providers.map((provider) => ({ provider, prices: stagePrices })),
  }
}

describe.concurrent('a provider that', () => {
  for (const fault of wanted) {
    it(`${fault.name}: ${fault.status} ${fault.code ?? ''} (${fault.way})`, async () => {
      stage.play(fault.id, fault.reply)
      const answer = fault.way === 'plain' ? await stage.complete(fault.id) : await stage.stream(fault.id)
      const error = 'body' in answer ? answer.body.error : answer.error
      expect({ status: answer.status, ...error }).toMatchObject({
        status: fault.status,
        code: fault.code,
        type: fault.type,
        param: fault.param ?? null,
      })
      expect(error.message).toMatch(fault.message ?? /./)
      expect(error.message).not.toContain(providerKey)
      expect(error.message).not.toContain('127.0.0.1')
      if (fault.retryAfter) expect(answer.headers.get('retry-after')).toMatch(fault.retryAfter)
      const calls = stage.calls(fault.id)
      expect(calls).toHaveLength(fault.attempts)
      if (fault.hangs) await stage.upstream.aborted(calls[0]!.index)
      expect(await stage.receipt(answer)).toMatchObject({ ending: 'unanswered', billedUsd: '0', writtenOffUsd: '0' })
    })
  }

  for (const fault of wantedMid) {
    it(`${fault.name} in the middle of a stream: an error object, no [DONE], and the text already sent is billed`, async () => {
      stage.play(fault.id, fault.reply)
      const answer = await stage.stream(fault.id)
      expect(answer.status).toBe(200)
      expect(answer.text.startsWith(fault.text)).toBe(true)
      expect(answer.done).toBe(false)
      expect(answer.error).toMatchObject({ code: fault.code, type: 'api_error', param: null })
      expect(answer.error!.message).not.toContain(providerKey)
      expect(answer.chunks.every((chunk) => chunk.choices[0].finish_reason === null)).toBe(true)
      const calls = stage.calls(fault.id)
      expect(calls, 'never a second call after the first byte').toHaveLength(1)
      if (fault.hangs) await stage.upstream.aborted(calls[0]!.index)
      const receipt = await stage.receipt(answer)
      expect(receipt).toMatchObject({ ending: 'provider_failed', estimated: true })
      expect(receipt.usage.completionTokens).toBeGreaterThan(0)
      expect(receipt.usage.promptTokens).toBeGreaterThan(0)
      // One dollar a million of input, two of output.
      const microUsd = receipt.usage.promptTokens + 2 * receipt.usage.completionTokens
      expect(Number(receipt.billedUsd)).toBeCloseTo(microUsd / 1e6, 12)
    })
  }

  it('cannot be reached: 502, and nothing is billed', async () => {
    const answer = await stage.complete('unreachable')
    expect(answer).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } })
    expect(await stage.receipt(answer)).toMatchObject({ ending: 'unanswered', billedUsd: '0' })
  })

  it('closes an idle connection as the next call arrives: the call is answered, and billed once', async () => {
    stage.play('kept', (call) =>
      call === 1
        ? { resetAfterBytes: 0 }
        : { ...chatAnswer('Here.'), headers: { 'content-type': 'application/json', connection: 'keep-alive' } },
    )
    for (const answer of [await stage.complete('kept'), await stage.complete('kept')]) {
      expect(answer).toMatchObject({ status: 200, body: { choices: [{ message: { content: 'Here.' } }] } })
      expect(await stage.receipt(answer)).toMatchObject({ ending: 'completed', billedUsd: '0.000025' })
    }
    expect(stage.calls('kept')).toHaveLength(3)
  })

  it('filters the answer: a finish reason, not an error, plain and streamed', async () => {
    stage.play('filtered', (call) =>
      call === 0
        ? chatAnswer('As far as', { finishReason: 'content_filter' })
        : chatStream(['As far as'], { finishReason: 'content_filter' }),
    )
    const plain = await stage.complete('filtered')
    expect(plain.body.choices[0].finish_reason).toBe('content_filter')
    const streamed = await stage.stream('filtered')
    expect(streamed.done).toBe(true)
    expect(streamed.chunks.at(-1).choices[0].finish_reason).toBe('content_filter')
    for (const answer of [plain, streamed])
      expect(await stage.receipt(answer)).toMatchObject({ billedUsd: '0.000025', estimated: false })
  })

  it('sends no usage: the answer is whole, counted here and marked as estimated', async () => {
    stage.play('well', (call) =>
      call === 0 ? chatAnswer('Fine.', { usage: null }) : chatStream(['Fine.'], { usage: null }),
    )
    const plain = await stage.complete('well')
    const streamed = await stage.stream('well', { stream_options: { include_usage: true } })
    expect(streamed.done).toBe(true)
    for (const [answer, usage] of [
      [plain, plain.body.usage],
      [streamed, streamed.chunks.at(-1).usage],
    ] as const) {
      const receipt = await stage.receipt(answer)
      expect(receipt).toMatchObject({ ending: 'completed', estimated: true })
      expect(usage).toMatchObject({
        prompt_tokens: receipt.usage.promptTokens,
        completion_tokens: receipt.usage.completionTokens,
      })
      expect(receipt.usage.completionTokens).toBeGreaterThan(0)
    }
  })
})

describe('a storm of faults over parallel calls', () => {
  const callCount = 120
  const seed = 20_260_731
  /** What a client may receive while calls fail at random. */
  const documented = new Set([200, 429, 502, 504])

  it('loses no request, bills each answer once, and leaves no hold and no socket behind', async () => {
    const random = createRandom(seed)
    const misbehave = (): UpstreamReply => {
      const dice = random()
      if (dice < 0.1) return { resetAfterBytes: 0 }
      if (dice < 0.2) return errorAnswer(500)
      if (dice < 0.25) return rateLimited('none', 0)
      if (dice < 0.3) return quotaUsedUp()
      if (dice < 0.35) return webPage()
      if (dice < 0.45) return { headers: eventStream, body: whole, resetAfterBytes: behindWords(2) + 5 }
      if (dice < 0.55) return { headers: eventStream, body: whole, endAfterBytes: behindWords(3) }
      if (dice < 0.75) return chatAnswer('A whole answer.')
      return chatStream(['A', ' whole', ' answer.'])
    }
    for (const wireModel of ['storm-a', 'storm-b', 'storm-c']) stage.play(wireModel, misbehave)
    const organisation = await stage.portico.createOrganisation({ markupPercent: '10' })
    const answers = await Promise.all(
      Array.from({ length: callCount }, async (_, index) => {
        const answer =
          index % 2 === 0
            ? await stage.complete('storm', {}, organisation)
            : await stage.stream('storm', {}, organisation)
        const receipt = await stage.receipt(answer)
        const whole = answer.status === 200 && ('body' in answer || answer.done)
        return { status: answer.status, whole, receipt }
      }),
    )
    expect(answers.filter(({ status }) => !documented.has(status))).toEqual([])
    // Both must occur; otherwise the test proves nothing.
    expect(answers.filter(({ whole }) => whole).length).toBeGreaterThan(5)
    expect(answers.filter(({ status }) => status !== 200).length).toBeGreaterThan(5)
    for (const { status, whole, receipt } of answers) {
      expect(receipt.ending).toBe(status !== 200 ? 'unanswered' : whole ? 'completed' : 'provider_failed')
      if (status !== 200) expect(receipt.billedUsd).toBe('0')
      // 11 tokens at 1 and 7 at 2 dollars a million, and 10 %.
      else if (whole) expect(receipt.billedUsd).toBe('0.0000275')
    }
    const usage = await stage.portico.operator('GET', `/api/organisations/${organisation.id}/usage`)
    const billed = answers.reduce((sum, { receipt }) => sum + Math.round(Number(receipt.billedUsd) * 1e9), 0)
    expect(Math.round(Number(usage.body.totals.billedUsd) * 1e9)).toBe(billed)
    expect(usage.body.totals.requests).toBe(callCount)
    await stage.expectClean(organisation)
  })

  it('leaves no open hold, matching totals and no used connection after all faults of this file', async () => {
    await stage.expectClean()
    await stage.upstream.quiet()
    // undici opens a spare connection for each answer that Portico aborts, and keeps it for the next call or 30 s.
    const cutOffByUs = [...wanted, ...wantedMid].filter((fault) => fault.hasty).length
    await stage.upstream.openSocketsAtMost(cutOffByUs)
    await stage.portico.stop()
    await stage.upstream.openSocketsAtMost(0)
  })
})
