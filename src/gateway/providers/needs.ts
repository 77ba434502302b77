import { isParts, type ContentPart } from '../conversation/index.ts'
import type { HostedToolKind } from '../../platform/kernel/index.ts'
import { familiesOf } from './hosted-forms.ts'
import type { ProviderRequest } from './port.ts'

/**
 * What a request needs from a deployment beyond text. `hosted:FAMILY` are the fields and tools of the hosts of one family, or of one of
 * several (`hosted:openai|gemini`), `use:KIND` is a tool that the provider runs.
 */
export type Capability =
  | 'tools'
  | 'named_tool_choice'
  | 'forced_tools'
  | 'parallel_tools'
  | 'images'
  | 'files'
  | 'audio'
  | 'json_object'
  | 'json_schema'
  | 'several_choices'
  | 'logprobs'
  | 'tools_with_schema'
  | 'tools_with_hosted'
  | `hosted:${string}`
  | `use:${HostedToolKind}`

/**
 * At most one call is allowed, and one tool must be called: then this is what hosts without the limit do, nearly always. The gateway refuses
 * their answers with more.
 */
export function mustCallOnce({ tools, toolChoice, parallelToolCalls }: ProviderRequest): boolean {
  if (parallelToolCalls !== false) return false
  return typeof toolChoice === 'object' || (toolChoice === 'required' && tools?.length === 1)
}

const capabilityOfPart: Partial<Record<ContentPart['type'], Capability>> = {
  image: 'images',
  file: 'files',
  audio: 'audio',
}

const none: ReadonlySet<Capability> = new Set()

/** What only some deployments can do for a request; routing takes those that can all of it. */
export function needsOf(request: ProviderRequest): ReadonlySet<Capability> {
  if (isPlain(request)) return none
  const { messages, tools, hostedTools, toolChoice, responseFormat } = request
  const needs = new Set<Capability>()
  for (const { content, toolCallId } of messages) {
    if (toolCallId !== undefined) needs.add('tools')
    if (!isParts(content)) continue
    for (const { type } of content) {
      const needed = capabilityOfPart[type]
      if (needed) needs.add(needed)
    }
  }
  if (tools && tools.length > 0) needs.add('tools')
  if (typeof toolChoice === 'object' || (toolChoice === 'required' && tools?.length === 1))
    needs.add('named_tool_choice')
  else if (toolChoice === 'required') needs.add('forced_tools')
  if (request.parallelToolCalls === false) needs.add('parallel_tools')
  for (const tool of hostedTools ?? []) needs.add(`use:${tool.kind}`).add(`hosted:${familiesOf(tool).join('|')}`)
  if (hostedTools && tools && tools.length > 0) needs.add('tools_with_hosted')
  if (request.native?.only !== undefined) needs.add(`hosted:${request.native.family}`)
  if (responseFormat) needs.add(responseFormat.type)
  if (responseFormat && ((tools && tools.length > 0) || hostedTools)) needs.add('tools_with_schema')
  if (request.choices !== undefined && request.choices > 1) needs.add('several_choices')
  if (request.logprobs || request.topLogprobs !== undefined) needs.add('logprobs')
  return needs.size === 0 ? none : needs
}

/** Texts alone, as most requests have. */
function isPlain(request: ProviderRequest): boolean {
  const { messages, tools, hostedTools, toolChoice, responseFormat, parallelToolCalls, native, choices, logprobs } =
    request
  if (tools || hostedTools || toolChoice || responseFormat || native || logprobs) return false
  if (parallelToolCalls !== undefined || choices !== undefined || request.topLogprobs !== undefined) return false
  return messages.every(({ content, toolCallId }) => toolCallId === undefined && !isParts(content))
}
