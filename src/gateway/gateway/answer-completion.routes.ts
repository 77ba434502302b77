import { type Call, headerList, rateLimitHeaders, renderErrorBody, toAppError } from '../../platform/http/index.ts'
import type { AppError, Log } from '../../platform/kernel/index.ts'
import type {
  CompletionCall,
  CompletionEvent,
  CompletionInfo,
  Completions,
  StreamedCompletion,
  WholeCompletion,
} from './port.ts'

/** How one client API writes an answer. */
export interface AnswerRenderer {
  /** Fields that the reading of the request has changed, for `x-adjusted-params`. */
  readonly adjusted?: readonly string[]
  /** The JSON of a whole answer. May set headers of the call. */
  whole(completion: WholeCompletion): string
  stream(streamed: StreamedCompletion): StreamRenderer
}

/** The text of one stream, in complete server-sent events. */
export interface StreamRenderer {
  /** Sent with the first event. */
  start(): string
  event(event: CompletionEvent): string
  /** The last text of a stream that has failed. */
  failed(error: AppError): string
}

export interface AnswerDependencies {
  completions: Completions
  log: Log
}

/** Runs one completion and writes its answer, whole or streamed. A rejection becomes the error of the response. */
export async function answerCompletion(
  call: Call,
  completionCall: CompletionCall,
  renderer: AnswerRenderer,
  { completions, log }: AnswerDependencies,
): Promise<void> {
  if (!completionCall.stream) {
    const completion = await completions.complete(completionCall)
    addAnswerHeaders(call, completion, renderer)
    call.sendJson(renderer.whole(completion))
    return
  }

  const streamed = await completions.stream(completionCall)
  addAnswerHeaders(call, streamed, renderer)
  const writer = renderer.stream(streamed)
  // No heartbeat: the compatible API sends no comment lines, and strict clients fail on them.
  const stream = call.startEvents()
  let lastText = ''
  // The start is sent with the first text: nothing may be awaited before the iteration, which settles the hold.
  let text = writer.start()
  try {
    for await (const events of streamed.events) {
      for (const event of events) text += writer.event(event)
      // The last text leaves with the end of the stream.
      if (events.at(-1)?.type === 'finish') lastText = text
      else if (text !== '') await stream.write(text)
      text = ''
    }
  } catch (thrown) {
    const error = toAppError(thrown)
    log.warn({ requestId: call.requestId, code: error.code, internal: error.internal }, 'a stream failed')
    lastText = writer.failed(error)
  } finally {
    stream.end(lastText)
  }
}

/** The last data line of a failed stream of the compatible API. */
export function renderStreamError(error: AppError): string {
  return `data: ${JSON.stringify(renderErrorBody(error))}\n\n`
}

function addAnswerHeaders(
  call: Call,
  { deploymentId, hosting, adjusted, rate }: CompletionInfo,
  { adjusted: adjustedBefore = [] }: AnswerRenderer,
): void {
  call.header('x-portico-deployment', deploymentId)
  call.header('x-portico-hosting', hosting)
  if (rate) for (const [name, value] of Object.entries(rateLimitHeaders(rate))) call.header(name, value)
  const changed = new Set([...adjustedBefore, ...adjusted])
  if (changed.size > 0) call.header('x-adjusted-params', headerList([...changed]))
}
