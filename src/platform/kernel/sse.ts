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

/** An incremental parser that takes CRLF, LF and CR line ends, comments and a byte order mark. */
export class SseParser {
  private readonly maximumEventBytes: number
  private readonly decoder = new TextDecoder('utf-8')
  // Reads without a line end are kept apart until one comes: joining them at each read would be quadratic in a long line.
  private pieces: string[] = []
  private piecesLength = 0
  private event = ''
  private data: string[] = []
  private dataLength = 0

  constructor({ maximumEventBytes }: { maximumEventBytes: number }) {
    this.maximumEventBytes = maximumEventBytes
  }

  /**
   * Events completed by these bytes, which may be cut anywhere, also inside a UTF-8 sequence or a CRLF. To be iterated to its end: events
   * that precede an oversized one in the same bytes are yielded before it throws.
   */
  *push(bytes: Uint8Array): Generator<SseEvent, void, void> {
    const text = this.decoder.decode(bytes, { stream: true })
    if (text === '') return
    const buffer = this.join(text)
    if (buffer !== undefined) yield* this.drain(buffer, false)
  }

  /** The event that lacks its empty line at the end of the stream, where there is one. */
  *end(): Generator<SseEvent, void, void> {
    const whole = this.pieces.join('') + this.decoder.decode()
    this.pieces = []
    yield* this.drain(whole, true)
    const rest = this.pieces.join('')
    this.pieces = []
    if (rest !== '') yield* this.takeLine(rest)
    yield* this.takeEvent()
  }

  /** The text so far, or undefined while no line in it can have ended. */
  private join(text: string): string | undefined {
    const { pieces } = this
    pieces.push(text)
    this.piecesLength += text.length
    // A CR at the end of the last read waited for this one.
    const mayEnd = text.includes('\n') || text.includes('\r') || (pieces.length > 1 && pieces.at(-2)!.endsWith('\r'))
    if (!mayEnd) return void this.assertSmall(this.piecesLength)
    this.pieces = []
    this.piecesLength = 0
    return pieces.join('')
  }

  private *drain(buffer: string, atEnd: boolean): Generator<SseEvent, void, void> {
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
      yield* this.takeLine(buffer.slice(start, stop))
      start = stop + (stop === carriage && buffer[stop + 1] === '\n' ? 2 : 1)
    }
    const rest = buffer.slice(start)
    if (rest !== '') this.pieces.push(rest)
    this.piecesLength = rest.length
    this.assertSmall(rest.length)
  }

  private *takeLine(line: string): Generator<SseEvent, void, void> {
    if (line === '') return yield* this.takeEvent()
    this.assertSmall(line.length)
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      this.data.push(value)
      this.dataLength += value.length
      this.assertSmall(this.dataLength)
    } else if (field === 'event') this.event = value
    // llama.cpp names a failure in the middle of a stream so: `error: {…}`.
    else if (field === 'error') {
      yield* this.takeEvent()
      yield { event: 'error', data: value }
    }
  }

  private *takeEvent(): Generator<SseEvent, void, void> {
    const { event, data } = this
    this.event = ''
    this.data = []
    this.dataLength = 0
    if (data.length > 0) yield { event: event === '' ? 'message' : event, data: data.join('\n') }
  }

  private assertSmall(length: number): void {
    if (length > this.maximumEventBytes) throw new SseTooLargeError(this.maximumEventBytes)
  }
}

/** One event on the wire. `data` must hold no line break (JSON never does). */
export function formatSseEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
}
