/** Server-Sent Events, as the WHATWG HTML standard describes them (section "Interpreting an event stream"). */

export interface SseEvent {
  /** The `event:` field; `message` where the stream names none. */
  event: string
  data: string
}

export class SseTooLargeError extends Error {
  constructor(limitBytes: number) {
    super(`one server-sent event is larger than ${limitBytes} bytes`)
    this.name = 'SseTooLargeError'
  }
}

export interface SseParser {
  /**
   * Events completed by these bytes, which may be cut anywhere, also inside a UTF-8 sequence or a CRLF. To be iterated to its end: events
   * that precede an oversized one in the same bytes are yielded before it throws.
   */
  push(bytes: Uint8Array): Iterable<SseEvent>
  /** The event that lacks its empty line at the end of the stream, where there is one. */
  end(): Iterable<SseEvent>
}

/** An incremental parser that takes CRLF, LF and CR line ends, comments and a byte order mark. */
export function createSseParser({ maximumEventBytes }: { maximumEventBytes: number }): SseParser {
  const decoder = new TextDecoder('utf-8')
  // Reads without a line end are kept apart until one comes: joining them at each read would be quadratic in a long line.
  let pieces: string[] = []
  let piecesLength = 0
  let event = ''
  let data: string[] = []
  let dataLength = 0

  function* takeEvent(): Generator<SseEvent, void, void> {
    const taken = data.length > 0 ? { event: event === '' ? 'message' : event, data: data.join('\n') } : undefined
    event = ''
    data = []
    dataLength = 0
    if (taken) yield taken
  }

  function* takeLine(line: string): Generator<SseEvent, void, void> {
    if (line === '') return yield* takeEvent()
    if (line.length > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data.push(value)
      dataLength += value.length
      if (dataLength > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
    } else if (field === 'event') event = value
    // llama.cpp names a failure in the middle of a stream so: `error: {…}`.
    else if (field === 'error') {
      yield* takeEvent()
      yield { event: 'error', data: value }
    }
  }

  /** The text so far, or undefined while no line in it can have ended. */
  function take(text: string): string | undefined {
    pieces.push(text)
    piecesLength += text.length
    // A CR at the end of the last read waited for this one.
    const mayEnd = text.includes('\n') || text.includes('\r') || (pieces.length > 1 && pieces.at(-2)!.endsWith('\r'))
    if (!mayEnd) return void assertSmall()
    const joined = pieces.join('')
    pieces = []
    piecesLength = 0
    return joined
  }

  function assertSmall() {
    if (piecesLength > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
  }

  function keep(rest: string) {
    if (rest !== '') pieces.push(rest)
    piecesLength = rest.length
    assertSmall()
  }

  function* drain(buffer: string, atEnd: boolean): Generator<SseEvent, void, void> {
    let start = 0
    // Searched again only when it has been passed: most streams hold no CR at all.
    let carriage = buffer.indexOf('\r')
    for (;;) {
      const lineFeed = buffer.indexOf('\n', start)
      if (carriage !== -1 && carriage < start) carriage = buffer.indexOf('\r', start)
      const stop = carriage !== -1 && (lineFeed === -1 || carriage < lineFeed) ? carriage : lineFeed
      if (stop === -1) break
      // A CR at the very end may be the first half of a CRLF: wait for the next byte.
      if (stop === carriage && stop === buffer.length - 1 && !atEnd) break
      yield* takeLine(buffer.slice(start, stop))
      start = stop + (stop === carriage && buffer[stop + 1] === '\n' ? 2 : 1)
    }
    keep(buffer.slice(start))
  }

  return {
    *push(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      if (text === '') return
      const buffer = take(text)
      if (buffer !== undefined) yield* drain(buffer, false)
    },
    *end() {
      const whole = pieces.join('') + decoder.decode()
      pieces = []
      yield* drain(whole, true)
      const rest = pieces.join('')
      pieces = []
      if (rest !== '') yield* takeLine(rest)
      yield* takeEvent()
    },
  }
}

/** One event on the wire. `data` must hold no line break (JSON never does). */
export function formatSseEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
}
