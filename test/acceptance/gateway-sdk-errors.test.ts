import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateText, streamText } from 'ai'
import OpenAI, {
  APIError,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, question, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import type { TestOrganisation } from '../harness/portico.ts'
import { chatAnswer, chatStreamBody, errorAnswer, rateLimited } from '../upstream/replies.ts'

/** Failures of a provider are typed errors in the official clients. sdk.test.ts has the errors of the gateway. */

let stage: GatewayStage
let baseURL: string
const messages = question as { role: 'user'; content: string }[]
const models = ['limited', 'broken', 'slow', 'long', 'unknown', 'cut', 'silent', 'endless', 'retried'] as const
type ModelName = (typeof models)[number]

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [{ id: 'main', baseUrl, apiKey: 'key', hosting: 'us' }],
      models: models.map((id) => ({
        id,
        contextTokens: 8000,
        maxOutputTokens: 1000,
        deployments: [{ provider: 'main', prices: stagePrices }],
      })),
    }),
  })
  baseURL = `${stage.portico.url}/v1/gateway`
  const body = chatStreamBody(['Half', ' an answer', ' and more'])
  const eventStream = { 'content-type': 'text/event-stream' }
  stage.play('limited', rateLimited('retry-after', 7))
  stage.play('broken', { resetAfterBytes: 0 })
  stage.play('slow', errorAnswer(504))
  stage.play(
    'long',
    errorAnswer(400, { message: 'This model has a maximum context length of 10.', code: 'context_length_exceeded' }),
  )
  stage.play('cut', { headers: eventStream, body, endAfterBytes: body.indexOf(' and more') })
  stage.play('silent', { headersAfterMs: 'never' })
  stage.play('endless', { headers: eventStream, body, stallAfterBytes: body.indexOf(' and more') })
  stage.play('retried', (call) => (call === 0 ? rateLimited('retry-after', 1) : chatAnswer('At last.')))
})
afterAll(() => stage?.stop())

const openai = (maxRetries = 0, from: TestOrganisation = stage.organisation) =>
  new OpenAI({ apiKey: from.apiKey, baseURL, maxRetries })
const ask = (model: ModelName, signal?: AbortSignal) =>
  openai().chat.completions.create({ model, messages }, { signal })
const askStreamed = (model: ModelName, signal?: AbortSignal) =>
  openai().chat.completions.create({ model, messages, stream: true }, { signal })

/** The rejection of a promise; fails when it resolves. */
async function thrownBy(promise: Promise<unknown>): Promise<APIError> {
  try {
    await promise
  } catch (error) {
    return error as APIError
  }
  throw new Error('nothing was thrown')
}

async function readText(stream: AsyncIterable<{ choices: { delta: { content?: string | null } }[] }>) {
  let text = ''
  try {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  } catch (error) {
    return { text, error }
  }
  return { text, error: undefined }
}

describe('the openai package', () => {
  it('raises RateLimitError with retry-after for a provider’s 429, plain and streamed', async () => {
    for (const call of [ask('limited'), askStreamed('limited')]) {
      const error = await thrownBy(call)
      expect(error).toBeInstanceOf(RateLimitError)
      expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' })
      // The second call is refused for the rest of the same time.
      expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(4)
      expect(error.requestID).toMatch(/^req_/)
    }
  })

  it('repeats a rate-limited call after the time in retry-after', async () => {
    // The pause of the package is what is tested.
    const startedAtMs = performance.now()
    const answer = await openai(2).chat.completions.create({ model: 'retried', messages })
    expect(answer.choices[0]!.message.content).toBe('At last.')
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(950)
    expect(stage.calls('retried')).toHaveLength(2)
  })

  it('raises InternalServerError for 502 and 504, with our code', async () => {
    for (const [model, status, code] of [
      ['broken', 502, 'upstream_error'],
      ['slow', 504, 'upstream_timeout'],
    ] as const) {
      for (const call of [ask(model), askStreamed(model)]) {
        const error = await thrownBy(call)
        expect(error).toBeInstanceOf(InternalServerError)
        expect(error).toMatchObject({ status, code, type: 'api_error' })
      }
    }
  })

  it('raises APIError with status 402 and the code for an exhausted budget', async () => {
    const poor = await stage.portico.createOrganisation({ monthlyBudgetUsd: '0' })
    const error = await thrownBy(openai(0, poor).chat.completions.create({ model: 'limited', messages }))
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status: 402, code: 'insufficient_quota', type: 'insufficient_quota' })
  })

  it('raises BadRequestError for a prompt that is too long, and NotFoundError for an unknown model', async () => {
    const long = await thrownBy(ask('long'))
    expect(long).toBeInstanceOf(BadRequestError)
    expect(long).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'messages' })
    expect(await thrownBy(ask('unheard-of' as ModelName))).toBeInstanceOf(NotFoundError)
  })

  it('raises APIError in the middle of a stream that breaks, after the text already sent', async () => {
    const { text, error } = await readText(await askStreamed('cut'))
    expect(text).toBe('Half an answer')
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'upstream_error', type: 'api_error' })
  })

  it('that aborts raises APIUserAbortError and stops the provider’s call', async () => {
    const plain = new AbortController()
    const answer = thrownBy(ask('silent', plain.signal))
    await stage.called('silent')
    plain.abort()
    expect(await answer).toBeInstanceOf(APIUserAbortError)
    await stage.upstream.aborted(stage.calls('silent')[0]!.index)

    const stream = await askStreamed('endless')
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content === ' an answer') stream.controller.abort()
    }
    await stage.upstream.aborted(stage.calls('endless')[0]!.index)
  })
})

describe('@ai-sdk/openai-compatible', () => {
  const model = (id: ModelName) =>
    createOpenAICompatible({ name: 'portico', apiKey: stage.organisation.apiKey, baseURL })(id)

  it('raises a retryable APICallError with retry-after for 429, and one for 502', async () => {
    for (const [id, status] of [
      ['limited', 429],
      ['broken', 502],
    ] as const) {
      const error: unknown = await thrownBy(generateText({ model: model(id), prompt: 'Hello', maxRetries: 0 }))
      if (!APICallError.isInstance(error)) throw error
      expect(error).toMatchObject({ statusCode: status, isRetryable: true })
      if (status === 429) expect(Number(error.responseHeaders?.['retry-after'])).toBeGreaterThan(0)
    }
  })

  it('reports a stream that breaks as an error, not as a short answer', async () => {
    const errors: unknown[] = []
    const { fullStream } = streamText({
      model: model('cut'),
      prompt: 'Hello',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    const types: string[] = []
    for await (const part of fullStream) types.push(part.type)
    expect(types).toContain('error')
    expect(JSON.stringify(errors)).toContain('upstream_error')
  })
})

describe('@langchain/openai', () => {
  const chat = (model: ModelName) =>
    new ChatOpenAI({ model, apiKey: stage.organisation.apiKey, maxRetries: 0, configuration: { baseURL } })

  it('raises the status and code for 429 and 502', async () => {
    await expect(chat('limited').invoke('Hello')).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    await expect(chat('broken').invoke('Hello')).rejects.toMatchObject({ status: 502, code: 'upstream_error' })
  })

  it('raises an error in the middle of a stream that breaks', async () => {
    const read = async () => {
      for await (const chunk of await chat('cut').stream('Hello')) expect(chunk.content).not.toBe(' and more')
    }
    await expect(read()).rejects.toMatchObject({ code: 'upstream_error' })
  })
})

describe('after all errors of this file', () => {
  it('no hold is open and totals match', async () => {
    await stage.upstream.quiet()
    await stage.expectClean()
  })
})
