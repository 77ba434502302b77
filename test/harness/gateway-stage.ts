import { expect } from 'vitest'
import { type Upstream, type UpstreamReply, type UpstreamScript, startUpstream } from '../upstream/upstream.ts'
import { loadCompatibleSchemas } from './openapi-schemas.ts'
import { type ApiAnswer, expectStatus, startPortico, type TestOrganisation, type TestPortico } from './portico.ts'

/** The whole gateway in front of one scripted upstream, with separate behaviour for each model on the wire. */
export interface GatewayStage {
  portico: TestPortico
  organisation: TestOrganisation
  upstream: Upstream
  /** Sets the upstream's reply to calls of this model on the wire. A reply ends its connection unless stated otherwise. */
  play(wireModel: string, reply: UpstreamReply | ((call: number) => UpstreamReply | Promise<UpstreamReply>)): void
  /** The requests that the upstream received for this model on the wire. */
  calls(wireModel: string): WireCall[]
  /** Resolves when the upstream receives its first request for this model. */
  called(wireModel: string): Promise<void>
  complete(model: string, body?: Record<string, unknown>, from?: TestOrganisation): Promise<ApiAnswer>
  stream(model: string, body?: Record<string, unknown>, from?: TestOrganisation): Promise<StreamAnswer>
  receipt(answer: { headers: Headers }): Promise<Receipt>
  /** Checks that no hold is open and that totals match. */
  expectClean(organisation?: TestOrganisation): Promise<void>
  stop(): Promise<void>
}

export interface WireCall {
  index: number
  // Tests read bodies of many shapes.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  headers: Record<string, string | string[] | undefined>
  readonly aborted: boolean
}

interface Receipt {
  model: string
  deploymentId: string | null
  hosting: string | null
  billedUsd: string
  writtenOffUsd: string
  costBasis: string
  rawUsage: Record<string, unknown> | null
  estimated: boolean
  ending: string
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number }
  unitPricesUsdPerToken: { input: string; output: string }
}

/** One streamed answer, read to its end. */
export interface StreamAnswer {
  status: number
  headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  chunks: any[]
  text: string
  /** True when `[DONE]` arrived, and arrived last. */
  done: boolean
  /** The error object of a data line, or of the whole body when the status is not 200. */
  error: ErrorObject | undefined
}

export interface ErrorObject {
  message: string
  type: string
  param: string | null
  code: string | null
}

export const stagePrices = { input: '1', output: '2' }
export const question = [{ role: 'user', content: 'Say something, please.' }]

const schemas = loadCompatibleSchemas()

interface StageOptions {
  /** `providers`, `models` and `server` of portico.yaml; the providers' addresses are those of the upstream. */
  settings(upstreamUrl: string): { providers: object[]; models: object[]; server?: object }
  organisation?: Record<string, unknown>
}

export async function startGatewayStage({ settings, organisation: fields }: StageOptions): Promise<GatewayStage> {
  const upstream = await startUpstream()
  const portico = await startPortico({ settings: { ...settings(upstream.url), ollama: { detect: false } } })
  const organisation = await portico.createOrganisation(fields)
  const scripts = new Map<string, (call: number) => UpstreamReply | Promise<UpstreamReply>>()
  const counts = new Map<string, number>()
  const waiting = new Map<string, () => void>()

  const script: UpstreamScript = async ({ body }) => {
    const model = modelOf(body)
    const call = counts.get(model) ?? 0
    counts.set(model, call + 1)
    waiting.get(model)?.()
    const reply = (await scripts.get(model)?.(call)) ?? { status: 404 }
    return { ...reply, headers: { connection: 'close', ...reply.headers } }
  }
  upstream.script(script)

  const post = (model: string, body: Record<string, unknown>, from: TestOrganisation) =>
    from.client('POST', '/v1/gateway/chat/completions', { model, messages: question, ...body })

  return {
    portico,
    organisation,
    upstream,
    play: (model, reply) => void scripts.set(model, typeof reply === 'function' ? reply : () => reply),
    calls: (model) =>
      upstream.requests
        .filter((request) => modelOf(request.body) === model)
        .map((request) => ({
          index: request.index,
          body: JSON.parse(request.body),
          headers: request.headers,
          get aborted() {
            return request.aborted
          },
        })),
    called: (model) =>
      counts.has(model) ? Promise.resolve() : new Promise((resolve) => waiting.set(model, () => resolve())),
    async complete(model, body = {}, from = organisation) {
      const answer = await post(model, body, from)
      if (answer.status === 200) expectSchema('CreateChatCompletionResponse', answer.body)
      else expectErrorBody(answer.body)
      return answer
    },
    async stream(model, body = {}, from = organisation) {
      const { status, headers, body: text } = await post(model, { stream: true, ...body }, from)
      return readStreamed(status, headers, text)
    },
    async receipt({ headers }) {
      return expectStatus(await portico.operator('GET', `/api/usage/${headers.get('x-request-id')}`), 200)
    },
    async expectClean(whose = organisation) {
      const budget = expectStatus(await portico.operator('GET', `/api/organisations/${whose.id}/budget`), 200)
      expect(budget.heldUsd).toMatch(/^0(\.0+)?$/)
      const audit = expectStatus(await portico.operator('GET', '/api/audit'), 200)
      expect(audit).toMatchObject({ ok: true, findings: [] })
    },
    async stop() {
      await portico.stop()
      await upstream.close()
    },
  }
}

/** Reads a stream and checks the shape of each chunk. */
function readStreamed(status: number, headers: Headers, body: unknown): StreamAnswer {
  if (status !== 200) {
    expectErrorBody(body)
    return { status, headers, chunks: [], text: '', done: false, error: (body as { error: ErrorObject }).error }
  }
  expect(headers.get('content-type')).toContain('text/event-stream')
  const chunks: StreamAnswer['chunks'] = []
  let error: ErrorObject | undefined
  let done = false
  for (const frame of String(body).split('\n\n')) {
    if (frame === '') continue
    // Nothing may follow the end or the error.
    expect(done || error !== undefined, `after the end: ${frame}`).toBe(false)
    expect(frame).toMatch(/^data: /)
    if (frame === 'data: [DONE]') {
      done = true
      continue
    }
    const chunk = JSON.parse(frame.slice('data: '.length))
    if (chunk.error) {
      expectErrorBody(chunk)
      error = chunk.error
      continue
    }
    expectSchema('CreateChatCompletionStreamResponse', chunk)
    chunks.push(chunk)
  }
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  return { status, headers, chunks, text, done, error }
}

/** The published description of the compatible API, where the shared data is available; gateway.test.ts reports when it is missing. */
function expectSchema(name: string, value: unknown) {
  if (schemas) expect(schemas(name, value)).toEqual([])
}

function expectErrorBody(body: unknown) {
  expect(Object.keys((body as { error: object }).error).sort()).toEqual(['code', 'message', 'param', 'type'])
}

function modelOf(body: string): string {
  try {
    return String((JSON.parse(body) as { model?: unknown }).model)
  } catch {
    return ''
  }
}
