import { ProviderError, type ProviderEvent } from './port.ts'
import type { WireStreamReader } from './wire-adapter.ts'
import { failure, truncatedStream } from './wire-failure.ts'
import { asString } from './wire-json.ts'

export interface StreamReaderParts<WireEvent> {
  /** Splits bytes into the wire's events; throws on invalid bytes. */
  parser: { push(bytes: Uint8Array): Iterable<WireEvent>; end(): Iterable<WireEvent> }
  /** Maps one wire event; may yield events before it throws a ProviderError for an error inside the stream. */
  read(event: WireEvent): Iterable<ProviderEvent>
  /** `begun`: a part of an answer was received; `ended`: its end was. */
  state: { readonly begun: boolean; readonly ended?: boolean }
  /** Last events of a complete answer. Throws ProviderError if the answer's end was not received. Default: none. */
  finish?(): ProviderEvent[]
}

/**
 * A reader whose result does not depend on how the bytes are split: events before an error in the same bytes are returned first, and the
 * error follows (`pendingError`, or thrown by the next call). An error after text that reports a reached token limit ends the answer with
 * `length`.
 */
export function createStreamReader<WireEvent>(parts: StreamReaderParts<WireEvent>): WireStreamReader {
  let pending: ProviderError | null = null
  let sawText = false
  let isCut = false

  function assertEnded(): ProviderEvent[] {
    if (!parts.state.ended) throw truncatedStream(parts.state.begun)
    return []
  }

  function collect(wireEvents: () => Iterable<WireEvent>, last?: () => ProviderEvent[]): ProviderEvent[] {
    if (pending) throw pending
    const events: ProviderEvent[] = []
    const take = (event: ProviderEvent) => {
      sawText ||= event.type === 'text'
      events.push(event)
    }
    // Nothing after the end of a truncated answer is relevant.
    if (isCut) return events
    try {
      for (const wireEvent of wireEvents()) for (const event of parts.read(wireEvent)) take(event)
      if (last) last().forEach(take)
    } catch (error) {
      const failed = error instanceof ProviderError ? error : unparsable(error, parts.state.begun)
      if (sawText && isOutputLimit(failed)) {
        isCut = true
        const usage = events.findLastIndex((event) => event.type === 'usage')
        const finish = { type: 'finish' as const, finishReason: 'length' as const, wireFinishReason: failed.code }
        events.splice(usage === -1 ? events.length : usage, 0, finish)
        return events
      }
      pending = failed
      // At the end no later call could throw it.
      if (events.length === 0 || last) throw pending
    }
    return events
  }

  return {
    push: (bytes) => collect(() => parts.parser.push(bytes)),
    end: () => collect(() => parts.parser.end(), parts.finish ?? assertEnded),
    pendingError: () => pending,
  }
}

/** An event with the text; none if there is no text. */
export function textEvent(type: 'text' | 'reasoning', value: unknown): ProviderEvent[] {
  const text = asString(value)
  return text === '' ? [] : [{ type, text }]
}

/**
 * Phrases of hosts that report a reached `max_tokens` as an error: OpenRouter and LiteLLM forward such errors of other hosts, vLLM and TGI
 * have separate ones.
 */
const outputLimit =
  /\bmax(imum)?[ _-]?(output|completion|new)?[ _-]?tokens?\b.{0,40}\b(reached|exceeded|hit)|\b(reached|exceeded|hit)\b.{0,40}\b(max(imum)?[ _-]?(output|completion|new)?[ _-]?tokens?|(output|completion|token) (token )?(limit|length)|length limit)|\b(output|completion|token) limit (was |has been )?(reached|exceeded|hit)/i

function isOutputLimit({ code, message }: ProviderError): boolean {
  return (
    /^(max_(output_)?tokens(_reached|_exceeded)?|length|output_limit|token_limit(_reached|_exceeded)?)$/i.test(
      code ?? '',
    ) || outputLimit.test(message)
  )
}

function unparsable(cause: unknown, afterFirstByte: boolean): ProviderError {
  return failure('connection', 'The provider sent a stream that could not be read.', { afterFirstByte, cause })
}
