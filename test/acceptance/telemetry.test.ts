import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Log, LogFields } from '../../src/platform/kernel/telemetry.ts'
import {
  type ExportedPoint,
  type ExportedSpan,
  type OtlpReceiver,
  startOtlpReceiver,
} from '../harness/otlp-receiver.ts'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { agentic, question, type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'

/** What a collector receives from a whole service: gateway, answers of Spaces, uploads, and their background work. */

const trace = { id: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
const traceparent = `00-${trace.id}-${trace.span}-00`
const lines: LogFields[] = []
const write = (fields: LogFields, message: string) => void lines.push({ ...fields, message })
const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log }

let receiver: OtlpReceiver
let stage: ScriptedStage
let organisation: TestOrganisation
let space: TestSpace
let spans: ExportedSpan[]
let points: ExportedPoint[]
let providerHeaders: Record<string, string | string[] | undefined>[]
/** Request ids. */
const ids = { retried: '', streamed: '', agentic: '', upload: '', unknown: '', failed: '' }

const wholeAnswer = chatAnswer('Hello.', { model: 'm', usage: { prompt_tokens: 5, completion_tokens: 7 } })

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  stage = await startScriptedStage({
    log,
    settings: {
      telemetry: {
        otlp: { endpoint: receiver.url, protocol: 'http/json' },
        traces: { sampleRatio: 1 },
        resourceAttributes: { 'deployment.environment.name': 'test' },
      },
    },
    environment: { OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=secret%20key,x-other=1' },
  })
  organisation = await stage.portico.createOrganisation()
  space = await stage.portico.createSpace(organisation, { model: 'm', settings: { wholeSpaceTokens: 0 } })
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hello?' }], temperature: 0.5 }
  const complete = (given: object = {}) =>
    organisation.client('POST', '/v1/gateway/chat/completions', { ...body, ...given }, { traceparent })

  let tries = 0
  stage.play(() => (tries++ === 0 ? { status: 503, body: '{}' } : wholeAnswer))
  const retried = await complete({ max_completion_tokens: 20 })
  expectStatus(retried, 200)
  ids.retried = retried.headers.get('x-request-id')!
  stage.play(() => scriptedTurn('Hello.'))
  const streamed = await complete({ stream: true })
  ids.streamed = streamed.headers.get('x-request-id')!
  stage.play(() => ({
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: '{"error":{"message":"no"}}',
  }))
  ids.failed = (await complete()).headers.get('x-request-id')!
  ids.unknown = (await organisation.client('GET', '/v1/nowhere')).headers.get('x-request-id')!

  await stage.upload(organisation, space, 'Tickets cost nine euros at the museum.', 'prices.txt')
  stage.play(({ round }) =>
    scriptedTurn(
      round === 0
        ? [
            { name: 'search_uploaded_files', args: { query: 'tickets' } },
            { name: 'no_such_tool_of_the_model', args: {} },
          ]
        : 'Nine euros [1].',
    ),
  )
  const chat = await stage.openChat(organisation, space, { messages: question, headers: agentic })
  await chat.all()
  ids.agentic = chat.requestId
  providerHeaders = stage.upstream.requests.map(({ headers }) => headers)
  await stage.stop()
  spans = receiver.spans()
  points = receiver.points()
})
afterAll(() => receiver?.close())

const requestSpan = (requestId: string) =>
  spans.find(({ kind, attributes }) => kind === 2 && attributes['portico.request.id'] === requestId)!
const below = ({ spanId, traceId }: ExportedSpan) =>
  spans.filter((span) => span.parentSpanId === spanId && span.traceId === traceId)
/** A span and all below it. */
const tree = (span: ExportedSpan): ExportedSpan[] => [span, ...below(span).flatMap(tree)]

describe('a completion', () => {
  it('has a server span below the span of its client, whatever that has sampled', () => {
    const span = requestSpan(ids.retried)
    expect(span).toMatchObject({
      name: 'POST /v1/gateway/chat/completions',
      traceId: trace.id,
      parentSpanId: trace.span,
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/gateway/chat/completions',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'portico.organisation.id': organisation.id,
      },
    })
  })

  it('has one span for the call of the model, and one for each attempt', () => {
    const [call] = below(requestSpan(ids.retried))
    const port = Number(new URL(stage.upstream.url).port)
    expect(call).toMatchObject({
      name: 'chat m',
      kind: 3,
      events: ['ledger.hold', 'ledger.settle', 'ledger.hold_durable'],
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'm',
        'gen_ai.request.stream': false,
        'gen_ai.request.max_tokens': 20,
        'gen_ai.request.temperature': 0.5,
        'gen_ai.response.model': 'm',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.usage.output_tokens': 7,
        'server.address': '127.0.0.1',
        'server.port': port,
        'portico.ending': 'completed',
        'portico.surface': 'gateway',
      },
    })
    const attempts = below(call!)
    expect(attempts).toMatchObject([
      {
        name: 'provider attempt',
        status: 2,
        attributes: { 'portico.attempt': 1, 'http.response.status_code': 503, 'error.type': 'overloaded' },
      },
      {
        name: 'provider attempt',
        status: 0,
        attributes: { 'portico.attempt': 2, 'portico.attempt.outcome': 'answered' },
      },
    ])
  })

  it('has the time to the first token where it is streamed', () => {
    const [call] = below(requestSpan(ids.streamed))
    expect(call!.attributes).toMatchObject({ 'gen_ai.request.stream': true, 'gen_ai.usage.output_tokens': 30 })
    expect(call!.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThanOrEqual(0)
  })

  it('has the code of its error, and is no error of the server span where the client caused it', () => {
    const server = requestSpan(ids.failed)
    expect(server).toMatchObject({ status: 0, attributes: { 'error.type': 'invalid_request' } })
    const [call] = below(server)
    expect(call).toMatchObject({ status: 2, attributes: { 'error.type': 'invalid_request' } })
    expect(call!.events).not.toContain('ledger.settle')
  })

  it('sends no traceparent to the provider', () => {
    expect(providerHeaders.length).toBeGreaterThan(5)
    for (const headers of providerHeaders) expect(headers).not.toHaveProperty('traceparent')
  })

  it('has the trace id in its log line', () => {
    const line = lines.find(({ message, requestId }) => message === 'request' && requestId === ids.retried)
    expect(line).toMatchObject({ traceId: trace.id })
  })
})

describe('with propagateToProviders', () => {
  it('continues the trace at the provider, below the span of the attempt', async () => {
    const collector = await startOtlpReceiver()
    const telemetry = {
      otlp: { endpoint: collector.url, protocol: 'http/json' },
      traces: { sampleRatio: 1, propagateToProviders: true },
    }
    const propagating = await startScriptedStage({ settings: { telemetry } })
    propagating.play(() => wholeAnswer)
    const { client } = await propagating.portico.createOrganisation()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello?' }] }
    expectStatus(await client('POST', '/v1/gateway/chat/completions', body, { traceparent }), 200)
    await propagating.stop()
    const attempt = collector.spans().find(({ name }) => name === 'provider attempt')!
    expect(propagating.upstream.requests.at(-1)!.headers.traceparent).toBe(`00-${trace.id}-${attempt.spanId}-01`)
    await collector.close()
  })
})

describe('other requests', () => {
  it('have the route that is registered, and none where no route matches', () => {
    expect(requestSpan(ids.unknown).name).toBe('GET none')
    expect(spans.map(({ name }) => name)).toContain('GET /v1/documents/:id')
    expect(spans.filter(({ name }) => /[0-9a-f]{8}-/.test(name))).toEqual([])
  })
})

describe('an agentic answer', () => {
  it('has spans for the agent, its searches, its tools, and each call of a model', () => {
    const all = tree(requestSpan(ids.agentic))
    const agent = all.find(({ name }) => name === 'invoke_agent')!
    expect(agent.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'portico',
      'gen_ai.agent.id': space.id,
      'portico.agentic': true,
    })
    expect(below(agent).map(({ name }) => name)).toEqual([
      'retrieval',
      'chat m',
      'execute_tool search_uploaded_files',
      'chat m',
    ])
    const [first, , tool] = below(agent)
    expect(first!.attributes).toMatchObject({
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.data_source.id': space.id,
      'portico.result.count': 1,
    })
    expect(below(first!).map(({ name }) => name)).toEqual(['embeddings embedder'])
    expect(tool!.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search_uploaded_files',
      'gen_ai.tool.type': 'function',
    })
    expect(below(tool!).map(({ name }) => name)).toEqual(['retrieval'])
  })
})

describe('an upload', () => {
  it('is linked from the separate trace of its processing', () => {
    const upload = spans.find(({ name }) => name === 'POST /v1/documents')!
    const job = spans.find(({ name }) => name === 'job process-small-document')!
    expect(job).toMatchObject({ kind: 5, parentSpanId: '', attributes: { 'portico.attempt': 1 } })
    expect(job.traceId).not.toBe(upload.traceId)
    expect(job.links).toEqual([{ traceId: upload.traceId, spanId: upload.spanId }])
    expect(below(job).map(({ name }) => name)).toContain('embeddings embedder')
  })
})

describe('the metrics', () => {
  const of = (metric: string, attributes: Record<string, unknown>) =>
    points.filter(
      (point) =>
        point.metric === metric && Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
    )

  it('have the calls of providers by outcome', () => {
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' }
    const [answered, failed] = [false, true].map((isError) =>
      of('gen_ai.client.operation.duration', chat).find((point) => 'error.type' in point.attributes === isError),
    )
    expect(answered).toMatchObject({ unit: 's', count: 4 })
    expect(failed).toMatchObject({ count: 1, attributes: { 'error.type': 'invalid_request' } })
    expect(of('gen_ai.client.token.usage', { ...chat, 'gen_ai.token.type': 'output' })[0]).toMatchObject({
      unit: '{token}',
      count: 4,
      sum: 7 + 3 * 30,
    })
    expect(of('gen_ai.client.token.usage', { 'gen_ai.operation.name': 'embeddings' }).length).toBe(1)
  })

  it('have the completions that clients of the gateway made', () => {
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'portico', 'gen_ai.request.model': 'm' }
    expect(of('gen_ai.server.request.duration', chat).reduce((sum, { count }) => sum + count, 0)).toBe(3)
    expect(of('gen_ai.server.time_to_first_token', chat)[0]).toMatchObject({ count: 1 })
  })
})

describe('the export', () => {
  it('names the service, the version of the conventions and the headers of the settings', () => {
    expect(receiver.resource()).toMatchObject({
      'service.name': 'portico',
      'service.version': expect.stringMatching(/^\d+\.\d+/),
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'deployment.environment.name': 'test',
    })
    expect(new Set(spans.map(({ schemaUrl }) => schemaUrl))).toEqual(
      new Set(['https://opentelemetry.io/schemas/1.41.1']),
    )
    for (const { headers } of receiver.requests) {
      expect(headers).toMatchObject({
        'x-collector-key': 'secret key',
        'x-other': '1',
        'content-type': 'application/json',
      })
    }
  })

  it('has no spans of itself', () => {
    expect(spans.filter(({ name }) => /v1\/(traces|metrics)/.test(name))).toEqual([])
  })
})
