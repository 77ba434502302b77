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
import { countTokensBody, messagesBody, type ReadCount, type ReadMessages } from './messages-body.ts'
import { renderMessage } from './render-answer.ts'
import { createMessageStream, messageIdPrefix } from './render-stream.ts'
import { invalid } from '../limits.ts'

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
  const { handler, config } = completionRoute(messagesApi, messagesBody, dependencies)
  const described = describeRoutes('organisation', tag)
  return (app) => {
    app.post(
      '/v2/gateway/anthropic/v1/messages',
      described('createMessage', 'Create a message', {
        config,
        body: messagesRequestSchema,
        response: {
          200: jsonOrEvents(messageSchema, messageEventSchema),
          ...messagesErrors(400, 401, 402, 403, 404, 413, 429, 502, 503, 504),
        },
        description,
      }),
      handler,
    )
    app.post(
      '/v2/gateway/anthropic/v1/messages/count_tokens',
      described('countMessageTokens', 'Count the tokens of a prompt', {
        config: { limited: 'call', body: countTokensBody, access: assertGatewayAccess },
        body: countTokensRequestSchema,
        response: { 200: countTokensSchema, ...messagesErrors(400, 401, 402, 403, 404, 413, 429, 502, 503, 504) },
        description: countDescription,
      }),
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

/**
 * Opt-ins of `anthropic-beta` that are sent on. Not among them: what has another price than the catalogue's (fast mode, fallback models),
 * and what keeps state in the provider's account, which all organisations share (files, skills, batches, threads).
 */
const allowed: ReadonlySet<string> = new Set([
  'advanced-tool-use-2025-11-20',
  'claude-code-20250219',
  'code-execution-2025-05-22',
  'code-execution-2025-08-25',
  'compact-2026-01-12',
  'compact-2026-09-04',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mcp-client-2025-04-04',
  'mcp-client-2025-11-20',
  'model-context-window-exceeded-2025-08-26',
  'output-128k-2025-02-19',
  'output-300k-2026-03-24',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'prompt-caching-scope-2026-01-05',
  'search-results-2025-06-09',
  'structured-outputs-2025-11-13',
  'task-budgets-2026-03-13',
  'thinking-display-updates-2026-08-18',
  'thinking-token-count-2026-05-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
  'web-fetch-2025-09-10',
])

const maximumBetas = 64

/** The values of an `anthropic-beta` header: those to send on, and those to name in `x-ignored-params`. Throws AppError. */
export function parseBetas(header: string | undefined): { betas: string[]; ignored: string[] } {
  const names = new Set((header ?? '').split(',', maximumBetas + 1).map((name) => name.trim()))
  names.delete('')
  if (names.size > maximumBetas) throw invalid(['anthropic-beta'], `must have at most ${maximumBetas} values`)
  const betas = [...names].filter((name) => allowed.has(name))
  const ignored = [...names].filter((name) => !allowed.has(name)).map((name) => `anthropic-beta:${name.slice(0, 64)}`)
  return { betas, ignored }
}
