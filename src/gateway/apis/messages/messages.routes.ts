import { jsonOrEvents } from '../../../contract/event-stream.ts'
import {
  countTokensRequestSchema,
  countTokensSchema,
  messageEventSchema,
  messageSchema,
  messagesErrors,
  messagesRequestSchema,
} from '../../../contract/gateway-v2-messages.ts'
import {
  answerCall,
  type Call,
  describeRoutes,
  headerList,
  renderMessagesError,
  type Routes,
} from '../../../platform/http/index.ts'
import { assertGatewayAccess } from '../../../tenants/organisations/index.ts'
import type { TokenCounts } from '../../gateway/index.ts'
import type { Capability, ProviderRequest } from '../../providers/index.ts'
import {
  type ClientApi,
  completionRoute,
  type CompletionRouteDependencies,
  countDescription,
  countFor,
} from '../completion.routes.ts'
import { parseBetas } from './betas.ts'
import { countTokensBody, messagesBody, type ReadCount, type ReadMessages } from './messages-body.ts'
import { renderMessage } from './render-answer.ts'
import { createMessageStream, messageIdPrefix } from './render-stream.ts'

export interface MessagesDependencies extends CompletionRouteDependencies {
  tokenCounts: TokenCounts
}

const tag = 'Gateway, version 2: Messages API'
const description =
  'The Messages API, for its SDKs and for coding agents with the base URL `/v2/gateway/anthropic`. Models of other providers answer in its form.'

const messagesApi: ClientApi<ReadMessages> = {
  idPrefix: messageIdPrefix,
  fieldOf: (capability, { request }) => fieldOf(capability, request),
  renderWhole: (completion, { omitsThinking }, identity) => renderMessage(completion, identity, { omitsThinking }),
  createStream: ({ promptEstimate, omitsThinking }, identity) =>
    createMessageStream(identity, {
      promptTokensEstimate: promptEstimate.estimate,
      omitsThinking,
      renderError: renderMessagesError,
    }),
  readHeaders,
}

const fields: Partial<Record<Capability, string>> = {
  tools: 'tools',
  named_tool_choice: 'tool_choice',
  forced_tools: 'tool_choice',
  parallel_tools: 'tool_choice.disable_parallel_tool_use',
  json_schema: 'output_config.format',
  tools_with_schema: 'output_config.format',
  tools_with_hosted: 'tools',
}

/** The field that needs a capability. Media are in messages. */
function fieldOf(capability: Capability, { native }: ProviderRequest): string {
  if (capability.startsWith('hosted:')) return native?.only ?? 'tools'
  return capability.startsWith('use:') ? 'tools' : (fields[capability] ?? 'messages')
}

/** Opt-ins of the client. `request-id` is the header in which SDKs of this API look for the id of the request. */
function readHeaders<Read extends ReadMessages | ReadCount>(parsed: Read, call: Call): Read {
  call.header('request-id', call.requestId)
  const { betas, ignored } = parseBetas(call.requestHeader('anthropic-beta'))
  if (betas.length === 0 && ignored.length === 0) return parsed
  const request = betas.length === 0 ? parsed.request : { ...parsed.request, betas }
  return { ...parsed, request, ignored: [...parsed.ignored, ...ignored] }
}

/** `POST /v2/gateway/anthropic/v1/messages` and `…/count_tokens`. */
export function messagesRoutes(dependencies: MessagesDependencies): Routes {
  const { handler, config, ...hooks } = completionRoute(messagesApi, messagesBody, dependencies)
  const described = describeRoutes('organisation', tag)
  return (app) => {
    app.post(
      '/v2/gateway/anthropic/v1/messages',
      {
        ...described(
          'createMessage',
          'Create a message',
          {
            body: messagesRequestSchema,
            response: {
              200: jsonOrEvents(messageSchema, messageEventSchema),
              ...messagesErrors(400, 401, 402, 403, 404, 413, 429, 502, 503, 504),
            },
            description,
          },
          'organisation',
          config,
        ),
        ...hooks,
      },
      handler,
    )
    app.post(
      '/v2/gateway/anthropic/v1/messages/count_tokens',
      {
        ...described(
          'countMessageTokens',
          'Count the tokens of a prompt',
          {
            body: countTokensRequestSchema,
            response: { 200: countTokensSchema, ...messagesErrors(400, 401, 402, 403, 404, 413, 429, 502, 503, 504) },
            description: countDescription,
          },
          'organisation',
          { limited: 'call', body: countTokensBody, access: assertGatewayAccess },
        ),
        validatorCompiler: () => (value: unknown) => ({ value }),
      },
      answerCall((call) => answerCount(call, dependencies)),
    )
  }
}

async function answerCount(call: Call, dependencies: MessagesDependencies): Promise<void> {
  const parsed = readHeaders(call.body as ReadCount, call)
  if (parsed.ignored.length > 0) call.header('x-ignored-params', headerList(parsed.ignored))
  const tokens = await countFor(call, dependencies, parsed, (capability) => fieldOf(capability, parsed.request))
  call.sendJson(JSON.stringify({ input_tokens: tokens }))
}
