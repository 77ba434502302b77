import type { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { Step } from '../kernel/index.ts'
import { attribute } from './conventions.ts'

/** Begins and ends spans; the current one is in `current`. */
export interface Spans {
  tracer: Tracer
  current: AsyncLocalStorage<Span>
}

export interface SpanStart {
  name: string
  kind?: SpanKind
  attributes: Attributes
}

/** A span of a separate trace, or below the one that a client names. Not sampled, it still has a trace id. */
export function startRoot(
  { tracer }: Spans,
  { name, kind = SpanKind.INTERNAL, attributes }: SpanStart,
  { parent, links = [] }: { parent?: SpanContext | null; links?: Link[] } = {},
): Span {
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
  return tracer.startSpan(name, { kind, attributes, links, root: !parent }, context)
}

/** A span below the current one; null where that is not sampled. */
export function startBelow(
  { tracer, current }: Spans,
  { name, kind = SpanKind.INTERNAL, attributes }: SpanStart,
  parent: Span | undefined = current.getStore(),
): Span | null {
  if (!parent?.isRecording()) return null
  return tracer.startSpan(name, { kind, attributes }, trace.setSpan(ROOT_CONTEXT, parent))
}

export function endSpan(span: Span, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute(attribute.errorType, errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

export function stepOf({ current }: Spans, span: Span | null, countAttribute: string): Step | null {
  if (!span) return null
  return {
    run: (work) => current.run(span, work),
    end({ count, errorType } = {}) {
      if (count !== undefined) span.setAttribute(countAttribute, count)
      endSpan(span, errorType)
    },
  }
}

/** The remote parent that a client names. Its `tracestate` and `baggage` are not read: they are free text. */
export function remoteParent(traceparent: string | undefined): SpanContext | null {
  if (traceparent === undefined || traceparent.length > longestTraceparent) return null
  const parsed = parseTraceParent(traceparent)
  return parsed && { ...parsed, isRemote: true }
}

/** Of version 00; later versions may be longer, and only their beginning is of use. */
const longestTraceparent = 256

export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
