type Json = Record<string, unknown>

export interface FoldedMessage {
  message: Json & { content: Json[]; usage: Json }
  types: string[]
  error: Json | undefined
}

/**
 * Folds the events of a stream into the message, as SDKs of the Messages API do. Throws where the sequence is not that of the API: one
 * block at a time, indexes in order, deltas of the open block only.
 */
export function foldEvents(stream: string): FoldedMessage {
  let message: FoldedMessage['message'] | undefined
  let error: Json | undefined
  let open: { index: number; json: string } | null = null
  const types: string[] = []
  for (const part of stream.split('\n\n').filter((text) => text !== '')) {
    const [named, data] = part.split('\n')
    const event = JSON.parse(data!.slice('data: '.length)) as Json & { type: string; index: number }
    if (named !== `event: ${event.type}`) throw new Error(`${named} with ${event.type}`)
    types.push(event.type)
    if (event.type === 'message_start') message = structuredClone(event.message) as FoldedMessage['message']
    else if (event.type === 'error') error = event
    else if (event.type === 'content_block_start') {
      if (open || event.index !== message!.content.length) throw new Error(`block ${event.index} starts out of turn`)
      message!.content.push({ ...(event.content_block as Json) })
      open = { index: event.index, json: '' }
    } else if (event.type === 'content_block_delta') {
      if (open?.index !== event.index) throw new Error(`a delta of block ${event.index}, which is not open`)
      addDelta(message!.content.at(-1)!, event.delta as Json, open)
    } else if (event.type === 'content_block_stop') {
      if (open?.index !== event.index) throw new Error(`block ${event.index} stops, which is not open`)
      if (open.json !== '') message!.content.at(-1)!.input = JSON.parse(open.json)
      open = null
    } else if (event.type === 'message_delta') {
      if (open) throw new Error('the message ends with an open block')
      Object.assign(message!, event.delta)
      Object.assign(message!.usage, event.usage)
    }
  }
  return { message: message!, types, error }
}

function addDelta(block: Json, delta: Json, open: { json: string }) {
  const append = (name: string) => (block[name] = String(block[name] ?? '') + String(delta[name]))
  if (delta.type === 'text_delta') append('text')
  else if (delta.type === 'thinking_delta') append('thinking')
  else if (delta.type === 'signature_delta') append('signature')
  else if (delta.type === 'input_json_delta') open.json += String(delta.partial_json)
  else if (delta.type === 'citations_delta') block.citations = [...((block.citations ?? []) as Json[]), delta.citation]
  else throw new Error(`the delta ${String(delta.type)} is not known`)
}
