import type { UpstreamReply } from './upstream.ts'

/** Replies of a host of the Messages API. */

type Json = Record<string, unknown>

const defaultUsage = { input_tokens: 11, output_tokens: 7 }

interface MessageOptions {
  stopReason?: string
  usage?: Json
}

/** A complete message. */
export function messageAnswer(
  content: Json[],
  { stopReason = 'end_turn', usage = defaultUsage }: MessageOptions = {},
): UpstreamReply {
  const message = { id: 'msg_upstream', type: 'message', role: 'assistant', model: 'upstream-model', content }
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...message, stop_reason: stopReason, stop_sequence: null, usage }),
  }
}

/** The same as a stream: texts and arguments in two pieces each. */
export function messageStream(
  content: Json[],
  { stopReason = 'end_turn', usage = defaultUsage }: MessageOptions = {},
): UpstreamReply {
  const events: Json[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_upstream',
        type: 'message',
        role: 'assistant',
        content: [],
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: 'ping' },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  const body = events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return { headers: { 'content-type': 'text/event-stream' }, body }
}

function emptied(block: Json): Json {
  if (block.type === 'text') return { type: 'text', text: '' }
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function deltasOf(block: Json): Json[] {
  if (block.type === 'text') return halves(block.text).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking') {
    const thinking = halves(block.thinking).map((text) => ({ type: 'thinking_delta', thinking: text }))
    return [...thinking, { type: 'signature_delta', signature: block.signature }]
  }
  if (block.type !== 'tool_use') return []
  return halves(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
}

function halves(text: unknown): string[] {
  const whole = String(text)
  const half = Math.ceil(whole.length / 2)
  return [whole.slice(0, half), whole.slice(half)]
}
