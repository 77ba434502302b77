import type { ProviderFormat } from '../../../contract/provider-formats.ts'

/** The second API of OpenAI's format. */
export type WireApi = ProviderFormat | 'responses'

/** What a provider would read in a request, in order. Written from the providers' references, without code of the adapters. */
export type Fact =
  | { kind: 'system' | 'user' | 'assistant'; text: string }
  | { kind: 'call'; link: string; name: string; arguments: unknown }
  | { kind: 'result'; link: string; text: string; isError: boolean }
  | { kind: 'media'; mediaType: string; data: string }

// A body is read as the references describe it; a wrong place fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

/** The facts of a request body of a format. Links of formats without ids are the names and the order of calls and results. */
export function readRequest(format: WireApi, body: Json): Fact[] {
  return readers[format](body)
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
const texts = (kind: 'system' | 'user' | 'assistant', value: unknown): Fact[] =>
  (typeof value === 'string' ? [value] : list(value).map((part) => part.text as string)).map((text) => ({ kind, text }))

function dataUrl(url: string): Fact {
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/s.exec(url)!
  return { kind: 'media', mediaType: mediaType!, data: data! }
}

function openAiParts(kind: 'user' | 'assistant', content: unknown): Fact[] {
  if (typeof content === 'string') return [{ kind, text: content }]
  return list(content).map((part) => {
    if (part.type === 'text') return { kind, text: part.text }
    if (part.type === 'image_url') return dataUrl(part.image_url.url)
    if (part.type === 'file') return dataUrl(part.file.file_data)
    throw new Error(`unknown part ${part.type}`)
  })
}

function readOpenAi({ messages }: Json): Fact[] {
  return list(messages).flatMap((message): Fact[] => {
    const { role, content } = message
    if (role === 'system' || role === 'developer') return texts('system', content)
    if (role === 'tool') return [{ kind: 'result', link: message.tool_call_id, text: content, isError: false }]
    return [
      ...openAiParts(role, content),
      ...texts('assistant', message.tool_plan ?? []),
      ...list(message.tool_calls).map((call): Fact => {
        const { name, arguments: given } = call.function
        return { kind: 'call', link: call.id, name, arguments: JSON.parse(given) }
      }),
    ]
  })
}

function readAnthropic({ system, messages }: Json): Fact[] {
  const media = ({ source }: Json): Fact => ({ kind: 'media', mediaType: source.media_type, data: source.data })
  const turns = list(messages).flatMap(({ role, content }): Fact[] => {
    if (typeof content === 'string') return [{ kind: role, text: content }]
    return list(content).flatMap((block): Fact[] => {
      if (block.type === 'text') return [{ kind: role, text: block.text }]
      if (block.type === 'tool_use') return [{ kind: 'call', link: block.id, name: block.name, arguments: block.input }]
      if (block.type === 'image' || block.type === 'document') return [media(block)]
      if (block.type !== 'tool_result') throw new Error(`unknown block ${block.type}`)
      const isText = typeof block.content === 'string'
      const inside = isText ? [{ type: 'text', text: block.content }] : list(block.content)
      const text = inside.map((part) => part.text ?? '').join('')
      return [
        { kind: 'result', link: block.tool_use_id, text, isError: block.is_error === true },
        ...inside.filter(({ type }) => type !== 'text').map(media),
      ]
    })
  })
  return [...texts('system', system), ...turns]
}

function readGemini({ systemInstruction, contents }: Json): Fact[] {
  const counts = { call: new Map<string, number>(), result: new Map<string, number>() }
  const link = (kind: 'call' | 'result', name: string) => {
    const number = counts[kind].get(name) ?? 0
    counts[kind].set(name, number + 1)
    return `${name} ${number}`
  }
  const turns = list(contents).flatMap(({ role, parts }) =>
    list(parts).map((part): Fact => {
      if (part.functionCall) {
        const { name, args } = part.functionCall
        return { kind: 'call', link: link('call', name), name, arguments: args }
      }
      if (part.functionResponse) {
        const { name, response } = part.functionResponse
        const isError = typeof response.error === 'string'
        const text = response.error ?? response.result ?? JSON.stringify(response)
        return { kind: 'result', link: link('result', name), text, isError }
      }
      if (part.inlineData) return { kind: 'media', mediaType: part.inlineData.mimeType, data: part.inlineData.data }
      return { kind: role === 'model' ? 'assistant' : 'user', text: part.text }
    }),
  )
  return [...texts('system', systemInstruction?.parts), ...turns]
}

function readBedrock({ system, messages }: Json): Fact[] {
  const media = ({ image, document }: Json): Fact => {
    const { format, source } = image ?? document
    return { kind: 'media', mediaType: `${image ? 'image' : 'application'}/${format}`, data: source.bytes }
  }
  const turns = list(messages).flatMap(({ role, content }) =>
    list(content).flatMap((block): Fact[] => {
      if (block.text !== undefined) return [{ kind: role, text: block.text }]
      if (block.image || block.document) return [media(block)]
      if (block.toolUse) {
        const { toolUseId, name, input } = block.toolUse
        return [{ kind: 'call', link: toolUseId, name, arguments: input }]
      }
      const { toolUseId, content: inside, status } = block.toolResult
      const text = list(inside)
        .map((part) => part.text ?? '')
        .join('')
      return [
        { kind: 'result', link: toolUseId, text, isError: status === 'error' },
        ...list(inside)
          .filter((part) => part.text === undefined)
          .map(media),
      ]
    }),
  )
  return [...texts('system', system), ...turns]
}

function readOllama({ messages }: Json): Fact[] {
  const counts = { call: new Map<string, number>(), result: new Map<string, number>() }
  const link = (kind: 'call' | 'result', name: string) => {
    const number = counts[kind].get(name) ?? 0
    counts[kind].set(name, number + 1)
    return `${name} ${number}`
  }
  return list(messages).flatMap((message): Fact[] => {
    const { role, content } = message
    if (role === 'tool')
      return [{ kind: 'result', link: link('result', message.tool_name), text: content, isError: false }]
    return [
      { kind: role, text: content },
      ...list(message.images).map((data): Fact => ({
        kind: 'media',
        mediaType: 'image/png',
        data: data as unknown as string,
      })),
      ...list(message.tool_calls).map((call): Fact => {
        const { name, arguments: given } = call.function
        return { kind: 'call', link: link('call', name), name, arguments: given }
      }),
    ]
  })
}

function readResponses({ input }: Json): Fact[] {
  const media = (part: Json): Fact => dataUrl(part.image_url ?? part.file_data)
  const textsIn = (content: unknown) =>
    typeof content === 'string'
      ? [content]
      : list(content).flatMap((part) => (part.text ?? part.refusal ?? []) as string)
  const mediaIn = (content: unknown) =>
    list(content)
      .filter(({ type }) => type === 'input_image' || type === 'input_file')
      .map(media)
  return list(input).flatMap((item): Fact[] => {
    const { type = 'message', role, content, call_id: link, name, output } = item
    if (type === 'function_call') return [{ kind: 'call', link, name, arguments: JSON.parse(item.arguments) }]
    if (type === 'function_call_output')
      return [{ kind: 'result', link, text: textsIn(output).join(''), isError: false }, ...mediaIn(output)]
    if (type !== 'message') throw new Error(`unknown item ${type}`)
    const kind = role === 'developer' ? 'system' : role
    return [...textsIn(content).map((text): Fact => ({ kind, text })), ...mediaIn(content)]
  })
}

const readers: Record<WireApi, (body: Json) => Fact[]> = {
  responses: readResponses,
  openai: readOpenAi,
  azure: readOpenAi,
  cohere: readOpenAi,
  anthropic: readAnthropic,
  gemini: readGemini,
  vertex: readGemini,
  bedrock: readBedrock,
  ollama: readOllama,
}
