import { completionRequestSchema, maximumCharactersPerMessage } from '../contract/gateway.ts'
import { AppError } from '../kernel/index.ts'
import type { ProviderMessage, ProviderRequest } from '../providers/index.ts'

export interface ParsedCompletion {
  model: string
  stream: boolean
  includeUsage: boolean
  request: ProviderRequest
  /** Fields that were not understood and left out, for `x-ignored-params`. */
  ignored: string[]
}

/** Fields whose meaning the gateway does not offer (decisions.md, Errors); null counts as absent. */
const refusedFields: Record<string, string> = {
  tools: 'tool calling is not supported',
  tool_choice: 'tool calling is not supported',
  parallel_tool_calls: 'tool calling is not supported',
  functions: 'tool calling is not supported',
  function_call: 'tool calling is not supported',
  top_logprobs: 'log probabilities are not supported',
  logit_bias: 'logit_bias is not supported',
  audio: 'audio is not supported',
  prediction: 'predicted outputs are not supported',
  web_search_options: 'web search is not supported',
  moderation: 'moderation is not supported',
}

/** Standard fields that are fine at one value only. */
const singleValueFields: Record<string, (value: unknown) => boolean> = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  store: (value) => value === false,
  service_tier: (value) => value === 'auto' || value === 'default',
  response_format: (value) => isObject(value) && value.type === 'text',
  modalities: (value) => Array.isArray(value) && value.length === 1 && value[0] === 'text',
}

const knownFields = new Set([
  ...Object.keys(completionRequestSchema.shape),
  ...Object.keys(refusedFields),
  ...Object.keys(singleValueFields),
])
/** Of a message, beyond role and content: what SDKs send back from an earlier answer and may be empty. */
const emptyMessageFields = ['tool_calls', 'function_call', 'audio', 'refusal', 'tool_call_id']

/**
 * Reads a chat-completions body. Throws AppError `invalid_request` or `unsupported_parameter` with `param` naming the field, and
 * the limit in the message.
 */
export function parseCompletion(body: unknown): ParsedCompletion {
  if (!isObject(body)) throw new AppError('invalid_request', 'The body must be a JSON object.')
  refuseUnsupported(body)
  const parsed = completionRequestSchema.safeParse(body)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    const param = issue.path.join('.')
    throw new AppError('invalid_request', `${param || 'body'}: ${lowerFirst(issue.message)}`, { param })
  }
  const fields = parsed.data
  const messages = fields.messages.map(flattenMessage)
  assertMessageOrder(messages)
  if (fields.stream_options !== undefined && fields.stream !== true) {
    throw new AppError('invalid_request', 'stream_options is only allowed when stream is true.', {
      param: 'stream_options',
    })
  }
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    ignored: ignoredFields(body),
    request: {
      messages,
      temperature: fields.temperature,
      topP: fields.top_p,
      maxOutputTokens: outputCap(fields.max_completion_tokens, fields.max_tokens),
      stop: typeof fields.stop === 'string' ? [fields.stop] : fields.stop,
      seed: fields.seed,
      presencePenalty: fields.presence_penalty,
      frequencyPenalty: fields.frequency_penalty,
      reasoningEffort: fields.reasoning_effort,
      user: fields.user,
      metadata: fields.metadata,
      serviceTier: fields.service_tier,
    },
  }
}

function refuseUnsupported(body: Record<string, unknown>) {
  for (const [field, why] of Object.entries(refusedFields)) {
    if (body[field] !== undefined && body[field] !== null) throw unsupported(field, why)
  }
  for (const [field, isFine] of Object.entries(singleValueFields)) {
    const value = body[field]
    if (value === undefined || value === null || isFine(value)) continue
    throw unsupported(
      field,
      field === 'response_format' ? 'structured outputs are not supported' : 'this value is not supported',
    )
  }
  if (!Array.isArray(body.messages)) return
  for (const [index, message] of body.messages.entries()) {
    if (isObject(message)) refuseUnsupportedMessage(message, `messages.${index}`)
  }
}

function refuseUnsupportedMessage(message: Record<string, unknown>, path: string) {
  if (message.role === 'tool' || message.role === 'function')
    throw unsupported(`${path}.role`, 'tool calling is not supported')
  for (const field of emptyMessageFields) {
    const value = message[field]
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) continue
    throw unsupported(
      `${path}.${field}`,
      field === 'refusal' ? 'refusals are not taken back' : 'tool calling and audio are not supported',
    )
  }
  if (!Array.isArray(message.content)) return
  for (const [index, part] of message.content.entries()) {
    if (isObject(part) && typeof part.type === 'string' && part.type !== 'text') {
      throw unsupported(`${path}.content.${index}.type`, 'only text content is supported')
    }
  }
}

function flattenMessage(
  message: { role: ProviderMessage['role']; content: string | { text: string }[] },
  index: number,
): ProviderMessage {
  const content =
    typeof message.content === 'string' ? message.content : message.content.map((part) => part.text).join('')
  if (content.length > maximumCharactersPerMessage && countCharacters(content) > maximumCharactersPerMessage) {
    throw new AppError(
      'invalid_request',
      `messages.${index}.content: at most ${maximumCharactersPerMessage} characters per message.`,
      {
        param: `messages.${index}.content`,
      },
    )
  }
  return { role: message.role, content }
}

function assertMessageOrder(messages: ProviderMessage[]) {
  const isInstruction = ({ role }: ProviderMessage) => role === 'system' || role === 'developer'
  const firstTurn = messages.findIndex((message) => !isInstruction(message))
  const late =
    firstTurn === -1 ? -1 : messages.findIndex((message, index) => index > firstTurn && isInstruction(message))
  if (late !== -1) {
    throw new AppError('invalid_request', 'system and developer messages are only allowed at the start of messages.', {
      param: `messages.${late}.role`,
    })
  }
  if (messages.at(-1)!.role !== 'user') {
    throw new AppError('invalid_request', 'The last message must have the role user.', {
      param: `messages.${messages.length - 1}.role`,
    })
  }
}

function outputCap(maxCompletionTokens: number | undefined, maxTokens: number | undefined): number | undefined {
  if (maxCompletionTokens !== undefined && maxTokens !== undefined && maxCompletionTokens !== maxTokens) {
    throw new AppError(
      'invalid_request',
      'max_tokens and max_completion_tokens are two names of one limit and differ; send one.',
      { param: 'max_tokens' },
    )
  }
  return maxCompletionTokens ?? maxTokens
}

function ignoredFields(body: Record<string, unknown>): string[] {
  const ignored = Object.keys(body).filter((field) => !knownFields.has(field))
  const ofMessages = new Set<string>()
  for (const message of body.messages as Record<string, unknown>[]) {
    for (const field of Object.keys(message)) {
      if (field !== 'role' && field !== 'content' && !emptyMessageFields.includes(field))
        ofMessages.add(`messages.${field}`)
    }
  }
  return [...ignored, ...ofMessages]
}

/** Unicode code points: what a person counts as characters comes closer to these than to UTF-16 units. */
function countCharacters(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1
  return count
}

function unsupported(param: string, why: string): AppError {
  return new AppError('unsupported_parameter', `${param}: ${why}.`, { param })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
