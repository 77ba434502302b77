import { AppError, type EndSignal, raceSignal, type ToolUses } from '../../platform/kernel/index.ts'
import type { Deployment } from '../models/index.ts'
import {
  type FinishReason,
  ProviderError,
  type ProviderEvent,
  type ProviderRequest,
  type ProviderStream,
  type TokenUsage,
} from '../providers/index.ts'
import { estimateTokens } from '../tokens/index.ts'
import {
  type AnsweredEnding,
  assertRecorded,
  completeUsage,
  countPromptUsage,
  endingOf,
  endingOfLeft,
  isCounted,
  measureRate,
  type OpenedCall,
  settleAnswered,
  settleLater,
  settleUnanswered,
  toAppError,
  usageByTime,
} from './opened-call.ts'
import type { CallNeeds, CompletionEvent } from './port.ts'
import { findSchemaMismatch, type SchemaMismatch } from '../conversation/index.ts'

/** What is known of a stream while it runs. */
interface Reading {
  events: AsyncIterator<ProviderEvent[]>
  /** Requested and not received yet. */
  next: Promise<IteratorResult<ProviderEvent[]>> | null
  meter: OutputMeter
  /** Null if the request has no schema. */
  verdict: StreamVerdict | null
  /** Null if the request allows several calls. */
  callLimit: CallLimit | null
  /** From the start of the call to the first output; null before it. */
  firstTokenMs: number | null
}

/** Passes the events on, keeps the hold ahead of them, and settles exactly once, however the iteration ends. */
export async function* relay(
  opened: OpenedCall,
  stream: ProviderStream,
  deployment: Deployment,
): AsyncGenerator<CompletionEvent[], void, void> {
  const reading = startReading(opened, stream)
  const { meter } = reading
  /** Undefined: the reader stopped iterating. */
  let knownEnding: AnsweredEnding | undefined
  let isFailed = false
  let isSettled = false
  let isRead = false
  // A slow reader would falsify the deployment's rate.
  let idleMs = 0
  // Raced with each read only if the provider's call outlives the client; otherwise the client's disconnect ends the call and the read.
  const raced = deployment.wire.reasoning ? opened.call.signal : undefined
  const onLeave = () => opened.work.abort(opened.call.signal.reason)
  if (!raced) opened.call.signal.addEventListener('abort', onLeave, { once: true })
  try {
    opened.call.signal.throwIfAborted()
    for (;;) {
      const { done, value } = await nextOf(reading, raced)
      if (done) break
      const taken = take(opened, reading, value)
      const visible = taken instanceof Promise ? await taken : taken
      if (visible.length === 0) continue
      const yieldedMs = opened.clock.monotonicMs()
      yield visible
      idleMs += opened.clock.monotonicMs() - yieldedMs
    }
    isRead = true
    const isExceeded = reading.callLimit?.isExceeded() === true
    const ending = (knownEnding = isExceeded ? 'provider_failed' : 'completed')
    const finishReason = meter.finishReason()
    const usage = await usageOf(opened, meter)
    const estimated = !isCounted(meter.usage())
    if (idleMs < slowReaderMs) measureRate(opened, usage)
    isSettled = true
    const { firstTokenMs } = reading
    const schemaMismatch = reading.verdict?.find()?.keyword ?? null
    const receipt = await settleAnswered(opened, deployment, {
      ending,
      usage,
      estimated,
      finishReason,
      firstTokenMs,
      schemaMismatch,
    })
    if (isExceeded) throw tooManyCalls(opened.call.needs)
    assertRecorded(receipt)
    yield [{ type: 'finish', finishReason, usage, estimated, receipt }]
  } catch (error) {
    if (error instanceof ProviderError) opened.router.reportBrokenStream(deployment.id, error)
    isFailed = !opened.call.signal.aborted
    knownEnding = endingOf(error, opened.call.signal)
    throw toAppError(error, opened.call.signal)
  } finally {
    // Also reached when the reader stops iterating, such as where it finds the signal aborted first.
    opened.call.signal.removeEventListener('abort', onLeave)
    const ending = knownEnding ?? endingOfLeft(opened.call.signal)
    const isLeft = ending === 'client_closed' && !isFailed && !isSettled && meter.usage() === null
    if (!(isLeft && readOnStream(opened, deployment, () => Promise.resolve(reading)))) {
      // Nothing is left to end where the answer was read to its end.
      if (!isRead) cancel(opened, reading)
      if (!isSettled) await settlePartial(opened, deployment, reading, ending)
    }
  }
}

/** Total time that a reader may take before the stream no longer counts for the deployment's rate. */
const slowReaderMs = 1_000

function startReading({ request, call }: OpenedCall, { events }: ProviderStream): Reading {
  return {
    events: events[Symbol.asyncIterator](),
    next: null,
    meter: createOutputMeter(),
    verdict: createStreamVerdict(request),
    callLimit: createCallLimit(call.needs),
    firstTokenMs: null,
  }
}

/** Rejects with the signal's reason; the requested events are kept for the next read. */
function nextOf(reading: Reading, signal: EndSignal | undefined): Promise<IteratorResult<ProviderEvent[]>> {
  reading.next ??= reading.events.next()
  return raceSignal(reading.next, signal)
}

/** Waits only where the hold must grow first. */
function take(
  opened: OpenedCall,
  reading: Reading,
  events: ProviderEvent[],
): CompletionEvent[] | Promise<CompletionEvent[]> {
  const { meter } = reading
  reading.next = null
  const visible = meter.take(events)
  reading.verdict?.take(events)
  if (visible.length > 0) reading.firstTokenMs ??= Math.round(opened.clock.monotonicMs() - opened.openedMs)
  const granted = opened.hold.grant(meter.tokensBound(), meter.tokensEstimate())
  const allowed = reading.callLimit?.take(visible) ?? visible
  return granted === true ? allowed : granted.then(() => allowed)
}

/** One for all streams: it ends each of them, and an error takes its time to be made. */
const readNoLonger = new AppError('client_closed', 'The answer is no longer read.')

function cancel({ work }: OpenedCall, reading: Reading | undefined): void {
  work.abort(readNoLonger)
  reading?.next?.catch(() => {})
  // Closes a stream that was never asked for its next events; one that was ends by the signal.
  void reading?.events.return?.().catch(() => {})
}

/**
 * The provider bills hidden reasoning that the gateway does not see. After the client has left, the stream is read until its usage comes,
 * within 30 s and within the hold. False if only visible output is billed.
 */
function readOnStream(opened: OpenedCall, deployment: Deployment, open: () => Promise<Reading>): boolean {
  if (!deployment.wire.reasoning) return false
  return opened.readOn.start(opened.call.organisation.id, async (signal) => {
    let reading: Reading | undefined
    try {
      reading = await raceSignal(open(), signal)
      for (;;) {
        const { done, value } = await nextOf(reading, signal)
        if (done) break
        await take(opened, reading, value)
      }
    } catch (error) {
      opened.log.debug(
        { requestId: opened.call.requestId, error: String(error) },
        'a stream that its client has left was not read to its end',
      )
    }
    cancel(opened, reading)
    if (opened.working) await settlePartial(opened, deployment, reading, 'client_closed')
    else await settleUnanswered(opened, 'provider_failed')
  })
}

/** The same for a stream that its client has left before it began to read, or before the provider began to answer. */
export function readOnUnread(
  opened: OpenedCall,
  answering: Promise<{ value: ProviderStream; deployment: Deployment }>,
): boolean {
  if (!opened.working) return false
  return readOnStream(opened, opened.working.deployment, () =>
    answering.then(({ value }) => startReading(opened, value)),
  )
}

/** `reading` undefined: the answer never began. */
async function settlePartial(
  opened: OpenedCall,
  deployment: Deployment,
  reading: Reading | undefined,
  ending: AnsweredEnding,
) {
  const meter = reading?.meter ?? createOutputMeter()
  let usage = await usageOf(opened, meter)
  if (!meter.usage() && deployment.wire.reasoning && ending === 'client_closed')
    usage = usageByTime(opened, usage, meter.tokensEstimate())
  const firstTokenMs = reading?.firstTokenMs ?? null
  const estimated = !isCounted(meter.usage())
  await settleLater(opened, deployment, { ending, usage, estimated, finishReason: null, firstTokenMs })
}

/** Tracks one stream: its output, usage and finish reason. Filters what the client may see. */
export type OutputMeter = ReturnType<typeof createOutputMeter>

export function createOutputMeter() {
  let bound = 0
  let estimate = 0
  let usage: TokenUsage | null = null
  let finish: FinishReason = 'stop'
  const toolUses: { -readonly [Kind in keyof ToolUses]: ToolUses[Kind] } = {}

  function count(text: string) {
    const counted = estimateTokens(text)
    // A delta is at least one token, and usually exactly one.
    bound += Math.max(1, counted.bound)
    estimate += Math.max(1, counted.estimate)
  }

  return {
    /** Counts the events of one read and returns those to pass on. */
    take(events: readonly ProviderEvent[]): CompletionEvent[] {
      const visible: CompletionEvent[] = []
      for (const event of events) {
        switch (event.type) {
          case 'text':
          case 'reasoning':
          case 'refusal':
            count(event.text)
            visible.push(event)
            break
          case 'tool_call':
            count(event.argumentsDelta + (event.name ?? ''))
            visible.push(event)
            break
          case 'logprobs':
          case 'choice_finish':
          case 'citations':
          case 'replay':
          case 'native':
          case 'hosted_item':
            visible.push(event)
            break
          case 'hosted_use':
            toolUses[event.kind] = (toolUses[event.kind] ?? 0) + 1
            break
          case 'finish':
            finish = event.finishReason
            break
          case 'usage':
            usage = event.usage
            break
        }
      }
      return visible
    },
    /** At least the tokens generated so far, as far as they were visible. */
    tokensBound: (): number => bound,
    tokensEstimate: (): number => estimate,
    /** Uses of hosted tools that have begun; a usage states those that are billed. */
    toolUses: (): ToolUses => toolUses,
    usage: (): TokenUsage | null => usage,
    finishReason: (): FinishReason => finish,
  }
}

/** The provider's usage. Of a stream without any: the prompt counted, the output as metered. */
async function usageOf(opened: OpenedCall, meter: OutputMeter): Promise<TokenUsage> {
  const reported = meter.usage()
  if (reported) return completeUsage(opened, reported)
  const toolUses = meter.toolUses()
  return {
    ...(await countPromptUsage(opened)),
    completionTokens: meter.tokensEstimate(),
    ...(Object.keys(toolUses).length > 0 && { toolUses }),
  }
}

interface Answer {
  text: string
  finishReason: FinishReason
}

/** The first difference of the answers to a request from its schema; null without a schema. Calls of tools and refusals have no verdict. */
export function findMismatch(
  { responseFormat }: Pick<ProviderRequest, 'responseFormat'>,
  answers: readonly Answer[],
): SchemaMismatch | null {
  if (responseFormat?.type !== 'json_schema') return null
  for (const { text, finishReason } of answers) {
    const found = finishReason === 'tool_calls' || text === '' ? null : findSchemaMismatch(responseFormat.schema, text)
    if (found) return found
  }
  return null
}

/** Keeps the text of a stream until its end, to compare it with the schema of the request. */
interface StreamVerdict {
  take(events: readonly ProviderEvent[]): void
  find(): SchemaMismatch | null
}

/** Null without a schema: nothing is kept then. */
export function createStreamVerdict(request: ProviderRequest): StreamVerdict | null {
  if (request.responseFormat?.type !== 'json_schema') return null
  const answers = new Map<number, Answer>()
  const answerOf = (choice = 0) => {
    const known = answers.get(choice)
    if (known) return known
    const answer: Answer = { text: '', finishReason: 'stop' }
    answers.set(choice, answer)
    return answer
  }
  return {
    take(events) {
      for (const event of events) {
        if (event.type === 'text') answerOf(event.choice).text += event.text
        else if (event.type === 'finish') answerOf().finishReason = event.finishReason
        else if (event.type === 'choice_finish') answerOf(event.choice).finishReason = event.finishReason
      }
    },
    find: () => findMismatch(request, [...answers.values()]),
  }
}

/** Whether the request allows one tool call only, which the gateway enforces. */
const allowsOneCall = (needs: CallNeeds | undefined) => needs?.enforced === 'parallel_tools'

/** Keeps a stream to the one tool call that its request allows. */
interface CallLimit {
  /** The events without those of further calls. */
  take<Event extends Pick<ProviderEvent, 'type'>>(events: Event[]): Event[]
  isExceeded(): boolean
}

/** Null if the request allows several calls. */
function createCallLimit(needs: CallNeeds | undefined): CallLimit | null {
  if (!allowsOneCall(needs)) return null
  const first = new Map<number, number>()
  let isExceeded = false
  const isAllowed = (event: Pick<ProviderEvent, 'type'>) => {
    if (event.type !== 'tool_call') return true
    const { index, choice = 0 } = event as ProviderEvent & { type: 'tool_call' }
    const known = first.get(choice)
    if (known === undefined) first.set(choice, index)
    if (known === undefined || known === index) return true
    isExceeded = true
    return false
  }
  return { take: (events) => events.filter(isAllowed), isExceeded: () => isExceeded }
}

/** Whether a whole answer has more calls than its request allows. */
export function exceedsCalls(needs: CallNeeds, answers: readonly { toolCalls: readonly unknown[] }[]): boolean {
  return allowsOneCall(needs) && answers.some(({ toolCalls }) => toolCalls.length > 1)
}

/**
 * No call is left out silently, and the client gets none that it has excluded. The answer was billed, so the status must be one that no
 * client library retries: those of OpenAI, Anthropic and the AI SDK retry 408, 409, 429 and 500 and above, LangChain also 422. 400 is
 * what remains: the model cannot keep the limit that the request sets.
 */
export function tooManyCalls(needs: CallNeeds | undefined): AppError {
  const field = needs?.fieldOf('parallel_tools') ?? 'parallel_tool_calls'
  return new AppError(
    'unsupported_parameter',
    `\`${field}\`: the model called its tool several times, although the request allows one call. The answer was billed. Allow several calls, or use a model that has a limit of one call.`,
    { param: field },
  )
}
