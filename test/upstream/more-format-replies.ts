import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import { type FormatReply, turnUsage } from './format-replies.ts'

/** Answers of hosts whose streams have frames, lines or events without `data:` objects alone: Bedrock, Cohere and Ollama. */

const json = { 'content-type': 'application/json' }
const codec = new EventStreamCodec(toUtf8, fromUtf8)

/** A streamed call of Bedrock has another address. */
export const bedrockReply: FormatReply = ({ text = [], calls = [] }, { path }) => {
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn'
  const usage = { inputTokens: turnUsage.prompt, outputTokens: turnUsage.completion, totalTokens: 18 }
  const toolUses = calls.map(({ id, name, args }) => ({ toolUseId: id, name, input: args }))
  if (!path.endsWith('/converse-stream')) {
    const content = [...(text.length > 0 ? [{ text: text.join('') }] : []), ...toolUses.map((toolUse) => ({ toolUse }))]
    const body = JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason, usage })
    return { headers: json, body }
  }
  const frames = [
    frame('messageStart', { role: 'assistant' }),
    ...text.map((piece) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: piece } })),
    ...toolUses.flatMap(({ input, ...start }, index) => [
      frame('contentBlockStart', { contentBlockIndex: index + 1, start: { toolUse: start } }),
      frame('contentBlockDelta', {
        contentBlockIndex: index + 1,
        delta: { toolUse: { input: JSON.stringify(input) } },
      }),
      frame('contentBlockStop', { contentBlockIndex: index + 1 }),
    ]),
    frame('messageStop', { stopReason }),
    frame('metadata', { usage }),
  ]
  return { headers: { 'content-type': 'application/vnd.amazon.eventstream' }, body: Buffer.concat(frames) }
}

function frame(type: string, payload: object): Uint8Array {
  const text = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: { ':message-type': text('event'), ':event-type': text(type) },
    body: fromUtf8(JSON.stringify(payload)),
  })
}

export const cohereReply: FormatReply = ({ text = [], calls = [] }, { body }) => {
  const finish = calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE'
  const tokens = { input_tokens: turnUsage.prompt, output_tokens: turnUsage.completion }
  const usage = { tokens, billed_units: tokens }
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  if ((JSON.parse(body) as { stream?: boolean }).stream !== true) {
    const content = text.length > 0 ? [{ type: 'text', text: text.join('') }] : []
    const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: toolCalls }) }
    return { headers: json, body: JSON.stringify({ id: 'c', finish_reason: finish, message, usage }) }
  }
  const events = [
    { type: 'message-start', id: 'c', delta: { message: { role: 'assistant' } } },
    ...text.map((piece) => ({ type: 'content-delta', index: 0, delta: { message: { content: { text: piece } } } })),
    ...toolCalls.flatMap((call, index) => [
      {
        type: 'tool-call-start',
        index,
        delta: { message: { tool_calls: { ...call, function: { ...call.function, arguments: '' } } } },
      },
      {
        type: 'tool-call-delta',
        index,
        delta: { message: { tool_calls: { function: { arguments: call.function.arguments } } } },
      },
      { type: 'tool-call-end', index },
    ]),
    { type: 'message-end', delta: { finish_reason: finish, usage } },
  ]
  const written = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return { headers: { 'content-type': 'text/event-stream' }, body: written.join('') }
}

export const ollamaReply: FormatReply = ({ text = [], calls = [] }, { body }) => {
  const head = { model: 'm', created_at: '2026-01-01T00:00:00Z' }
  const counts = { prompt_eval_count: turnUsage.prompt, eval_count: turnUsage.completion }
  const end = { done: true, done_reason: 'stop', ...counts }
  const tools = calls.map(({ name, args }) => ({ function: { name, arguments: args } }))
  const message = (content: string, of: object[] = []) => ({
    role: 'assistant',
    content,
    ...(of.length > 0 && { tool_calls: of }),
  })
  if ((JSON.parse(body) as { stream?: boolean }).stream !== true)
    return { headers: json, body: JSON.stringify({ ...head, message: message(text.join(''), tools), ...end }) }
  const lines = [
    ...text.map((piece) => ({ ...head, message: message(piece), done: false })),
    ...tools.map((one) => ({ ...head, message: message('', [one]), done: false })),
    { ...head, message: message(''), ...end },
  ]
  return {
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  }
}
