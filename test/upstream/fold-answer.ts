import type { ProviderEvent, TokenUsage } from '../../src/gateway/providers/index.ts'
import type { WireStreamReader } from '../../src/gateway/providers/wire-adapter.ts'

/** A folded answer, streamed or whole. */
export interface FoldedAnswer {
  text: string
  reasoningText: string
  refusal: string | null
  toolCalls: { id: string; name: string; argumentsJson: string }[]
  finishReason: string | null
  wireFinishReason: string | null
  usage: TokenUsage | null
}

export function emptyAnswer(): FoldedAnswer {
  return {
    text: '',
    reasoningText: '',
    refusal: null,
    toolCalls: [],
    finishReason: null,
    wireFinishReason: null,
    usage: null,
  }
}

/** Adds one event. Throws if it violates the order of the port. */
export function foldEvent(answer: FoldedAnswer, event: ProviderEvent): void {
  if (answer.finishReason !== null && event.type !== 'usage') throw new Error(`${event.type} after the finish event`)
  switch (event.type) {
    case 'text':
      answer.text += event.text
      return
    case 'reasoning':
      answer.reasoningText += event.text
      return
    case 'refusal':
      answer.refusal = (answer.refusal ?? '') + event.text
      return
    case 'tool_call': {
      const call = (answer.toolCalls[event.index] ??= { id: '', name: '', argumentsJson: '' })
      call.id ||= event.id ?? ''
      call.name ||= event.name ?? ''
      call.argumentsJson += event.argumentsDelta
      return
    }
    case 'finish':
      answer.finishReason = event.finishReason
      answer.wireFinishReason = event.wireFinishReason
      return
    case 'usage':
      if (answer.usage !== null) throw new Error('a second usage event')
      answer.usage = event.usage
  }
}

/** Runs a reader over pieces of a body as the transport does, and folds its events. */
export function foldStream(reader: WireStreamReader, body: Iterable<Uint8Array>): FoldedAnswer {
  const answer = emptyAnswer()
  for (const piece of body) {
    for (const event of reader.push(piece)) foldEvent(answer, event)
    const pending = reader.pendingError?.()
    if (pending) throw pending
  }
  for (const event of reader.end()) foldEvent(answer, event)
  return answer
}

/** Splits a body into pieces with the sizes of `next`. */
export function* pieces(body: Uint8Array, next: () => number): Generator<Uint8Array> {
  for (let start = 0; start < body.length;) {
    const end = Math.min(body.length, start + next())
    yield body.subarray(start, end)
    start = end
  }
}

/** A small linear congruential generator (constants of Numerical Recipes); good enough for random splits. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
