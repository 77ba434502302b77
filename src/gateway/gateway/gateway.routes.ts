import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorResponses } from '../../contract/errors.ts'
import { jsonOrEvents } from '../../contract/event-stream.ts'
import {
  type AnnotationBody,
  completionChunkSchema,
  completionRequestSchema,
  completionSchema,
  modelListSchema,
  modelSchema,
} from '../../contract/gateway.ts'
import {
  answerCall,
  type App,
  type Call,
  describeRoutes,
  headerList,
  rateLimitHeaders,
  renderErrorBody,
  type Routes,
  toAppError,
} from '../../platform/http/index.ts'
import type { AppError, Clock, Log } from '../../platform/kernel/index.ts'
import { administrators, assertGatewayAccess } from '../../tenants/organisations/index.ts'
import type { Catalogue, ListedModel } from '../models/index.ts'
import type { TokenUsage, UrlCitation } from '../providers/index.ts'
import { completionBody, type ReadCompletion } from './parse-completion.ts'
import { modelNotFound } from './find-deployments.ts'
import type {
  CompletionCall,
  CompletionEvent,
  CompletionInfo,
  Completions,
  StreamedCompletion,
  WholeCompletion,
} from './port.ts'

const tag = 'Gateway'
const described = describeRoutes('organisation', tag)
const config = { access: assertGatewayAccess }

interface CompletionDependencies {
  completions: Completions
  clock: Clock
  log: Log
}

/** `/v1/gateway`: the models list and chat completions in the compatible API's format; the latter for the console, too. */
export function gatewayRoutes({
  completions,
  catalogue,
  clock,
  log,
}: CompletionDependencies & { catalogue: Catalogue }): Routes {
  return (app) => {
    app.get(
      '/v1/gateway/models',
      described('listModels', 'List models', {
        config,
        description: 'Exactly the ids that a completion would accept, `eu/` ids included.',
        response: { 200: modelListSchema, ...errorResponses(401, 403) },
      }),
      (request) => ({
        object: 'list' as const,
        data: catalogue.list(request.organisation, clock.now()).map(renderModel),
      }),
    )
    addModel(app, catalogue, clock)
    addCompletions(app, { completions, clock, log })
  }
}

const renderModel = ({ id, created, ownedBy }: ListedModel) => ({
  id,
  object: 'model' as const,
  created,
  owned_by: ownedBy,
})

function addModel(app: App, catalogue: Catalogue, clock: Clock) {
  const answer = (request: FastifyRequest, id: string) => {
    const model = catalogue.find(request.organisation, id, clock.now())
    if (!model) throw modelNotFound(id)
    return renderModel(model)
  }
  app.get(
    '/v1/gateway/models/:id',
    described('getModel', 'Get a model', {
      config,
      description: 'An entry of the list, by id or alias. A slash in an id may be sent as it is or as %2F.',
      params: z.object({ id: z.string() }),
      response: { 200: modelSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => answer(request, request.params.id),
  )
  // Ids with a slash (`eu/…`, `vendor/model`) that the client has not encoded.
  const hidden = { config: { auth: 'organisation', ...config }, schema: { hide: true } as object } as const
  app.get('/v1/gateway/models/*', hidden, (request) => answer(request, (request.params as { '*': string })['*']))
}

/** The completion for clients with the key, and for the console, where a person acts for the organisation: one handler. */
function addCompletions(app: App, dependencies: CompletionDependencies) {
  const handle = answerCompletions(dependencies)
  const answer = answerCall(handle)
  const limits = { limited: 'call', body: completionBody, access: assertGatewayAccess } as const
  const schema = {
    body: completionRequestSchema,
    response: {
      200: jsonOrEvents(completionSchema, completionChunkSchema),
      ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504),
    },
  }
  const description =
    'Plain or streamed (`stream: true`). `x-portico-deployment` and `x-portico-hosting` prove where the answer was made.'
  app.post(
    '/v1/gateway/chat/completions',
    described('createChatCompletion', 'Create a chat completion', {
      config: { ...limits, direct: handle },
      ...schema,
      description,
    }),
    answer,
  )
  app.post(
    '/api/organisations/:id/chat/completions',
    describeRoutes({ ...administrators, acting: true }, tag)(
      'createOrganisationChatCompletion',
      'Create a chat completion for the organisation',
      {
        config: limits,
        ...schema,
        description:
          'As `POST /v1/gateway/chat/completions`, for a signed-in administrator: same checks, limits and cost.',
        params: z.object({ id: z.string() }),
      },
    ),
    answer,
  )
}

function answerCompletions({ completions, clock, log }: CompletionDependencies) {
  return (call: Call): Promise<void> => {
    const parsed = call.body as ReadCompletion
    if (parsed.ignored.length > 0) call.header('x-ignored-params', headerList(parsed.ignored))
    const completionCall: CompletionCall = {
      requestId: call.requestId,
      organisation: call.organisation,
      surface: 'gateway',
      spaceId: null,
      model: parsed.model,
      request: parsed.request,
      promptEstimate: parsed.promptEstimate,
      stream: parsed.stream,
      signal: call.signal,
    }
    const identity = (model: string) => ({
      id: `chatcmpl-${call.requestId.slice(4)}`,
      createdSeconds: Math.floor(clock.now() / 1000),
      model,
    })
    return answerCompletion(
      call,
      completionCall,
      {
        whole: (completion) => renderCompletion(completion, identity(completion.model)),
        stream({ model }) {
          const { role, event } = createChunkRenderer(identity(model), { includeUsage: parsed.includeUsage })
          return { start: role, event, failed: renderStreamError }
        },
      },
      { completions, log },
    )
  }
}

/** How one client API writes an answer. */
export interface AnswerRenderer {
  /** Fields that the reading of the request has changed, for `x-adjusted-params`. */
  readonly adjusted?: readonly string[]
  /** The JSON of a whole answer. May set headers of the call. */
  whole(completion: WholeCompletion): string
  stream(streamed: StreamedCompletion): StreamRenderer
}

/** The text of one stream, in complete server-sent events. */
export interface StreamRenderer {
  /** Sent with the first event. */
  start(): string
  event(event: CompletionEvent): string
  /** The last text of a stream that has failed. */
  failed(error: AppError): string
}

interface AnswerDependencies {
  completions: Completions
  log: Log
}

/** Runs one completion and writes its answer, whole or streamed. A rejection becomes the error of the response. */
export function answerCompletion(
  call: Call,
  completionCall: CompletionCall,
  renderer: AnswerRenderer,
  dependencies: AnswerDependencies,
): Promise<void> {
  if (completionCall.stream) return answerStream(call, completionCall, renderer, dependencies)
  return dependencies.completions.complete(completionCall).then((completion) => {
    addAnswerHeaders(call, completion, renderer)
    call.sendJson(renderer.whole(completion))
    call.freeBody()
  })
}

async function answerStream(
  call: Call,
  completionCall: CompletionCall,
  renderer: AnswerRenderer,
  { completions, log }: AnswerDependencies,
): Promise<void> {
  const streamed = await completions.stream(completionCall)
  addAnswerHeaders(call, streamed, renderer)
  const writer = renderer.stream(streamed)
  // No heartbeat: the compatible API sends no comment lines, and strict clients fail on them.
  const stream = call.startEvents()
  let lastText = ''
  // The start is sent with the first text: nothing may be awaited before the iteration, which settles the hold.
  let text = writer.start()
  try {
    for await (const events of streamed.events) {
      for (const event of events) text += writer.event(event)
      // The last text leaves with the end of the stream.
      if (events.at(-1)?.type === 'finish') lastText = text
      else if (text !== '') {
        const draining = stream.write(text)
        if (draining) await draining
      }
      text = ''
    }
    call.freeBody()
  } catch (thrown) {
    const error = toAppError(thrown)
    log.warn({ requestId: call.requestId, code: error.code, internal: error.internal }, 'a stream failed')
    lastText = writer.failed(error)
  } finally {
    stream.end(lastText)
  }
}

/** The last data line of a failed stream of the compatible API. */
export function renderStreamError(error: AppError): string {
  return `data: ${JSON.stringify(renderErrorBody(error))}\n\n`
}

function addAnswerHeaders(
  call: Call,
  { deploymentId, hosting, adjusted, rate }: CompletionInfo,
  { adjusted: adjustedBefore = [] }: AnswerRenderer,
): void {
  call.header('x-portico-deployment', deploymentId)
  call.header('x-portico-hosting', hosting)
  if (rate) for (const [name, value] of Object.entries(rateLimitHeaders(rate))) call.header(name, value)
  const changed = new Set([...adjustedBefore, ...adjusted])
  if (changed.size > 0) call.header('x-adjusted-params', headerList([...changed]))
}

/** Fields that all chunks of one answer share. */
export interface AnswerIdentity {
  id: string
  createdSeconds: number
  model: string
}

/** The JSON of `completionSchema`. Put together from text: only what comes from outside needs `JSON.stringify`. */
export function renderCompletion(
  { text, refusal, citations, finishReason, usage }: WholeCompletion,
  { id, createdSeconds, model }: AnswerIdentity,
): string {
  const isRefused = refusal !== null && text === ''
  const annotations = citations.length > 0 ? `,"annotations":${JSON.stringify(citations.map(renderCitation))}` : ''
  return (
    `{"id":${JSON.stringify(id)},"object":"chat.completion","created":${createdSeconds},"model":${JSON.stringify(model)},` +
    `"choices":[{"index":0,"message":{"role":"assistant","content":${isRefused ? 'null' : JSON.stringify(text)},` +
    `"refusal":${JSON.stringify(refusal)}${annotations}},"logprobs":null,"finish_reason":"${finishReason}"}],` +
    `"usage":${renderUsage(usage)}}`
  )
}

export function renderCitation({ url, title, startIndex, endIndex }: UrlCitation): AnnotationBody {
  return { type: 'url_citation', url_citation: { start_index: startIndex, end_index: endIndex, url, title } }
}

/** The JSON of a `CompletionUsageBody`. */
export function renderUsage({ promptTokens, completionTokens, cachedTokens, reasoningTokens }: TokenUsage): string {
  return (
    `{"prompt_tokens":${promptTokens},"completion_tokens":${completionTokens},"total_tokens":${promptTokens + completionTokens},` +
    `"prompt_tokens_details":{"cached_tokens":${cachedTokens}},"completion_tokens_details":{"reasoning_tokens":${reasoningTokens}}}`
  )
}

/** Turns events into the data lines of the compatible API's stream: role first, deltas, finish, usage where asked, [DONE]. */
export function createChunkRenderer(identity: AnswerIdentity, { includeUsage }: { includeUsage: boolean }) {
  const usageField = includeUsage ? ',"usage":null' : ''
  const head = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.createdSeconds},"model":${JSON.stringify(identity.model)},`
  const deltaHead = `${head}"choices":[{"index":0,"delta":`
  const deltaTail = `,"logprobs":null,"finish_reason":null}]${usageField}}\n\n`
  // Nearly every chunk of an answer differs in its text only.
  const textHead = `${deltaHead}{"content":`
  const textTail = `}${deltaTail}`

  return {
    role: () => `${deltaHead}{"role":"assistant","content":"","refusal":null}${deltaTail}`,
    event(event: CompletionEvent): string {
      switch (event.type) {
        case 'text':
          return `${textHead}${JSON.stringify(event.text)}${textTail}`
        case 'refusal':
          return `${deltaHead}{"refusal":${JSON.stringify(event.text)}}${deltaTail}`
        case 'citations':
          return `${deltaHead}${JSON.stringify({ annotations: event.citations.map(renderCitation) })}${deltaTail}`
        case 'finish':
          return (
            `${deltaHead}{},"logprobs":null,"finish_reason":"${event.finishReason}"}]${usageField}}\n\n` +
            (includeUsage ? `${head}"choices":[],"usage":${renderUsage(event.usage)}}\n\n` : '') +
            'data: [DONE]\n\n'
          )
        // Hidden reasoning, tool calls and several choices are no part of the public format's first version.
        default:
          return ''
      }
    },
  }
}
