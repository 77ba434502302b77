import { z } from 'zod'
import { errorResponses } from '../../../contract/errors.ts'
import { jsonOrEvents } from '../../../contract/event-stream.ts'
import { chatChunkSchema, chatCompletionSchema, chatRequestSchema } from '../../../contract/gateway-v2-chat.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import { administrators } from '../../../tenants/organisations/index.ts'
import { renderStreamError } from '../../gateway/index.ts'
import type { Capability, HostedTool } from '../../providers/index.ts'
import { type ClientApi, completionRoute, type CompletionRouteDependencies } from '../completion.routes.ts'
import { chatBody, type ReadChat } from './chat-body.ts'
import { renderChatCompletion } from './render-answer.ts'
import { createChatStream } from './render-stream.ts'

const fields: Partial<Record<Capability, string>> = {
  tools: 'tools',
  named_tool_choice: 'tool_choice',
  parallel_tools: 'parallel_tool_calls',
  json_object: 'response_format',
  json_schema: 'response_format',
  several_choices: 'n',
  logprobs: 'logprobs',
  forced_tools: 'tool_choice',
  tools_with_schema: 'response_format',
  tools_with_hosted: 'tools',
}

/** Tools of Google are in `tools`. */
function fieldOfHosted(capability: Capability, hostedTools: readonly HostedTool[]): string {
  const isSearch = hostedTools.some(
    ({ family, kind }) =>
      family === 'openai' && (capability.startsWith('hosted:openai') || capability === `use:${kind}`),
  )
  return isSearch ? 'web_search_options' : 'tools'
}

const chatApi: ClientApi<ReadChat> = {
  idPrefix: 'chatcmpl-',
  // Media are in messages.
  fieldOf: (capability, { isLegacy, request }) => {
    if (isLegacy && capability === 'tools') return 'functions'
    return (capability.startsWith('use:') || capability.startsWith('hosted:')) && request.hostedTools
      ? fieldOfHosted(capability, request.hostedTools)
      : (fields[capability] ?? 'messages')
  },
  renderWhole: (completion, parsed, identity) => renderChatCompletion(completion, identity, parsed),
  createStream: (parsed, identity) => ({ ...createChatStream(identity, parsed), failed: renderStreamError }),
}

/**
 * `POST /v2/gateway/chat/completions`: the compatible API with tools, structured outputs, images, files and audio. The console calls the same
 * handler, where a person acts for the organisation.
 */
export function chatCompletionRoutes(dependencies: CompletionRouteDependencies): Routes {
  const { handler, config } = completionRoute(chatApi, chatBody, dependencies)
  const { direct: _ofClients, ...ofSessions } = config
  const tag = 'Gateway, version 2'
  const described = describeRoutes('organisation', tag)
  const schema = {
    body: chatRequestSchema,
    response: {
      200: jsonOrEvents(chatCompletionSchema, chatChunkSchema),
      ...errorResponses(400, 401, 402, 403, 404, 429, 502, 503, 504),
    },
  }
  return (app) => {
    app.post(
      '/v2/gateway/chat/completions',
      described('createChatCompletionV2', 'Create a chat completion with tools, structured outputs and media', {
        config,
        ...schema,
        description:
          'Plain or streamed (`stream: true`). A field that no deployment of the model can serve is a 400 that names the field and models that can.',
      }),
      handler,
    )
    app.post(
      '/api/organisations/:id/v2/chat/completions',
      describeRoutes({ ...administrators, acting: true }, tag)(
        'createOrganisationChatCompletionV2',
        'Create a chat completion of version 2 for the organisation',
        {
          config: ofSessions,
          ...schema,
          params: z.object({ id: z.string() }),
          description:
            'As `POST /v2/gateway/chat/completions`, for a signed-in administrator: same checks, limits and cost.',
        },
      ),
      handler,
    )
  }
}
