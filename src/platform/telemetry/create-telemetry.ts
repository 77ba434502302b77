import { AsyncLocalStorage } from 'node:async_hooks'
import { type Span, SpanKind } from '@opentelemetry/api'
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { errorTypeOf, type Telemetry } from '../kernel/index.ts'
import { attribute, ourSystem, ownAttribute, schemaUrl } from './conventions.ts'
import { createSpanQueue, report } from './export-queue.ts'
import { createMeasures } from './measures.ts'
import { TracedOperation } from './operation.ts'
import { createOtlpSender, type OtlpSender, type SenderOptions } from './otlp-sender.ts'
import { endSpan, remoteParent, type Spans, startBelow, startRoot, stepOf, toTraceparent } from './spans.ts'

export interface TelemetryOptions extends SenderOptions {
  /** Share of the traces that are exported, 0 to 1. Metrics count everything. */
  sampleRatio: number
  propagateToProviders: boolean
  metricsIntervalMs: number
  /** Of ended spans; tests pass a shorter time. */
  exportSpansEveryMs?: number | undefined
  /** Such as `service.name`. */
  resource: Readonly<Record<string, string>>
  version: string
  urlScheme: string
}

export interface OpenedTelemetry extends Telemetry {
  /** Exports what waits, for as long as `flushMs`; the rest is lost. */
  close(): Promise<void>
}

/** Longest export at a stop. Orchestrators wait 10 to 30 seconds for all of it. */
const flushMs = 3_000
/** Longest attribute, as a second bound: ids and words of closed lists are shorter. */
const longestAttribute = 256

/** Traces and metrics over OTLP. Nothing is registered globally, so that libraries which look for OpenTelemetry find none. */
export function createTelemetry(options: TelemetryOptions): OpenedTelemetry {
  const resource = defaultResource().merge(resourceFromAttributes({ ...options.resource }))
  const sender = createOtlpSender(options)
  const tracers = createTracers(options, sender, resource)
  const meters = createMeters(options, sender, resource)
  const scope = ['portico', options.version, { schemaUrl }] as const
  const spans: Spans = { tracer: tracers.getTracer(...scope), current: new AsyncLocalStorage<Span>() }
  const measures = createMeasures(meters.getMeter(...scope))
  const operationParts = { spans, measures, propagateToProviders: options.propagateToProviders }
  return {
    ...requestsAndJobs(spans, options),
    operation: (start) => new TracedOperation(operationParts, start),
    ...steps(spans),
    current() {
      const span = spans.current.getStore()
      return span?.isRecording() ? toTraceparent(span.spanContext()) : undefined
    },
    async close() {
      sender.hurry()
      const flushed = Promise.all([tracers.shutdown(), meters.shutdown()]).then(
        () => true,
        () => true,
      )
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), flushMs)))
      if (!(await Promise.race([flushed, late]))) options.log.warn({ flushMs }, 'telemetry was not exported in time')
      clearTimeout(timer)
    },
  }
}

type Resource = ReturnType<typeof defaultResource>

function createTracers(options: TelemetryOptions, sender: OtlpSender, resource: Resource) {
  const serializer = options.protocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer
  // A client must not decide which share of its requests costs us an export, so its `sampled` flag is not followed.
  const ratio = new TraceIdRatioBasedSampler(options.sampleRatio)
  return new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: ratio, remoteParentNotSampled: ratio }),
    spanLimits: { attributeValueLengthLimit: longestAttribute },
    spanProcessors: [
      createSpanQueue(sender.of('traces', serializer), {
        dropped: (reason, count) => sender.dropped('traces', reason, count),
        exportTimeoutMs: options.timeoutMs,
        everyMs: options.exportSpansEveryMs,
      }),
    ],
  })
}

function createMeters(options: TelemetryOptions, sender: OtlpSender, resource: Resource) {
  const serializer = options.protocol === 'http/json' ? JsonMetricsSerializer : ProtobufMetricsSerializer
  const send = sender.of('metrics', serializer)
  const reader = new PeriodicExportingMetricReader({
    exportIntervalMillis: options.metricsIntervalMs,
    // Values are cumulative: a lost export loses only a point in time.
    exporter: {
      export: (metrics, done) => void report(send(metrics, 1), done),
      selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  return new MeterProvider({ resource, readers: [reader] })
}

/** Methods of HTTP; anything else could be a word of a client. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

function requestsAndJobs(spans: Spans, { urlScheme }: TelemetryOptions): Pick<Telemetry, 'request' | 'job'> {
  return {
    request({ method: given, requestId, traceparent }) {
      const method = methods.has(given) ? given : '_OTHER'
      const attributes = {
        [attribute.httpMethod]: method,
        [attribute.urlScheme]: urlScheme,
        [ownAttribute.requestId]: requestId,
      }
      const parent = remoteParent(traceparent)
      const span = startRoot(spans, { name: method, kind: SpanKind.SERVER, attributes }, { parent })
      return {
        traceId: span.spanContext().traceId,
        run: (work) => spans.current.run(span, work),
        end({ route, status, organisationId, code }) {
          if (!span.isRecording()) return
          // `HTTP` where the method is unknown, as the conventions state.
          span.updateName(`${method === '_OTHER' ? 'HTTP' : method} ${route}`)
          span.setAttribute(attribute.httpRoute, route)
          span.setAttribute(attribute.httpStatus, status)
          if (organisationId !== undefined) span.setAttribute(ownAttribute.organisationId, organisationId)
          // A 4xx is the client's error, and none of the server span.
          if (status >= 500) return endSpan(span, code ?? String(status))
          if (code !== undefined) span.setAttribute(attribute.errorType, code)
          span.end()
        },
      }
    },
    async job({ kind, attempt, traceparent }, work) {
      const attributes = { [ownAttribute.jobKind]: kind, [ownAttribute.attempt]: attempt }
      const cause = remoteParent(traceparent)
      const links = cause ? [{ context: cause }] : []
      const span = startRoot(spans, { name: `job ${kind}`, kind: SpanKind.CONSUMER, attributes }, { links })
      try {
        const result = await spans.current.run(span, work)
        span.end()
        return result
      } catch (error) {
        endSpan(span, errorTypeOf(error))
        throw error
      }
    },
  }
}

function steps(spans: Spans): Pick<Telemetry, 'agent' | 'tool' | 'retrieval' | 'step'> {
  const begin = (name: string, attributes: Record<string, string | boolean | undefined>) =>
    stepOf(spans, startBelow(spans, { name, attributes }), ownAttribute.count)
  return {
    agent: ({ spaceId, requestId, isAgentic }) =>
      begin('invoke_agent', {
        [attribute.operation]: 'invoke_agent',
        [attribute.provider]: ourSystem,
        [attribute.agentId]: spaceId,
        [ownAttribute.requestId]: requestId,
        [ownAttribute.agentic]: isAgentic,
      }),
    tool: (name) =>
      begin(`execute_tool ${name}`, {
        [attribute.operation]: 'execute_tool',
        [attribute.toolName]: name,
        [attribute.toolType]: 'function',
      }),
    step: (name) => begin(name, {}),
    retrieval: (spaceId) =>
      begin('retrieval', {
        [attribute.operation]: 'retrieval',
        [attribute.provider]: ourSystem,
        [attribute.dataSourceId]: spaceId,
      }),
  }
}
