import { type Attributes, type Span, SpanKind } from '@opentelemetry/api'
import type { AttemptSpan, Operation, OperationAnswer, OperationStart, Peer } from '../kernel/index.ts'
import { attribute, operationNames, ourSystem, ownAttribute } from './conventions.ts'
import { type Measures, peerAttributes } from './measures.ts'
import { endSpan, type Spans, startBelow, toTraceparent } from './spans.ts'

export interface OperationParts {
  spans: Spans
  measures: Measures
  propagateToProviders: boolean
}

const ourselves: Peer = { system: ourSystem }

/** One call of a model: a span with all its attempts, and its metrics. */
export class TracedOperation implements Operation {
  readonly #parts: OperationParts
  readonly #start: OperationStart
  readonly #span: Span | null
  readonly #startedMs = performance.now()
  #peer: Peer = ourselves
  /** When the first attempt began; undefined: the provider was never called. */
  #calledMs: number | undefined
  #isOver = false

  constructor(parts: OperationParts, start: OperationStart) {
    this.#parts = parts
    this.#start = start
    this.#span = startBelow(parts.spans, {
      name: `${operationNames[start.kind]} ${start.model}`,
      kind: SpanKind.CLIENT,
      attributes: requestAttributes(start),
    })
  }

  attempt({ deploymentId, hosting, number, peer }: Parameters<Operation['attempt']>[0]): AttemptSpan | null {
    this.#calledMs ??= performance.now()
    this.#peer = peer
    if (!this.#span) return null
    const { spans, propagateToProviders } = this.#parts
    const attributes = {
      ...peerAttributes(peer),
      [ownAttribute.deploymentId]: deploymentId,
      [ownAttribute.hosting]: hosting,
      [ownAttribute.attempt]: number,
    }
    const span = startBelow(spans, { name: 'provider attempt', kind: SpanKind.CLIENT, attributes }, this.#span)
    if (!span) return null
    return {
      traceparent: propagateToProviders ? toTraceparent(span.spanContext()) : undefined,
      end(outcome, status) {
        span.setAttribute(ownAttribute.outcome, outcome)
        if (status !== null) span.setAttribute(attribute.httpStatus, status)
        endSpan(span, outcome === 'answered' ? undefined : outcome)
      },
    }
  }

  event(name: string): void {
    this.#span?.addEvent(name)
  }

  answered(answer: OperationAnswer, recorded: Promise<unknown>): void {
    if (this.#isOver) return
    this.#isOver = true
    const errorType = answer.ending === 'completed' ? undefined : answer.ending
    const { measures } = this.#parts
    measures.tokens(this.#start, this.#peer, answer)
    if (typeof answer.firstTokenMs === 'number' && this.#isServed())
      measures.firstToken(this.#start, answer.firstTokenMs / 1000)
    this.#measure(errorType)
    const span = this.#span
    if (!span) return
    span.setAttributes({ ...peerAttributes(this.#peer), ...answerAttributes(answer) })
    span.addEvent('ledger.settle')
    const end = () => endSpan(span, errorType)
    recorded.then(end, end)
  }

  failed(code: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#measure(code)
    if (!this.#span) return
    this.#span.setAttributes(peerAttributes(this.#peer))
    endSpan(this.#span, code)
  }

  #isServed(): boolean {
    return this.#start.surface === 'gateway'
  }

  #measure(errorType: string | undefined) {
    const { measures } = this.#parts
    const endedMs = performance.now()
    if (this.#calledMs !== undefined)
      measures.called(this.#start, this.#peer, (endedMs - this.#calledMs) / 1000, errorType)
    if (this.#isServed()) measures.served(this.#start, (endedMs - this.#startedMs) / 1000, errorType)
  }
}

function requestAttributes(start: OperationStart): Attributes {
  const { kind, model, surface, stream, requestId, maxOutputTokens, temperature, topP } = start
  return {
    [attribute.operation]: operationNames[kind],
    // Until the provider is known.
    [attribute.provider]: ourSystem,
    [attribute.requestModel]: model,
    [attribute.requestStream]: kind === 'chat' ? stream : undefined,
    [attribute.requestMaxTokens]: maxOutputTokens,
    [attribute.requestTemperature]: temperature,
    [attribute.requestTopP]: topP,
    [ownAttribute.surface]: surface,
    [ownAttribute.requestId]: requestId,
  }
}

function answerAttributes(answer: OperationAnswer): Attributes {
  const { deploymentId, hosting, wireModel, ending, finishReason, usage, firstTokenMs } = answer
  return {
    [attribute.responseModel]: wireModel,
    [attribute.finishReasons]: finishReason === null ? undefined : [finishReason],
    [attribute.timeToFirstChunk]: typeof firstTokenMs === 'number' ? firstTokenMs / 1000 : undefined,
    [attribute.inputTokens]: usage.promptTokens,
    [attribute.outputTokens]: usage.completionTokens,
    [attribute.cacheReadTokens]: usage.cachedTokens,
    [attribute.cacheWriteTokens]: usage.cacheWriteTokens,
    [ownAttribute.deploymentId]: deploymentId,
    [ownAttribute.hosting]: hosting,
    [ownAttribute.ending]: ending,
  }
}
