import type { ProviderMessage } from '../../../src/gateway/providers/port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import type { BodyContext } from './read-body.ts'
import {
  createNotOffered,
  defined,
  type NotOffered,
  numberOf,
  stringOf,
  textsOf,
  toolOf,
  unscaled,
} from './read-fields.ts'
import type { ReadBody } from './request-call.ts'

/** A body of `POST /v1/messages`. */
export function readAnthropicBody(body: JsonObject, context: BodyContext): ReadBody {
  const notOffered = createNotOffered()
  const { model, max_tokens: cap, system, messages, temperature, top_p: topP, stop_sequences: stop, ...others } = body
  const {
    metadata,
    output_config: output,
    service_tier: tier,
    tools,
    tool_choice: choice,
    stream: _stream,
    ...rest
  } = others
  const { user_id: user, ...moreMetadata } = asObject(metadata)
  const { effort, ...moreOutput } = asObject(output)
  notOffered.addAll(rest)
  notOffered.addAll(moreMetadata, 'metadata.')
  notOffered.addAll(moreOutput, 'output_config.')
  const turns = asObjects(messages).flatMap((turn) => readTurn(turn, notOffered))
  const request = defined({
    messages: [...(system === undefined ? [] : [{ role: 'system' as const, content: asString(system) }]), ...turns],
    maxOutputTokens: numberOf(cap),
    temperature: unscaled(temperature, context.temperatureFactor),
    topP: numberOf(topP),
    stop: textsOf(stop),
    reasoningEffort: stringOf(effort),
    user: stringOf(user),
    serviceTier: stringOf(tier),
    tools: tools === undefined ? undefined : asObjects(tools).flatMap((tool) => readTool(tool, notOffered)),
    toolChoice: readChoice(choice, notOffered),
  })
  return {
    call: { kind: 'chat', model: stringOf(model) ?? context.model, stream: context.stream, request },
    notOffered: notOffered.list(),
  }
}

function readTurn({ role, content }: JsonObject, notOffered: NotOffered): ProviderMessage[] {
  const blocks = asObjects(content)
  const known = role === 'assistant' ? ['text', 'tool_use'] : ['text', 'tool_result']
  if (blocks.some((block) => !known.includes(asString(block.type)))) notOffered.add('messages[].content')
  const text = blocks.map((block) => (block.type === 'text' ? asString(block.text) : '')).join('')
  if (role === 'assistant') {
    const calls = blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: asString(block.id),
        name: asString(block.name),
        argumentsJson: JSON.stringify(block.input ?? {}),
      }))
    return [{ role: 'assistant', content: text, ...(calls.length > 0 && { toolCalls: calls }) }]
  }
  const results = blocks.filter((block) => block.type === 'tool_result').map((block) => readResult(block, notOffered))
  return [...results, ...(text === '' ? [] : [{ role: 'user' as const, content: text }])]
}

function readResult(
  { tool_use_id: id, content, type: _type, ...rest }: JsonObject,
  notOffered: NotOffered,
): ProviderMessage {
  notOffered.addAll(rest, 'messages[].content[].')
  if (content !== undefined && typeof content !== 'string') notOffered.add('messages[].content')
  return { role: 'tool', toolCallId: asString(id), content: asString(content) }
}

function readTool(tool: JsonObject, notOffered: NotOffered): ReturnType<typeof toolOf>[] {
  const { name, description, input_schema: schema, ...rest } = tool
  if (schema === undefined) {
    notOffered.add('tools')
    return []
  }
  notOffered.addAll(rest, 'tools[].')
  return [toolOf({ name, description }, schema)]
}

function readChoice(choice: unknown, notOffered: NotOffered): 'auto' | 'none' | 'required' | undefined {
  if (choice === undefined) return undefined
  const { type, ...rest } = asObject(choice)
  notOffered.addAll(rest, 'tool_choice.')
  if (type === 'any') return 'required'
  if (type === 'auto' || type === 'none') return type
  notOffered.add('tool_choice')
  return undefined
}
