import { z } from 'zod'
import { errorResponses } from '../contract/errors.ts'
import { jsonOrEvents } from '../contract/event-stream.ts'
import {
  completionChunkSchema,
  completionRequestSchema,
  completionSchema,
  modelListSchema,
  modelSchema,
} from '../contract/gateway.ts'
import type { FastifyRequest } from 'fastify'
import { type App, headerList, type Routes, renderErrorBody, startEventStream, toAppError } from '../http/index.ts'
import type { Clock, Log } from '../kernel/index.ts'
import type { Catalogue, ListedModel } from '../models/index.ts'
import { assertGatewayAccess } from '../organisations/index.ts'
import { completionBody } from './completion-body.ts'
import type { ParsedCompletion } from './parse-completion.ts'
import type { CompletionCall, CompletionInfo, Completions } from './port.ts'
import { modelNotFound } from './model-not-found.ts'
import { createChunkRenderer, renderCompletion } from './render-completion.ts'

const tags = ['Gateway']

/** `/v1/gateway`: the models list and chat completions in the compatible API's format. */
export function gatewayRoutes({
  completions,
  catalogue,
  clock,
  log,
}: {
  completions: Completions
  catalogue: Catalogue
  clock: Clock
  log: Log
}): Routes {
  return (app) => {
    app.get(
      '/v1/gateway/models',
      {
        config: { auth: 'organisation' },
        onRequest: gate,
        schema: {
          tags,
          summary: 'List models',
          operationId: 'listModels',
          description: 'Exactly the ids that a completion would accept, `eu/` ids included.',
          response: { 200: modelListSchema, ...errorResponses(401, 403) },
        },
      },
      (request) => ({
        object: 'list' as const,
        data: catalogue.list(request.organisation, clock.now()).map(renderModel),
      }),
    )
    addModel(app, catalogue, clock)
    addCompletions(app, completions, clock, log)
  }
}

const renderModel = ({ id, created, ownedBy }: ListedModel) => ({
  id,
  object: 'model' as const,
  created,
  owned_by: ownedBy,
})

function addModel(app: App, catalogue: Catalogue, clock: Clock) {
  const options = (schema: object) => ({ config: { auth: 'organisation' as const }, onRequest: gate, schema })
  const answer = (request: FastifyRequest, id: string) => {
    const model = catalogue.find(request.organisation, id, clock.now())
    if (!model) throw modelNotFound(id)
    return renderModel(model)
  }
  app.get(
    '/v1/gateway/models/:id',
    options({
      tags,
      summary: 'Get a model',
      operationId: 'getModel',
      description: 'An entry of the list, by id or alias. A slash in an id may be sent as it is or as %2F.',
      params: z.object({ id: z.string() }),
      response: { 200: modelSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => answer(request, (request.params as { id: string }).id),
  )
  // Ids with a slash (`eu/…`, `vendor/model`) that the client has not encoded.
  app.get('/v1/gateway/models/*', options({ hide: true }), (request) =>
    answer(request, (request.params as { '*': string })['*']),
  )
}

function addCompletions(app: App, completions: Completions, clock: Clock, log: Log) {
  app.post(
    '/v1/gateway/chat/completions',
    {
      config: { auth: 'organisation', limited: 'call', body: completionBody },
      onRequest: gate,
      // completionBody has read it; the schema here is for the API page.
      validatorCompiler: () => (body) => ({ value: body }),
      schema: {
        tags,
        summary: 'Create a chat completion',
        operationId: 'createChatCompletion',
        description:
          'Plain or streamed (`stream: true`). `x-portico-deployment` and `x-portico-hosting` prove where the answer was made.',
        body: completionRequestSchema,
        response: {
          200: jsonOrEvents(completionSchema, completionChunkSchema),
          ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504),
        },
      },
    },
    async (request, reply) => {
      const parsed = request.body as unknown as ParsedCompletion
      if (parsed.ignored.length > 0) reply.header('x-ignored-params', headerList(parsed.ignored))
      const call: CompletionCall = {
        requestId: request.requestId,
        organisation: request.organisation,
        surface: 'gateway',
        spaceId: null,
        model: parsed.model,
        request: parsed.request,
        stream: parsed.stream,
        signal: request.clientSignal,
      }
      const identity = { id: `chatcmpl-${request.requestId.slice(4)}`, createdSeconds: Math.floor(clock.now() / 1000) }
      if (!parsed.stream) {
        const completion = await completions.complete(call)
        reply.headers(answerHeaders(completion))
        return renderCompletion(completion, { ...identity, model: completion.model })
      }

      const streamed = await completions.stream(call)
      reply.headers(answerHeaders(streamed))
      const renderer = createChunkRenderer(
        { ...identity, model: streamed.model },
        { includeUsage: parsed.includeUsage },
      )
      // No heartbeat: the compatible API sends no comment lines, and strict clients fail on them.
      const stream = startEventStream(reply, request.clientSignal, { heartbeat: null })
      let lastText = ''
      // The role is sent with the first text: nothing may be awaited before the iteration, which settles the hold.
      let text = renderer.role()
      try {
        for await (const events of streamed.events) {
          for (const event of events) text += renderer.event(event)
          if (text !== '') await stream.write(text)
          text = ''
        }
      } catch (thrown) {
        const error = toAppError(thrown)
        log.warn({ requestId: request.requestId, code: error.code, internal: error.internal }, 'a stream failed')
        lastText = `data: ${JSON.stringify(renderErrorBody(error))}\n\n`
      } finally {
        stream.end(lastText)
      }
      return reply
    },
  )
}

/** Plan, operator's enablement, opt-in: before the body is even read. */
function gate(request: { organisation: Parameters<typeof assertGatewayAccess>[0] }, _reply: unknown, done: () => void) {
  assertGatewayAccess(request.organisation)
  done()
}

function answerHeaders({ deploymentId, hosting, adjusted }: CompletionInfo): Record<string, string> {
  return {
    'x-portico-deployment': deploymentId,
    'x-portico-hosting': hosting,
    ...(adjusted.length > 0 ? { 'x-adjusted-params': headerList(adjusted) } : {}),
  }
}
