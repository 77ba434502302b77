import { assertGatewayAccess } from '../../tenants/organisations/index.ts'
import { answerCall, type Call, headerList } from '../../platform/http/index.ts'
import type { BodyReader } from '../../platform/bodies/index.ts'
import { AppError, type Clock, isAppError, type Log } from '../../platform/kernel/index.ts'
import {
  type AnswerIdentity,
  type AnswerRenderer,
  answerCompletion,
  type CallNeeds,
  type CompletionCall,
  type Completions,
  type StreamRenderer,
  type TokenCounts,
  type WholeCompletion,
} from '../gateway/index.ts'
import { type Capability, mustCallOnce, type NameCheck, needsOf, type ProviderRequest } from '../providers/index.ts'
import type { TokenEstimate } from '../tokens/index.ts'
import { assertPublicHosts } from './given-addresses.ts'

export interface CompletionRouteDependencies {
  completions: Completions
  /** Of hosts to which a provider is asked to connect. */
  names: NameCheck
  clock: Clock
  log: Log
}

/** A request of any client API in the canonical form. */
export interface ParsedCall {
  /** As the client sent it. */
  model: string
  stream: boolean
  request: ProviderRequest
  /** Of the messages and tools; estimated where the body was read, which may be in a thread. */
  promptEstimate: TokenEstimate
  /** Fields that are unknown or change nothing, and were left out: for `x-ignored-params`. */
  ignored: string[]
  /** Fields that were changed although they have a meaning: for `x-adjusted-params`. */
  adjusted?: string[]
}

/** A client API: how it names its fields and writes its answers. */
export interface ClientApi<Parsed extends ParsedCall> {
  /** Prefix of the answers' ids, such as `chatcmpl-`. */
  idPrefix: string
  /** The field of the conversation, if it is not `messages`. */
  promptField?: string
  /** The field of the request that needs this capability, for the error if no deployment of the model has it. */
  fieldOf(capability: Capability, parsed: Parsed): string
  renderWhole(completion: WholeCompletion, parsed: Parsed, identity: AnswerIdentity): string
  createStream(parsed: Parsed, identity: AnswerIdentity): StreamRenderer
  /** What the headers of the request add. Throws AppError. May set headers of the response. */
  readHeaders?(parsed: Parsed, call: Call): Parsed
}

/**
 * The `config` and the handler of a route that makes completions: gate, limits, body, completion, headers, answer or stream. Used as
 * `app.post(url, described(…, { config, … }), handler)`.
 */
export function completionRoute<Parsed extends ParsedCall>(
  api: ClientApi<Parsed>,
  body: BodyReader<Parsed>,
  dependencies: CompletionRouteDependencies,
) {
  const handle = (call: Call) => answer(api, call, dependencies)
  return {
    handler: answerCall(handle),
    config: { limited: 'call', body, access: assertGatewayAccess, direct: handle } as const,
  }
}

async function answer<Parsed extends ParsedCall>(
  api: ClientApi<Parsed>,
  call: Call,
  dependencies: CompletionRouteDependencies,
): Promise<void> {
  const body = call.body as Parsed
  const parsed = api.readHeaders ? api.readHeaders(body, call) : body
  if (parsed.ignored.length > 0) call.header('x-ignored-params', headerList(parsed.ignored))
  const checking = assertPublicHosts(parsed.request, call, dependencies.names)
  if (checking) await checking
  const createdSeconds = Math.floor(dependencies.clock.now() / 1000)
  const identity = (model: string) => ({
    id: api.idPrefix + call.requestId.slice('req_'.length),
    createdSeconds,
    model,
  })
  const renderer: AnswerRenderer = {
    ...(parsed.adjusted && { adjusted: parsed.adjusted }),
    whole(completion) {
      addMismatch(call, completion)
      return api.renderWhole(completion, parsed, identity(completion.model))
    },
    stream: ({ model }) => api.createStream(parsed, identity(model)),
  }
  try {
    await answerCompletion(call, toCompletionCall(api, call, parsed), renderer, dependencies)
  } catch (error) {
    throw withFieldOf(api, error)
  }
}

/** Errors about the conversation name `messages`. */
function withFieldOf<Parsed extends ParsedCall>({ promptField }: ClientApi<Parsed>, error: unknown): unknown {
  if (promptField === undefined || !isAppError(error) || error.param !== 'messages') return error
  const { code, message, internal, retryAfterSeconds, rateLimit } = error
  return new AppError(code, message, { param: promptField, internal, retryAfterSeconds, rateLimit, cause: error })
}

function toCompletionCall<Parsed extends ParsedCall>(api: ClientApi<Parsed>, call: Call, parsed: Parsed) {
  const { model, request, promptEstimate, stream } = parsed
  const { requestId, organisation, signal } = call
  const needs = callNeeds(request, (capability) => api.fieldOf(capability, parsed))
  return {
    requestId,
    organisation,
    surface: 'gateway',
    spaceId: null,
    model,
    version: 2,
    request,
    promptEstimate,
    stream,
    signal,
    ...(needs && { needs }),
  } satisfies CompletionCall
}

/** Null if every deployment can serve the request. */
export function callNeeds(request: ProviderRequest, fieldOf: CallNeeds['fieldOf']): CallNeeds | null {
  const capabilities = needsOf(request)
  if (capabilities.size === 0) return null
  return { capabilities, ...(mustCallOnce(request) && { enforced: 'parallel_tools' }), fieldOf }
}

export const countDescription =
  'Free of charge. The header `x-portico-counted-by` is `provider` where a host of the model has counted (Anthropic, Gemini, Vertex AI and Bedrock, for some of its models), else `portico`, whose count may differ from the bill.'

/** Counts a prompt, and names in a header who has. */
export async function countFor(
  call: Call,
  { tokenCounts, names }: { tokenCounts: TokenCounts; names: NameCheck },
  { model, request, promptEstimate }: Omit<ParsedCall, 'stream' | 'ignored'>,
  fieldOf: CallNeeds['fieldOf'],
): Promise<number> {
  const { requestId, organisation, signal } = call
  await assertPublicHosts(request, call, names)
  const needs = callNeeds(request, fieldOf)
  const counted = { requestId, organisation, model, request, promptEstimate, signal, ...(needs && { needs }) }
  const { tokens, by } = await tokenCounts.count(counted)
  call.header('x-portico-counted-by', by)
  return tokens
}

/** Longest part of a place in an answer that a header has, in characters. */
const maximumPlaceCharacters = 200

/** The first place of the answer that differs from the client's schema. The receipt has its keyword, also of a stream. */
function addMismatch(call: Call, { mismatch }: WholeCompletion): void {
  if (!mismatch) return
  const place = (mismatch.instance || '/').slice(0, maximumPlaceCharacters).replaceAll(/[^\x20-\x7e]/g, '?')
  call.header('x-portico-schema-mismatch', `${place} ${mismatch.keyword}`)
}
