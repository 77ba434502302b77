import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A collector on a free loopback port that keeps what it receives. */
export interface OtlpReceiver {
  /** Base address, without a trailing slash. */
  url: string
  requests: { path: string; headers: Record<string, string | string[] | undefined>; body: Buffer }[]
  /** Of the requests in JSON. */
  spans(): ExportedSpan[]
  /** The last values of each histogram. */
  points(): ExportedPoint[]
  /** Attributes of the resource in the last request. */
  resource(): Record<string, unknown>
  /** The status of later answers; `hang`: none. */
  answer(status: number | 'hang'): void
  close(): Promise<void>
}

export interface ExportedSpan {
  name: string
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string
  attributes: Record<string, unknown>
  events: string[]
  links: { traceId: string; spanId: string }[]
  /** 2: error. */
  status: number
  schemaUrl: string
}

export interface ExportedPoint {
  metric: string
  unit: string
  attributes: Record<string, unknown>
  count: number
  sum: number
  bounds: number[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: OtlpReceiver['requests'] = []
  let reply: number | 'hang' = 200
  const server = createServer(async (message, response) => {
    const parts: Buffer[] = []
    for await (const part of message) parts.push(part as Buffer)
    requests.push({ path: message.url!, headers: message.headers, body: Buffer.concat(parts) })
    if (reply !== 'hang') response.writeHead(reply).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const received = <Body>(path: string) =>
    requests.filter((request) => request.path === path).map(({ body }) => JSON.parse(body.toString()) as Body)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () =>
      received<TracesBody>('/v1/traces').flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap(({ spans, schemaUrl }) => spans.map((span) => readSpan(span, schemaUrl))),
        ),
      ),
    points: () => readPoints(received<MetricsBody>('/v1/metrics').at(-1)),
    resource: () => readAttributes(received<TracesBody>('/v1/traces').at(-1)?.resourceSpans[0]?.resource.attributes),
    answer: (status) => void (reply = status),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Attributes = { key: string; value: Record<string, unknown> }[]

interface WireSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Attributes
  events: { name: string }[]
  links: { traceId: string; spanId: string }[]
  status: { code?: number }
}

interface TracesBody {
  resourceSpans: {
    resource: { attributes: Attributes }
    scopeSpans: { spans: WireSpan[]; schemaUrl: string }[]
  }[]
}

interface MetricsBody {
  resourceMetrics: {
    scopeMetrics: {
      metrics: {
        name: string
        unit: string
        histogram: {
          dataPoints: { attributes: Attributes; count: number; sum: number; explicitBounds: number[] }[]
        }
      }[]
    }[]
  }[]
}

function readSpan(span: WireSpan, schemaUrl: string): ExportedSpan {
  const { name, kind, traceId, spanId, parentSpanId = '', attributes, events, links, status } = span
  return {
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    attributes: readAttributes(attributes),
    events: events.map((event) => event.name),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: status.code ?? 0,
    schemaUrl,
  }
}

function readPoints(body: MetricsBody | undefined): ExportedPoint[] {
  return (body?.resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, unit, histogram }) =>
        histogram.dataPoints.map(({ attributes, count, sum, explicitBounds }) => ({
          metric: name,
          unit,
          attributes: readAttributes(attributes),
          count: Number(count),
          sum,
          bounds: explicitBounds,
        })),
      ),
    ),
  )
}

function readAttributes(attributes: Attributes = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]))
}

function readValue(value: Record<string, unknown>): unknown {
  const [kind, content] = Object.entries(value)[0]!
  if (kind === 'intValue') return Number(content)
  if (kind !== 'arrayValue') return content
  return (content as { values: Record<string, unknown>[] }).values.map(readValue)
}
