import { createRequire } from 'node:module'
import type * as EventStream from '@smithy/eventstream-codec'
import type * as Utf8 from '@smithy/util-utf8'
import { type JsonObject, parseJsonObject } from '../wire-json.ts'

/** One frame of `application/vnd.amazon.eventstream`. */
export interface EventFrame {
  messageType: 'event' | 'exception' | 'error'
  /** `:event-type`, `:exception-type` or `:error-code`. */
  type: string
  payload: JsonObject
}

/** A frame's prelude: total length, length of headers, checksum, 4 bytes each; a checksum of the message ends it. */
const smallestFrameBytes = 16
/** AWS sends frames of at most 16 MiB with 128 KiB of headers; a longer length is invalid. */
const largestFrameBytes = 17 * 1024 * 1024

/** Loaded by the first stream: providers other than AWS must not slow down the start. */
function createCodec(): EventStream.EventStreamCodec {
  const load = createRequire(import.meta.url)
  const { EventStreamCodec } = load('@smithy/eventstream-codec') as typeof EventStream
  const { fromUtf8, toUtf8 } = load('@smithy/util-utf8') as typeof Utf8
  return new EventStreamCodec(toUtf8, fromUtf8)
}

export function createFrameParser() {
  const codec = createCodec()
  /** Bytes of the incomplete frame, as received; joined once, when it is complete. */
  let pieces: Uint8Array[] = []
  let waitingBytes = 0

  function frameLength(): number | undefined {
    if (waitingBytes < 4) return undefined
    if (pieces[0]!.length < 4) pieces = [join(pieces)]
    const head = pieces[0]!
    const length = new DataView(head.buffer, head.byteOffset, 4).getUint32(0)
    if (length < smallestFrameBytes || length > largestFrameBytes) throw new RangeError('no frame has this length')
    return length
  }

  return {
    /** Frames completed by these bytes. Throws at an invalid checksum or length, after the frames before it. */
    *push(bytes: Uint8Array): Iterable<EventFrame> {
      if (bytes.length === 0) return
      pieces.push(bytes)
      waitingBytes += bytes.length
      for (let length = frameLength(); length !== undefined && waitingBytes >= length; length = frameLength()) {
        const all = join(pieces)
        pieces = [all.subarray(length)]
        waitingBytes -= length
        yield readFrame(codec, all.subarray(0, length))
      }
    },
    /** Throws if the bytes end inside a frame. */
    end(): Iterable<EventFrame> {
      if (waitingBytes > 0) throw new RangeError('the stream ended inside a frame')
      return []
    },
  }
}

function readFrame(codec: EventStream.EventStreamCodec, bytes: Uint8Array): EventFrame {
  const { headers, body } = codec.decode(bytes)
  const header = (name: string) => String(headers[name]?.value ?? '')
  const messageType = header(':message-type')
  const text = new TextDecoder().decode(body)
  if (messageType === 'error') {
    return { messageType, type: header(':error-code'), payload: { message: header(':error-message') } }
  }
  const payload = parseJsonObject(text)
  if (messageType === 'exception')
    return { messageType, type: header(':exception-type'), payload: payload ?? { message: text } }
  if (!payload) throw new SyntaxError('the payload of a frame is no JSON object')
  return { messageType: 'event', type: header(':event-type'), payload }
}

function join(pieces: Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
