import { type Exchange, readWhole } from './http-exchange.ts'
import { type AnswerChoice, type FinishReason, ProviderError, type ProviderEvent } from './port.ts'
import type { WireAdapter, WireStreamReader, WireAnswer } from './wire-adapter.ts'
import { unreadableAnswer } from './wire-failure.ts'

/**
 * How long a body may continue after the answer's end: a host that does not close it must not delay the client. The socket is kept for the
 * next call only if the body ends in time.
 */
const graceAfterUsageMs = 100
/** Longer while usage is missing: Bedrock sends it after the finish. */
const graceBeforeUsageMs = 2_000

/** Finish reasons that clearly mean `stop`; another one that was mapped to it is unknown and logged. */
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

type StreamAdapter = Pick<WireAdapter, 'createStreamReader' | 'fromResponse'>

/**
 * The events of a streamed answer, those of one network read together. Resolves with the first bytes of the body: an error in place of an
 * answer (hosts send it with status 200) rejects before any event, so the call can be retried. Throws ProviderError, here and while
 * iterating.
 */
export async function openStream(
  answer: Exchange,
  adapter: StreamAdapter,
  onUnknownWord: (word: string) => void,
): Promise<AsyncIterable<ProviderEvent[]>> {
  try {
    const reads = answer.body[Symbol.asyncIterator]()
    const first = await reads.next()
    const beginning: Uint8Array[] = first.done ? [] : first.value
    if (isJson(answer) && startsWithBrace(beginning)) {
      const rest: AsyncIterable<Uint8Array[]> = { [Symbol.asyncIterator]: () => reads }
      const whole = adapter.fromResponse(Buffer.concat([...beginning, await readWhole(rest)]))
      return handOut(noted(eventsOfWhole(whole), onUnknownWord))
    }
    const reader = adapter.createStreamReader()
    const opening = pushAll(reader, beginning)
    if (opening.error && opening.events.length === 0) throw opening.error
    return new EventReads(answer, opening, reads, reader, onUnknownWord)
  } catch (error) {
    answer.abandon()
    throw error instanceof ProviderError ? error : unreadableAnswer('a stream', true)
  }
}

async function* handOut(events: ProviderEvent[]): AsyncGenerator<ProviderEvent[], void, void> {
  yield events
}

/** Not a generator, whose `yield` takes two more turns of the microtask queue. */
class EventReads implements AsyncIterableIterator<ProviderEvent[], undefined> {
  readonly #answer: Exchange
  readonly #reads: AsyncIterator<Uint8Array[]>
  readonly #reader: WireStreamReader
  readonly #onUnknownWord: (word: string) => void
  #pushed: PushedEvents
  #finished = false
  #counted = false
  #isOver = false

  constructor(
    answer: Exchange,
    opening: PushedEvents,
    reads: AsyncIterator<Uint8Array[]>,
    reader: WireStreamReader,
    onUnknownWord: (word: string) => void,
  ) {
    this.#answer = answer
    this.#reads = reads
    this.#reader = reader
    this.#onUnknownWord = onUnknownWord
    this.#pushed = opening
  }

  [Symbol.asyncIterator]() {
    return this
  }

  async next(): Promise<IteratorResult<ProviderEvent[], undefined>> {
    try {
      while (this.#pushed.events.length === 0 && !this.#isOver) {
        if (this.#pushed.error) throw this.#pushed.error
        const read = await (this.#finished
          ? afterFinish(this.#reads, this.#counted ? graceAfterUsageMs : graceBeforeUsageMs)
          : this.#reads.next())
        this.#isOver ||= read.done === true
        this.#pushed = read.done ? { events: this.#reader.end(), error: null } : pushAll(this.#reader, read.value)
      }
    } catch (error) {
      void this.return()
      throw error
    }
    const { events, error } = this.#pushed
    if (events.length === 0) return this.return()
    this.#pushed = { events: [], error }
    for (const event of events) {
      if (event.type === 'usage') this.#counted = true
      if (event.type !== 'finish') continue
      this.#finished = true
      if (isUnknownStop(event.finishReason, event.wireFinishReason)) this.#onUnknownWord(event.wireFinishReason)
    }
    return { done: false, value: events }
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#isOver = true
    this.#pushed = { events: [], error: null }
    this.#answer.abandon()
    return Promise.resolve({ done: true, value: undefined })
  }
}

interface PushedEvents {
  events: ProviderEvent[]
  error: ProviderError | null
}

/** Events of one network read. An error follows the events before it. */
function pushAll(reader: WireStreamReader, read: Uint8Array[]): PushedEvents {
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

/** The answer is complete: a broken or silent connection no longer matters. */
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

/** True if an unknown finish reason was mapped to `stop`. */
export function isUnknownStop(finishReason: FinishReason | null, word: string | null): word is string {
  return finishReason === 'stop' && word !== null && !plainStops.has(word)
}

function noted(events: ProviderEvent[], onUnknownWord: (word: string) => void): ProviderEvent[] {
  for (const event of events) {
    if (event.type === 'finish' && isUnknownStop(event.finishReason, event.wireFinishReason)) {
      onUnknownWord(event.wireFinishReason)
    }
  }
  return events
}

/** A host that ignores `stream: true`, or reports an error as plain JSON with status 200. */
function isJson(answer: Exchange): boolean {
  return /^\s*application\/json\b/i.test(answer.headers['content-type'] ?? '')
}

function startsWithBrace(read: Uint8Array[]): boolean {
  return /^\s*\{/.test(Buffer.concat(read).subarray(0, 1024).toString('latin1'))
}

function eventsOfWhole(answer: WireAnswer): ProviderEvent[] {
  const events = contentEvents(answer)
  for (const [at, further] of (answer.furtherChoices ?? []).entries()) {
    const choice = at + 1
    for (const event of contentEvents(further)) events.push({ ...event, choice } as ProviderEvent)
    const { finishReason, wireFinishReason } = further
    events.push({ type: 'choice_finish', choice, finishReason, wireFinishReason })
  }
  if (answer.citations) events.push({ type: 'citations', citations: answer.citations })
  if (answer.replay) events.push({ type: 'replay', replay: answer.replay })
  events.push({ type: 'finish', finishReason: answer.finishReason, wireFinishReason: answer.wireFinishReason })
  if (answer.usage) events.push({ type: 'usage', usage: answer.usage })
  return events
}

function contentEvents(answer: AnswerChoice): ProviderEvent[] {
  const events: ProviderEvent[] = []
  if (answer.reasoningText !== '') events.push({ type: 'reasoning', text: answer.reasoningText })
  if (answer.text !== '') events.push({ type: 'text', text: answer.text })
  if (answer.refusal) events.push({ type: 'refusal', text: answer.refusal })
  if (answer.logprobs) events.push({ type: 'logprobs', logprobs: answer.logprobs })
  for (const [index, call] of answer.toolCalls.entries()) {
    events.push({ type: 'tool_call', index, id: call.id, name: call.name, argumentsDelta: call.argumentsJson })
  }
  return events
}
