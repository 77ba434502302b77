import { ProviderError, type ProviderEvent } from './port.ts'
import type { WireStreamReader } from './wire-adapter.ts'
import { failure } from './wire-failure.ts'

export interface StreamReaderParts<WireEvent> {
  /** Cuts bytes into the wire's own events; throws on bytes that are none. */
  parser: { push(bytes: Uint8Array): Iterable<WireEvent>; end(): Iterable<WireEvent> }
  /** Maps one wire event. Throws ProviderError on an error inside the stream. */
  read(event: WireEvent): ProviderEvent[]
  /** Last events of a whole answer. Throws ProviderError where the answer's own end was not seen. */
  finish(): ProviderEvent[]
  /** True once something of an answer was seen. */
  begun(): boolean
}

/**
 * A reader whose result does not depend on where the bytes are cut: events that precede an error in the same bytes are
 * handed out first, and the error follows (`pendingError`, or thrown by the next call).
 */
export function createStreamReader<WireEvent>(parts: StreamReaderParts<WireEvent>): WireStreamReader {
  let pending: ProviderError | null = null

  function collect(wireEvents: () => Iterable<WireEvent>, last?: () => ProviderEvent[]): ProviderEvent[] {
    if (pending) throw pending
    const events: ProviderEvent[] = []
    try {
      for (const wireEvent of wireEvents()) events.push(...parts.read(wireEvent))
      if (last) events.push(...last())
    } catch (error) {
      pending = error instanceof ProviderError ? error : unparsable(error, parts.begun())
      // At the end there is no later call that could throw it.
      if (events.length === 0 || last) throw pending
    }
    return events
  }

  return {
    push: (bytes) => collect(() => parts.parser.push(bytes)),
    end: () => collect(() => parts.parser.end(), parts.finish),
    pendingError: () => pending,
  }
}

function unparsable(cause: unknown, afterFirstByte: boolean): ProviderError {
  return failure('connection', 'The provider sent a stream that could not be read.', { afterFirstByte, cause })
}
