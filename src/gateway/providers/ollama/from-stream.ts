import { mapError } from '../openai/map-error.ts'
import type { ProviderEvent, ProviderRequest } from '../port.ts'
import { createStreamReader } from '../stream-reader.ts'
import type { WireStreamReader } from '../wire-adapter.ts'
import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asString, parseJsonObject } from '../wire-json.ts'
import { createForcedCall, forcedToolOf } from './forced-tool.ts'
import { answerIdOf, mapCounts, mapDoneReason, readToolCalls } from './from-response.ts'
import type { Redact } from '../redactor.ts'

/** Largest single line; one delta is a few hundred bytes. */
const maximumLineBytes = 4 * 1024 * 1024

/** Reads the lines of `/api/chat`, one JSON object each. The answer ends with `done: true`. */
export function createOllamaStreamReader(redact: Redact, request?: ProviderRequest): WireStreamReader {
  const forced = request && forcedToolOf(request)
  const state: ReaderState = { begun: false, ended: false, toolCalls: 0, toCall: forced && createForcedCall(forced) }
  return createStreamReader<string>({
    state,
    parser: createLineParser({ maximumLineBytes }),
    read: (line) => (state.ended ? [] : readLine(line, state, redact)),
  })
}

interface ReaderState {
  begun: boolean
  ended: boolean
  toolCalls: number
  /** Turns the answer's text into the call of a forced tool. */
  toCall: ReturnType<typeof createForcedCall> | undefined
}

function readLine(line: string, state: ReaderState, redact: Redact): ProviderEvent[] {
  if (line.trim() === '') return []
  const part = parseJsonObject(line)
  if (!part) throw unreadableAnswer('a line', state.begun)
  if (part.error) throw mapError({ status: 200, headers: {}, body: line, afterFirstByte: state.begun }, redact)
  state.begun = true
  const message = asObject(part.message)
  const events: ProviderEvent[] = []
  const thinking = asString(message.thinking)
  const text = asString(message.content)
  if (thinking !== '') events.push({ type: 'reasoning', text: thinking })
  if (text !== '') events.push({ type: 'text', text })
  for (const { id, name, argumentsJson } of readToolCalls(part, message, state.toolCalls)) {
    events.push({ type: 'tool_call', index: state.toolCalls++, id, name, argumentsDelta: argumentsJson })
  }
  if (part.done !== true) return state.toCall?.(events, answerIdOf(part)) ?? events
  state.ended = true
  const word = asName(part.done_reason)
  events.push({ type: 'finish', finishReason: mapDoneReason(word, state.toolCalls > 0), wireFinishReason: word })
  const usage = mapCounts(part)
  if (usage) events.push({ type: 'usage', usage })
  return state.toCall?.(events, answerIdOf(part)) ?? events
}

/** Lines of newline-delimited JSON. */
function createLineParser({ maximumLineBytes }: { maximumLineBytes: number }) {
  let rest: Uint8Array[] = []
  let restBytes = 0
  const assertLength = (bytes: number) => {
    if (bytes > maximumLineBytes) throw new RangeError(`one line is larger than ${maximumLineBytes} bytes`)
  }
  return {
    /** Lines completed by these bytes, which may be split anywhere. Throws RangeError at a line above the limit, after those before it. */
    *push(bytes: Uint8Array): Iterable<string> {
      // No byte of a multi-byte UTF-8 sequence equals a line feed, so complete lines can be decoded separately.
      let start = 0
      for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
        const line = bytes.subarray(start, end)
        assertLength(restBytes + line.length)
        const whole = rest.length === 0 ? line : Buffer.concat([...rest, line])
        rest = []
        restBytes = 0
        start = end + 1
        yield Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8')
      }
      if (start === bytes.length) return
      rest.push(bytes.subarray(start))
      restBytes += bytes.length - start
      assertLength(restBytes)
    },
    /** The last line without its line end, if there is one. */
    *end(): Iterable<string> {
      const line = Buffer.concat(rest).toString('utf8')
      rest = []
      restBytes = 0
      if (line !== '') yield line
    },
  }
}
