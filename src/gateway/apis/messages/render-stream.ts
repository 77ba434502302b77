import { type AppError, noUsage } from '../../../platform/kernel/index.ts'
import type { MessagesErrorBody } from '../../../contract/gateway-v2-messages.ts'
import type { AnswerIdentity, CompletionEvent, StreamRenderer } from '../../gateway/index.ts'
import { signatureOf, toCitation } from './render-blocks.ts'
import { renderUsage, stopReasonOf } from './render-usage.ts'

/** The rest of an answer's id is that of its request. */
export const messageIdPrefix = 'msg_'

type Json = Record<string, unknown>
type ToolEvent = CompletionEvent & { type: 'tool_call' }
type FinishEvent = CompletionEvent & { type: 'finish' }

export interface StreamOptions {
  /** For `message_start`, where the host is not of this API; the last event has the counts that are billed. */
  promptTokensEstimate: number
  /** Thinking blocks have their signature only. */
  omitsThinking: boolean
  renderError: (error: AppError, requestId: string) => MessagesErrorBody
}

/**
 * Writes the events of the Messages API: one block is open at a time, in the order of the answer. The events of a host of this API are
 * passed on; `message_delta` waits for the cost.
 */
export function createMessageStream(
  identity: Pick<AnswerIdentity, 'id' | 'model'>,
  options: StreamOptions,
): StreamRenderer {
  return new MessageStream(identity, options)
}

/** The call whose block is open, and later ones that wait because its arguments are not complete. */
interface OpenCall {
  index: number
  argumentsJson: string
}

class MessageStream implements StreamRenderer {
  readonly #identity: Pick<AnswerIdentity, 'id' | 'model'>
  readonly #options: StreamOptions
  /** Index of the newest block. */
  #block = -1
  #open: 'text' | 'thinking' | 'tool' | null = null
  #call: OpenCall | null = null
  #waiting = new Map<number, { id: string; name: string; argumentsJson: string }>()
  #text = ''
  #isRefused = false
  /** Of the host's `message_delta`, for a host of this API. */
  #nativeEnd: Json | null = null
  #isNative = false
  #hasBegun = false

  constructor(identity: Pick<AnswerIdentity, 'id' | 'model'>, options: StreamOptions) {
    this.#identity = identity
    this.#options = options
  }

  /** The first event decides what `message_start` states. */
  start(): string {
    return ''
  }

  event(event: CompletionEvent): string {
    if (this.#hasBegun) return this.#next(event)
    this.#hasBegun = true
    if (event.type === 'native' && event.event.type === 'message_start') return this.#begin(event.event)
    return this.#begin() + this.#next(event)
  }

  /** `message_start`, with the counts of the host's own event where it has one. */
  #begin(native?: Json): string {
    this.#isNative = native !== undefined
    const { id, model } = this.#identity
    const { usage: counted } = (native?.message ?? {}) as { usage?: Json }
    const usage = { ...renderUsage({ ...noUsage, promptTokens: this.#options.promptTokensEstimate }), ...counted }
    const end = { stop_reason: null, stop_sequence: null, container: null }
    const message = { id, type: 'message', role: 'assistant', model, content: [], ...end, usage }
    return write('message_start', { message }) + write('ping', {})
  }

  #next(event: CompletionEvent): string {
    if (event.type === 'finish') return this.#finish(event)
    if (event.type === 'native') return this.#passOn(event.event)
    if (this.#isNative || ('choice' in event && event.choice)) return ''
    switch (event.type) {
      case 'text':
        return this.#addText(event.text)
      case 'refusal':
        this.#isRefused = true
        return this.#addText(event.text)
      case 'reasoning':
        return this.#addThinking(event.text)
      case 'tool_call':
        return this.#addCall(event)
      case 'replay': {
        const signature = signatureOf(event.replay)
        return signature === '' ? '' : this.#addSignature(signature)
      }
      case 'citations': {
        const opened = this.#openText()
        const cited = event.citations.map((citation) => toCitation(citation, this.#text))
        return opened + cited.map((citation) => this.#delta({ type: 'citations_delta', citation })).join('')
      }
      default:
        // Log probabilities and further choices, which no request of this API can have.
        return ''
    }
  }

  failed(error: AppError): string {
    const { error: body, request_id } = this.#options.renderError(
      error,
      `req_${this.#identity.id.slice(messageIdPrefix.length)}`,
    )
    return write('error', { error: body, request_id })
  }

  #passOn(event: Json): string {
    this.#isNative = true
    if (event.type === 'message_delta') {
      this.#nativeEnd = event.delta as Json
      return ''
    }
    const { type, ...rest } = event
    return write(String(type), rest)
  }

  #finish({ finishReason, usage }: FinishEvent): string {
    const { stop_reason, stop_sequence = null, container = null } = this.#nativeEnd ?? {}
    const reason = stop_reason ?? stopReasonOf(finishReason, this.#isRefused)
    const delta = { stop_reason: reason, stop_sequence, container }
    return (
      (this.#isNative ? '' : this.#flushCalls() + this.#close()) +
      write('message_delta', { delta, usage: renderUsage(usage) }) +
      write('message_stop', {})
    )
  }

  #addText(text: string): string {
    this.#text += text
    return this.#openText() + this.#delta({ type: 'text_delta', text })
  }

  #openText(): string {
    return this.#open === 'text' ? '' : this.#flushCalls() + this.#start('text', { type: 'text', text: '' })
  }

  #addThinking(thinking: string): string {
    const empty = { type: 'thinking', thinking: '', signature: '' }
    const opened = this.#open === 'thinking' ? '' : this.#flushCalls() + this.#start('thinking', empty)
    return this.#options.omitsThinking ? opened : opened + this.#delta({ type: 'thinking_delta', thinking })
  }

  /** Reasoning that comes after its block was closed is a separate block, which clients send back as well. */
  #addSignature(signature: string): string {
    if (this.#open === 'thinking') return this.#delta({ type: 'signature_delta', signature }) + this.#close()
    const block = { type: 'redacted_thinking', data: signature }
    return this.#flushCalls() + this.#start(null, block) + this.#stop()
  }

  #addCall(event: ToolEvent): string {
    const { index, argumentsDelta } = event
    const waiting = this.#waiting.get(index)
    if (waiting) {
      waiting.argumentsJson += argumentsDelta
      return ''
    }
    if (this.#call?.index === index && this.#open === 'tool') return this.#addArguments(this.#call, argumentsDelta)
    const call = {
      id: event.id ?? `${this.#identity.id}_${index}`,
      name: event.name ?? '',
      argumentsJson: argumentsDelta,
    }
    if (this.#waiting.size > 0 || (this.#open === 'tool' && !isComplete(this.#call!.argumentsJson))) {
      this.#waiting.set(index, call)
      return ''
    }
    return this.#startCall(index, call)
  }

  #startCall(index: number, { id, name, argumentsJson }: { id: string; name: string; argumentsJson: string }): string {
    const started = this.#start('tool', { type: 'tool_use', id, name, input: {} })
    this.#call = { index, argumentsJson: '' }
    return started + this.#addArguments(this.#call, argumentsJson)
  }

  #addArguments(call: OpenCall, partial_json: string): string {
    if (partial_json === '') return ''
    call.argumentsJson += partial_json
    return this.#delta({ type: 'input_json_delta', partial_json })
  }

  /** Calls whose arguments came in between those of an earlier call. */
  #flushCalls(): string {
    if (this.#waiting.size === 0) return ''
    const calls = [...this.#waiting]
    this.#waiting.clear()
    return calls.map(([index, call]) => this.#startCall(index, call)).join('')
  }

  #start(kind: 'text' | 'thinking' | 'tool' | null, content_block: Json): string {
    const closed = this.#close()
    this.#open = kind
    this.#block++
    return closed + write('content_block_start', { index: this.#block, content_block })
  }

  #delta(delta: Json): string {
    return write('content_block_delta', { index: this.#block, delta })
  }

  #close(): string {
    return this.#open === null ? '' : this.#stop()
  }

  #stop(): string {
    this.#open = null
    return write('content_block_stop', { index: this.#block })
  }
}

function isComplete(json: string): boolean {
  try {
    JSON.parse(json === '' ? '{}' : json)
    return true
  } catch {
    return false
  }
}

function write(type: string, data: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}
