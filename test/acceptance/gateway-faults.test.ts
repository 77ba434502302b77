import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { chatAnswer, chatStream, chatStreamBody, errorAnswer, garbage, hugeAnswer } from '../upstream/replies.ts'
import { quotaUsedUp, rateLimited, webPage } from '../upstream/replies.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'

/** What a provider can do wrong, and what the client of the gateway sees of it: docs/errors.md and docs/models.md say the same. */

const providerKey = 'sk-stage-0123456789abcdefghijklmnop'
/** undici rounds limits below a second up; loaded machines need the room. */
const limitMs = 1000
const largestAnswerBytes = 64 * 1024

let stage: GatewayStage

/** Each fault has a model of its own, so that no circuit breaker mixes them up. */
interface Fault {
  name: string
  reply: UpstreamReply | (() => UpstreamReply)
  /** Of a plain call, and of a stream unless `streamed` says otherwise. */
  status: number
  code: string | null
  type: string
  param?: string | null
  retryAfter?: RegExp
  message?: RegExp
  /** Calls that reach the provider: 1 where a repetition would be wrong. */
  attempts: number
  /** The provider with short limits of time and size. */
  hasty?: boolean
  /** Only this way of asking. */
  only?: 'plain' | 'stream'
  /** The upstream keeps the connection until the gateway closes it. */
  hangs?: boolean
}

const ours = { status: 502, code: 'upstream_error', type: 'api_error' }
const late = { status: 504, code: 'upstream_timeout', type: 'api_error' }
const limited = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' }
const invalid = { status: 400, type: 'invalid_request_error' }
const eventStream = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

const faults: Fault[] = [
  { name: 'says nothing at all', reply: { headersAfterMs: 'never' }, ...late, attempts: 1, hasty: true, hangs: true },
  { name: 'closes the connection without an answer', reply: { resetAfterBytes: 0 }, ...ours, attempts: 1 },
  { name: 'answers with a web page', reply: webPage(), ...ours, attempts: 1 },
  { name: 'answers 502 with a web page', reply: webPage(502), ...ours, attempts: 3 },
  { name: 'redirects', reply: { status: 302, headers: { location: 'http://elsewhere.test/' } }, ...ours, attempts: 1 },
  { name: 'answers JSON that breaks off', reply: { ...chatAnswer('Hello'), endAfterBytes: 40 }, ...ours, attempts: 1 },
  {
    name: 'closes in the middle of a plain answer',
    reply: { ...chatAnswer('Hello'), resetAfterBytes: 40 },
    ...ours,
    attempts: 1,
    only: 'plain',
  },
  {
    name: 'stalls in the middle of a plain answer',
    reply: { ...chatAnswer('Hello'), stallAfterBytes: 40 },
    ...late,
    attempts: 1,
    only: 'plain',
    hasty: true,
    hangs: true,
  },
  {
    name: 'answers garbage as JSON',
    reply: garbage(2000, 'application/json'),
    ...ours,
    attempts: 1,
    only: 'plain',
  },
  { name: 'answers JSON of another kind', reply: { headers: json, body: '{"ok":true}' }, ...ours, attempts: 1 },
  { name: 'answers an empty body', reply: { headers: json, body: '' }, ...ours, attempts: 1, only: 'plain' },
  {
    name: 'answers more than the limit',
    reply: hugeAnswer(2 * largestAnswerBytes),
    ...ours,
    attempts: 1,
    hasty: true,
  },
  {
    name: 'refuses our key (401)',
    reply: errorAnswer(401, { message: `Incorrect API key provided: ${providerKey}.`, code: 'invalid_api_key' }),
    ...ours,
    message: /operator/,
    attempts: 1,
  },
  { name: 'refuses our account (403)', reply: errorAnswer(403), ...ours, message: /operator/, attempts: 1 },
  { name: 'has our account empty (429 insufficient_quota)', reply: quotaUsedUp(), ...ours, attempts: 1 },
  { name: 'wants to be paid (402)', reply: errorAnswer(402, { message: 'Payment required' }), ...ours, attempts: 1 },
  {
    name: 'does not know the model (404)',
    reply: errorAnswer(404, { message: 'The model `x` does not exist', code: 'model_not_found' }),
    ...ours,
    attempts: 1,
  },
  { name: 'limits without a hint', reply: rateLimited('none', 0), ...limited, retryAfter: /^1$/, attempts: 1 },
  ...(['retry-after', 'retry-after-ms', 'reset-header', 'in-words'] as const).map((hint) => ({
    name: `limits with ${hint}`,
    reply: rateLimited(hint, 17),
    ...limited,
    retryAfter: /^17$/,
    attempts: 1,
  })),
  {
    name: 'limits with a date',
    reply: () => rateLimited('retry-after-date', 40),
    ...limited,
    // Whole seconds on the wire, less what the call took.
    retryAfter: /^(3\d|40)$/,
    attempts: 1,
  },
  ...[500, 502, 503, 529].map((status) => ({
    name: `fails with ${status} each time`,
    reply: errorAnswer(status),
    ...ours,
    attempts: 3,
  })),
  {
    name: 'asks for a long pause with 503',
    reply: errorAnswer(503, {}, { 'retry-after': '30' }),
    ...ours,
    retryAfter: /^30$/,
    attempts: 1,
  },
  { name: 'gave up itself (504)', reply: errorAnswer(504), ...late, attempts: 1 },
  {
    name: 'finds the prompt too long',
    reply: errorAnswer(400, {
      message: "This model's maximum context length is 8192 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    }),
    ...invalid,
    code: 'context_length_exceeded',
    param: 'messages',
    message: /8192 tokens/,
    attempts: 1,
  },
  {
    name: 'rejects a field, naming its key',
    reply: errorAnswer(400, {
      message: `Unsupported value: 'temperature' (key ${providerKey}, sent to Bearer ${providerKey}).`,
      type: 'invalid_request_error',
      param: 'temperature',
    }),
    ...invalid,
    code: null,
    param: 'temperature',
    message: /rejected the request: Unsupported value: 'temperature'/,
    attempts: 1,
  },
  {
    name: 'filters the prompt',
    reply: errorAnswer(400, { message: 'Flagged by our policy.', code: 'content_filter' }),
    ...invalid,
    code: 'content_filter',
    param: 'messages',
    attempts: 1,
  },
  {
    name: 'puts an error into a plain 200',
    reply: {
      headers: json,
      body: JSON.stringify({ error: { message: 'The server had an error', type: 'server_error' } }),
    },
    ...ours,
    attempts: 3,
    only: 'plain',
  },
  {
    name: 'puts an overload where a stream should begin',
    reply: {
      headers: eventStream,
      body: `data: ${JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } })}\n\n`,
    },
    ...ours,
    attempts: 3,
    only: 'stream',
  },
]

const names = ['the first piece', ' of an answer', ' that never', ' comes', ' to its end']
const whole = chatStreamBody(names)
/** Offset behind so many words of the stream (the role chunk comes first). */
const behindWords = (words: number) =>
  whole
    .split('\n\n')
    .slice(0, words + 1)
    .join('\n\n').length + 2

interface MidFault {
  name: string
  reply: UpstreamReply
  code: string
  text: string
  hasty?: boolean
  hangs?: boolean
}

const broken = { code: 'upstream_error', text: 'the first piece of an answer' }
const midFaults: MidFault[] = [
  {
    name: 'stalls',
    reply: { headers: eventStream, body: whole, stallAfterBytes: behindWords(2) },
    ...broken,
    code: 'upstream_timeout',
    hasty: true,
    hangs: true,
  },
  { name: 'ends too early', reply: { headers: eventStream, body: whole, endAfterBytes: behindWords(2) }, ...broken },
  {
    name: 'closes inside a frame',
    reply: { headers: eventStream, body: whole, resetAfterBytes: behindWords(2) + 20 },
    ...broken,
  },
  {
    name: 'sends an error object',
    reply: {
      headers: eventStream,
      body: `${whole.slice(0, behindWords(2))}data: ${JSON.stringify({ error: { message: `key ${providerKey} is overloaded`, type: 'overloaded_error' } })}\n\n`,
      // Behind the answer's beginning, in a read of its own.
      cuts: [behindWords(2)],
      pauseBetweenWritesMs: 20,
    },
    ...broken,
  },
  {
    name: 'sends a frame of garbage',
    reply: {
      headers: eventStream,
      body: `${whole.slice(0, behindWords(2))}data: {"choices": oops\n\ndata: [DONE]\n\n`,
    },
    ...broken,
  },
  {
    name: 'sends more than the limit',
    reply: chatStream(['the first piece', ' of an answer', ...Array.from({ length: 60 }, () => 'x'.repeat(2000))]),
    code: 'upstream_error',
    text: '',
    hasty: true,
  },
]

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
        // Port 1 of this machine: nobody listens.
        { id: 'gone', baseUrl: 'http://127.0.0.1:1', apiKey: providerKey, hosting: 'us' },
      ],
      models: [
        ...models.map(({ id, hasty }) => model(id, [hasty ? 'hasty' : 'patient'])),
        ...further.map((id) => model(id, [id === 'unreachable' ? 'gone' : 'patient'])),
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
    it(`${fault.name} in the middle of a stream: an error object, the end, no [DONE], and what was seen is billed`, async () => {
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
  /** What a client may see while everything fails at random. */
  const documented = new Set([200, 429, 502, 504])

  it('loses no request, bills each answer once, and leaves no hold and no socket behind', async () => {
    const random = seededRandom(seed)
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
    // Both must occur, or nothing was proved.
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

  it('and after all faults of this file nothing is held, the books agree, and no connection is in use', async () => {
    await stage.expectClean()
    await stage.upstream.quiet()
    // undici opens a spare connection for each answer that is cut off from our side, and keeps it for the next call or 30 s.
    const cutOffByUs = [...wanted, ...wantedMid].filter((fault) => fault.hasty).length
    await stage.upstream.openSocketsAtMost(cutOffByUs)
    await stage.portico.stop()
    await stage.upstream.openSocketsAtMost(0)
  })
})

/** Mulberry32: the same storm each time. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
