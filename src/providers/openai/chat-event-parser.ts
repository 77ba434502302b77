import { SseTooLargeError } from '../../kernel/index.ts'
import { type ChunkTemplate, type MatchedChunk, matchTemplate } from './chunk-template.ts'

/** One server-sent event: text that was not parsed, or an event to be read. */
export type ChatEvent =
  | ({ type: 'relayed' } & Pick<MatchedChunk, 'contentJson' | 'outputBytes'>)
  | { type: 'event'; event: string; data: string }

export interface ChatEventParser {
  push(bytes: Uint8Array): Iterable<ChatEvent>
  end(): Iterable<ChatEvent>
  /** Chunks of this form are handed out as `relayed` from now on. */
  use(template: ChunkTemplate): void
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const dataPrefix = 'data: '

/**
 * Server-sent events (WHATWG HTML, "Interpreting an event stream") as hosts of this family send them, with a short way for chunks of a
 * known form. Whole lines are decoded together: no byte of UTF-8 text but the line end itself looks like one, so a cut anywhere
 * is harmless. kernel/sse.ts is the plain parser of the other formats.
 */
export function createChatEventParser({ maximumEventBytes }: { maximumEventBytes: number }): ChatEventParser {
  /** Bytes of a line that has not ended. */
  let rest: Uint8Array[] = []
  let restBytes = 0
  let beginning = true
  let template: ChunkTemplate | null = null
  let event = ''
  let data: string | null = null

  function* readLines(text: string): Generator<ChatEvent, void, void> {
    // Some hosts begin with a byte order mark.
    let at = beginning && text.charCodeAt(0) === 0xfeff ? 1 : 0
    beginning = false
    const hasReturns = text.includes('\r')
    while (at < text.length) {
      if (template !== null && data === null && event === '' && text.startsWith(dataPrefix, at)) {
        const match = matchTemplate(template, text, at + dataPrefix.length)
        // Only with the empty line that ends the event in sight.
        if (match && text.charCodeAt(match.end) === lineFeed && text.charCodeAt(match.end + 1) === lineFeed) {
          yield { type: 'relayed', contentJson: match.contentJson, outputBytes: match.outputBytes }
          at = match.end + 2
          continue
        }
      }
      const end = lineEnd(text, at, hasReturns)
      const taken = takeLine(text.slice(at, end))
      if (taken) yield taken
      at = end + (text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed ? 2 : 1)
    }
  }

  function takeLine(line: string): ChatEvent | null {
    if (line === '') return takeEvent()
    if (line.length > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1)
    if (field === 'data') {
      data = data === null ? value : `${data}\n${value}`
      if (data.length > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
    } else if (field === 'event') event = value
    // llama.cpp names a failure in the middle of a stream so: `error: {…}`.
    else if (field === 'error') return { type: 'event', event: 'error', data: value }
    return null
  }

  function takeEvent(): ChatEvent | null {
    const taken = data === null ? null : { type: 'event' as const, event, data }
    event = ''
    data = null
    return taken
  }

  /** All bytes up to the last line end, decoded; what follows waits. */
  function wholeLines(bytes: Uint8Array): string {
    if (bytes.length === 0) return ''
    const end = endOfLines(bytes)
    // A carriage return that waited is a line end now: these bytes do not begin with its line feed.
    const returnWaited = end === 0 && rest.at(-1)?.at(-1) === carriageReturn
    if (end === 0 && !returnWaited) {
      rest.push(bytes)
      restBytes += bytes.length
      return ''
    }
    const lines = bytes.subarray(0, end)
    const text = decode(rest.length === 0 ? lines : Buffer.concat([...rest, lines]))
    rest = end === bytes.length ? [] : [bytes.subarray(end)]
    restBytes = bytes.length - end
    return text
  }

  return {
    use(learned) {
      template = learned
    },
    *push(bytes) {
      yield* readLines(wholeLines(bytes))
      // After the lines before it, as when the bytes come one by one.
      if (restBytes > maximumEventBytes) throw new SseTooLargeError(maximumEventBytes)
    },
    *end() {
      yield* readLines(decode(Buffer.concat([...rest, Buffer.of(lineFeed)])))
      rest = []
      restBytes = 0
      const last = takeEvent()
      if (last) yield last
    },
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** Position behind the last line end; a carriage return as the very last byte may be half of a CRLF, so it waits. */
function endOfLines(bytes: Uint8Array): number {
  const feed = bytes.lastIndexOf(lineFeed)
  if (feed === bytes.length - 1) return bytes.length
  return Math.max(feed, bytes.lastIndexOf(carriageReturn, bytes.length - 2)) + 1
}

function lineEnd(text: string, from: number, hasReturns: boolean): number {
  const feed = text.indexOf('\n', from)
  const end = feed === -1 ? text.length : feed
  if (!hasReturns) return end
  const lone = text.indexOf('\r', from)
  return lone === -1 || lone > end ? end : lone
}
