import type { UpstreamReply, UpstreamRequest } from './upstream.ts'

/** One answer of a model in the formats of several providers, whole and streamed. */

export interface ModelTurn {
  /** With what the provider requires back of it, where the format has that. */
  reasoning?: string
  /** Each piece is an event of a stream. */
  text?: readonly string[]
  calls?: readonly { id: string; name: string; args: object }[]
  /** The output cap has ended it. */
  isCut?: true
}

export const turnUsage = { prompt: 11, completion: 7 }

const json = { 'content-type': 'application/json' }
const eventStream = { 'content-type': 'text/event-stream' }

/** The reply of a host of the format to this request. */
export type FormatReply = (turn: ModelTurn, request: UpstreamRequest) => UpstreamReply

const events = (values: readonly object[], end = ''): UpstreamReply => ({
  headers: eventStream,
  body: values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('') + end,
})
const whole = (value: object): UpstreamReply => ({ headers: json, body: JSON.stringify(value) })
const isStreamed = ({ body }: UpstreamRequest) => (JSON.parse(body) as { stream?: boolean }).stream === true

const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

export const openaiReply: FormatReply = ({ reasoning, text = [], calls = [], isCut }, request) => {
  const usage = { prompt_tokens: turnUsage.prompt, completion_tokens: turnUsage.completion, total_tokens: 18 }
  const finish = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
  const toolCalls = calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const head = { id: 'c', created: 1, model: 'm' }
  if (!isStreamed(request)) {
    const message = {
      role: 'assistant',
      content: text.length > 0 ? text.join('') : null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: toolCalls }),
    }
    return whole({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage })
  }
  const chunk = (delta: object, finishReason: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })
  const chunks = [
    ...(reasoning === undefined ? [] : halves(reasoning).map((piece) => chunk({ reasoning_content: piece }))),
    ...text.map((piece) => chunk({ content: piece })),
    ...toolCalls.flatMap(({ index, id, type, function: { name, arguments: all } }) => {
      const [first, second] = halves(all)
      return [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: first } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
      ]
    }),
    chunk({}, finish),
    { ...head, object: 'chat.completion.chunk', choices: [], usage },
  ]
  return events(chunks, 'data: [DONE]\n\n')
}

export const anthropicReply: FormatReply = ({ reasoning, text = [], calls = [], isCut }, request) => {
  const stop = isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: turnUsage.prompt, output_tokens: turnUsage.completion }
  const blocks = [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'signed' }]),
    ...(text.length > 0 ? [{ type: 'text', text: text.join('') }] : []),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ]
  const message = { id: 'msg', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  if (!isStreamed(request)) return whole({ ...message, content: blocks, stop_reason: stop, usage })
  const written: object[] = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
  ]
  for (const [index, block] of blocks.entries()) {
    const { start, deltas } = anthropicBlock(block, text)
    written.push({ type: 'content_block_start', index, content_block: start })
    for (const delta of deltas) written.push({ type: 'content_block_delta', index, delta })
    written.push({ type: 'content_block_stop', index })
  }
  written.push({
    type: 'message_delta',
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: turnUsage.completion },
  })
  written.push({ type: 'message_stop' })
  return {
    headers: eventStream,
    body: written
      .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  }
}

function anthropicBlock(
  block: { type: string; thinking?: string; signature?: string; text?: string; input?: object },
  text: readonly string[],
): { start: object; deltas: object[] } {
  if (block.type === 'thinking') {
    const deltas = halves(block.thinking!).map((thinking): object => ({ type: 'thinking_delta', thinking }))
    return {
      start: { ...block, thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature: block.signature }],
    }
  }
  if (block.type === 'text')
    return { start: { ...block, text: '' }, deltas: text.map((piece) => ({ type: 'text_delta', text: piece })) }
  const pieces = halves(JSON.stringify(block.input))
  return {
    start: { ...block, input: {} },
    deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  }
}

/** A streamed call of Gemini has another address. */
export const geminiReply: FormatReply = ({ reasoning, text = [], calls = [], isCut }, { path }) => {
  const usageMetadata = {
    promptTokenCount: turnUsage.prompt,
    candidatesTokenCount: turnUsage.completion,
    totalTokenCount: turnUsage.prompt + turnUsage.completion,
  }
  const parts = [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...text.map((piece) => ({ text: piece })),
    ...calls.map(({ name, args }) => ({ functionCall: { name, args }, thoughtSignature: 'c2lnbmVk' })),
  ]
  const content = (of: object[]) => ({ role: 'model', parts: of })
  const last = { index: 0, finishReason: isCut ? 'MAX_TOKENS' : 'STOP' }
  if (!path.includes(':streamGenerateContent'))
    return whole({ candidates: [{ ...last, content: content(parts) }], usageMetadata })
  return events([
    ...parts.map((part) => ({ candidates: [{ index: 0, content: content([part]) }] })),
    { candidates: [{ ...last, content: content([{ text: '' }]) }], usageMetadata },
  ])
}
