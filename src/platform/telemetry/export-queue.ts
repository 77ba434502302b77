import type { Context } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'

/** Ended spans that wait for their export: about 3 MB. Further ones are dropped. */
export const maximumWaitingSpans = 2_048
/** Spans of one request to the collector. */
const spansPerExport = 512
const exportEveryMs = 5_000

export type Signal = 'traces' | 'metrics'
/** Why telemetry was lost: no room, or the collector did not take it. */
export type DropReason = 'queue_full' | 'unreachable' | 'timeout' | 'status' | 'rejected'

/** Sends one request to the collector. Never rejects; reports what was lost by itself. */
export type Send<Item> = (item: Item, count: number) => Promise<boolean>

/** The queue of ended spans. It has one export at a time, and drops and counts what does not fit. */
export function createSpanQueue(
  send: Send<ReadableSpan[]>,
  {
    dropped,
    exportTimeoutMs,
    everyMs = exportEveryMs,
  }: { dropped: (reason: DropReason, count: number) => void; exportTimeoutMs: number; everyMs?: number | undefined },
): SpanProcessor {
  let waiting = 0
  const exporter: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length
      void report(send(spans, spans.length), done)
    },
    shutdown: () => Promise.resolve(),
  }
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: maximumWaitingSpans,
    maxExportBatchSize: spansPerExport,
    scheduledDelayMillis: everyMs,
    // The sender has its own, shorter limit.
    exportTimeoutMillis: exportTimeoutMs * 2,
  })
  return {
    onStart(_span, _context: Context) {},
    onEnd(span) {
      if (waiting >= maximumWaitingSpans) return dropped('queue_full', 1)
      waiting++
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

/** Passes the outcome of a sender, which never rejects, to the SDK. */
export async function report(sending: Promise<boolean>, done: (result: ExportResult) => void): Promise<void> {
  done(resultOf(await sending))
}

function resultOf(sent: boolean): ExportResult {
  return sent ? { code: ExportResultCode.SUCCESS } : { code: ExportResultCode.FAILED, error: notTaken }
}

/** One for all: the sender has counted and logged the reason. */
const notTaken = new Error('the collector has not taken the telemetry')
