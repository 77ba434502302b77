import { type Exchange, readWhole } from './http-exchange.ts'
import { type ProviderAnswer, ProviderError, type ProviderEvent } from './port.ts'
import type { WireAdapter, WireStreamReader } from './wire-adapter.ts'
import { unreadableAnswer } from './wire-failure.ts'

/**
 * How long a body may go on after the answer's own end: a host that forgets to close must not hold up the client. The socket is kept
 * for the next call only if the body ends in time.
 */
const graceAfterUsageMs = 100
/** While usage is still missing (Bedrock sends it behind the finish) there is something to wait for. */
const graceBeforeUsageMs = 2_000

/** Words that plainly mean `stop`; another word that was mapped to it is new and worth a line in the log. */
const plainStops: ReadonlySet<string> = new Set([
  'stop',
  'STOP',
  'end_turn',
  'stop_sequence',
  'pause_turn',
  'compaction',
  'complete',
  'COMPLETE',
  'STOP_SEQUENCE',
  'eos',
  'eos_token',
])

/** The events of a streamed answer, those of one network read together. Throws ProviderError. */
export async function* readStream(
  answer: Exchange,
  adapter: Pick<WireAdapter, 'createStreamReader' | 'fromResponse'>,
  onUnknownWord: (word: string) => void,
): AsyncGenerator<ProviderEvent[], void, void> {
  const reads = answer.body[Symbol.asyncIterator]()
  try {
    const first = await reads.next()
    if (isJson(answer) && !first.done && startsWithBrace(first.value)) {
      const rest: AsyncIterable<Uint8Array[]> = { [Symbol.asyncIterator]: () => reads }
      const body = Buffer.concat([...first.value, await readWhole(rest)])
      return yield eventsOfWhole(adapter.fromResponse(body))
    }
    yield* readEvents(first, reads, adapter.createStreamReader(), onUnknownWord)
  } finally {
    answer.abandon()
  }
}

async function* readEvents(
  first: IteratorResult<Uint8Array[], unknown>,
  reads: AsyncIterator<Uint8Array[]>,
  reader: WireStreamReader,
  onUnknownWord: (word: string) => void,
): AsyncGenerator<ProviderEvent[], void, void> {
  let finished = false
  let counted = false
  const next = () => (finished ? afterFinish(reads, counted ? graceAfterUsageMs : graceBeforeUsageMs) : reads.next())
  for (let read = first; !read.done; read = await next()) {
    const { events, error } = pushAll(reader, read.value as Uint8Array[])
    for (const event of events) {
      if (event.type === 'finish') finished = true
      else if (event.type === 'usage') counted = true
    }
    if (events.length > 0) yield noted(events, onUnknownWord)
    if (error) throw error
  }
  const last = reader.end()
  if (last.length > 0) yield noted(last, onUnknownWord)
}

/** Events of one network read. An error comes after the events that stood before it. */
function pushAll(
  reader: WireStreamReader,
  read: Uint8Array[],
): { events: ProviderEvent[]; error: ProviderError | null } {
  let events: ProviderEvent[] = []
  try {
    for (const bytes of read) {
      const more = reader.push(bytes)
      events = events.length === 0 ? more : events.concat(more)
      const pending = reader.pendingError?.()
      if (pending) return { events, error: pending }
    }
    return { events, error: null }
  } catch (error) {
    return { events, error: error instanceof ProviderError ? error : unreadableAnswer('a stream', true) }
  }
}

/** The answer is whole: neither a broken connection nor a silent one matters any more. */
async function afterFinish(
  reads: AsyncIterator<Uint8Array[]>,
  graceMs: number,
): Promise<IteratorResult<Uint8Array[], unknown>> {
  const end = { done: true as const, value: undefined }
  let timer: NodeJS.Timeout | undefined
  const grace = new Promise<typeof end>((resolve) => (timer = setTimeout(resolve, graceMs, end)))
  try {
    return await Promise.race([reads.next().catch(() => end), grace])
  } finally {
    clearTimeout(timer)
  }
}

function noted(events: ProviderEvent[], onUnknownWord: (word: string) => void): ProviderEvent[] {
  for (const event of events) {
    if (event.type !== 'finish' || event.finishReason !== 'stop' || event.wireFinishReason === null) continue
    if (!plainStops.has(event.wireFinishReason)) onUnknownWord(event.wireFinishReason.slice(0, 100))
  }
  return events
}

/** A host that ignores `stream: true`, or says what is wrong in plain JSON with status 200. */
function isJson(answer: Exchange): boolean {
  return /^\s*application\/json\b/i.test(answer.headers['content-type'] ?? '')
}

function startsWithBrace(read: Uint8Array[]): boolean {
  return /^\s*\{/.test(Buffer.concat(read).subarray(0, 1024).toString('latin1'))
}

function eventsOfWhole(answer: Omit<ProviderAnswer, 'adjusted' | 'providerRequestId'>): ProviderEvent[] {
  const events: ProviderEvent[] = []
  if (answer.reasoningText !== '') events.push({ type: 'reasoning', text: answer.reasoningText })
  if (answer.text !== '') events.push({ type: 'text', text: answer.text })
  if (answer.refusal) events.push({ type: 'refusal', text: answer.refusal })
  for (const [index, call] of answer.toolCalls.entries()) {
    events.push({ type: 'tool_call', index, id: call.id, name: call.name, argumentsDelta: call.argumentsJson })
  }
  events.push({ type: 'finish', finishReason: answer.finishReason, wireFinishReason: answer.wireFinishReason })
  if (answer.usage) events.push({ type: 'usage', usage: answer.usage })
  return events
}
