import { errorResponses } from '../../../contract/errors.ts'
import { jsonOrEvents } from '../../../contract/event-stream.ts'
import {
  responseEventSchema,
  responseSchema,
  responsesRequestSchema,
  responsesTokenCountRequestSchema,
  responsesTokenCountSchema,
} from '../../../contract/gateway-v2-responses.ts'
import { answerCall, type Call, describeRoutes, renderErrorBody, type Routes } from '../../../platform/http/index.ts'
import type { Clock } from '../../../platform/kernel/index.ts'
import { assertGatewayAccess } from '../../../tenants/organisations/index.ts'
import { countPrompt, type TokenCounts } from '../../gateway/index.ts'
import type { Capability } from '../../providers/index.ts'
import type { TokenCounting } from '../../tokens/index.ts'
import {
  type ClientApi,
  completionRoute,
  type CompletionRouteDependencies,
  countDescription,
  countFor,
} from '../completion.routes.ts'
import { renderAnswer } from './render-answer.ts'
import { createResponseStream } from './render-stream.ts'
import { type ReadResponses, responsesBody, tokenCountBody } from './responses-body.ts'

const fields: Partial<Record<Capability, string>> = {
  tools: 'tools',
  named_tool_choice: 'tool_choice',
  forced_tools: 'tool_choice',
  tools_with_schema: 'text.format',
  tools_with_hosted: 'tools',
  parallel_tools: 'parallel_tool_calls',
  json_object: 'text.format',
  json_schema: 'text.format',
  logprobs: 'top_logprobs',
}

/** Media are in the input. */
const fieldOf = (capability: Capability) =>
  fields[capability] ?? (capability.startsWith('use:') || capability.startsWith('hosted:') ? 'tools' : 'input')

function responsesApi(clock: Clock): ClientApi<ReadResponses> {
  const nowSeconds = () => Math.floor(clock.now() / 1000)
  return {
    idPrefix: 'resp_',
    promptField: 'input',
    fieldOf,
    renderWhole: (completion, parsed, identity) => renderAnswer(completion, parsed, identity, nowSeconds()),
    createStream(parsed, identity) {
      const stream = createResponseStream(parsed, identity, nowSeconds)
      return { ...stream, failed: (error) => stream.failed(renderErrorBody(error).error) }
    },
  }
}

/** `/v2/gateway/responses`: the stateless part of the Responses API, and its count of tokens. */
export function responsesRoutes({
  tokens,
  tokenCounts,
  ...dependencies
}: CompletionRouteDependencies & { tokens: TokenCounting; tokenCounts: TokenCounts }): Routes {
  const { handler, config } = completionRoute(responsesApi(dependencies.clock), responsesBody, dependencies)
  const described = describeRoutes('organisation', 'Gateway, version 2')
  const countInput = async (call: Call) => {
    const parsed = call.body as ReadResponses
    if (parsed.model !== '') return countFor(call, { tokenCounts, names: dependencies.names }, parsed, fieldOf)
    call.header('x-portico-counted-by', 'portico')
    return (await countPrompt(parsed.request, tokens, call.organisation.id)) ?? parsed.promptEstimate.estimate
  }
  const count = async (call: Call) => {
    const inputTokens = await countInput(call)
    call.sendJson(`{"object":"response.input_tokens","input_tokens":${inputTokens}}`)
  }
  return (app) => {
    app.post(
      '/v2/gateway/responses',
      described('createResponse', 'Create a response', {
        config,
        body: responsesRequestSchema,
        response: {
          200: jsonOrEvents(responseSchema, responseEventSchema),
          ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504),
        },
        description:
          'The Responses API without state: the client sends the whole conversation, and Portico stores none of it. Plain or streamed (`stream: true`).',
      }),
      handler,
    )
    app.post(
      '/v2/gateway/responses/input_tokens',
      described('countResponseTokens', 'Count the input tokens of a response', {
        config: { limited: 'call', body: tokenCountBody, access: assertGatewayAccess },
        body: responsesTokenCountRequestSchema,
        response: { 200: responsesTokenCountSchema, ...errorResponses(400, 401, 402, 403, 404, 429, 503) },
        description: `${countDescription} Without a model, texts and tools are counted by Portico.`,
      }),
      answerCall(count),
    )
  }
}
