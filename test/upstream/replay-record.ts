import { createAdapter, createProvider } from '../../src/gateway/providers/create-provider.ts'
import { type Provider, type ProviderCall, ProviderError } from '../../src/gateway/providers/index.ts'
import { compareAnswer, compareEmbeddings, compareError, compareModels, type Differences } from './compare.ts'
import { emptyAnswer, type FoldedAnswer, foldEvent, foldStream, pieces, seededRandom } from './fold-answer.ts'
import { conformanceModel, settingsFor } from './record-provider.ts'
import type { WireAdapter } from '../../src/gateway/providers/wire-adapter.ts'
import type { Upstream, UpstreamReply } from './upstream.ts'
import type { WireRecord } from './wire-index.ts'

/** Most splits of one streamed body over the real connection; without it every offset is tried. */
const maximumHttpCuts = 200

/**
 * Replays one record through a real HTTP upstream and the real provider, and returns the differences from its expectation. Streams are
 * replayed whole, split at the difficult offsets of the index and at random ones, and, at the reader, after every single byte.
 */
export async function replayRecord(record: WireRecord, body: Uint8Array, upstream: Upstream): Promise<Differences> {
  const settings = settingsFor(record, upstream.url)
  if (settings === null) return [`api: no format reads ${record.api}`]
  const provider = createProvider(settings)
  const replay: Replay = { record, body, provider, adapter: createAdapter(settings) }
  const reply = toReply(record, body)
  upstream.script(() => reply)
  try {
    const differences = await replayKind(replay)
    if (differences.length > 0 || !isStreamed(record)) return differences
    for (const cuts of cutsOf(record, body)) {
      upstream.script(() => ({ ...reply, cuts }))
      const cut = await replayKind(replay)
      if (cut.length > 0) return cut.map((line) => `cut at ${cuts.slice(0, 8).join(', ')}…: ${line}`)
    }
    return replayEveryByte(replay)
  } finally {
    await provider.close()
  }
}

interface Replay {
  record: WireRecord
  body: Uint8Array
  provider: Provider
  /** The same mappings without the transport. */
  adapter: WireAdapter
}

async function replayKind(replay: Replay): Promise<Differences> {
  const { record, provider } = replay
  const { expected } = record
  try {
    switch (record.kind) {
      case 'nonstream':
        return compareAnswer(expected, await provider.complete(call()))
      case 'stream':
        return compareAnswer(expected, await drain(provider))
      case 'models':
        return provider.listModels
          ? compareModels(expected, await provider.listModels(call().signal))
          : ['the provider has no list of models']
      case 'embeddings':
        return await replayEmbeddings(replay)
      case 'error':
        return await replayError(record, provider)
      default:
        return [`kind: ${String(record.kind)} is not known`]
    }
  } catch (error) {
    if (error instanceof ProviderError) return [`failed: ${error.errorClass}: ${error.message}`]
    return [`failed: ${String(error)}`]
  }
}

/** An error answer must be read the same, whether the call was streamed or not. */
async function replayError(record: WireRecord, provider: Provider): Promise<Differences> {
  const attempts = [
    ...(isStreamed(record) ? [] : [() => provider.complete(call())]),
    ...(isStreamed(record) || record.http_status >= 400 ? [() => drain(provider)] : []),
  ]
  for (const attempt of attempts) {
    const error = await errorOf(attempt)
    if (!error) return ['expected a failure, got an answer']
    const differences = compareError(record.expected, error)
    if (differences.length > 0) return differences
  }
  return []
}

async function errorOf(attempt: () => Promise<unknown>): Promise<ProviderError | null> {
  try {
    await attempt()
    return null
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
}

async function drain(provider: Provider): Promise<FoldedAnswer> {
  const { events } = await provider.stream(call())
  const answer = emptyAnswer()
  for await (const read of events) for (const event of read) foldEvent(answer, event)
  return answer
}

/** Every possible split, at the reader: the transport passes pieces as they arrive. */
function replayEveryByte({ record, body, adapter }: Replay): Differences {
  const mark = (line: string) => `cut after every byte: ${line}`
  try {
    const answer = foldStream(
      adapter.createStreamReader(),
      pieces(body, () => 1),
    )
    if (record.kind === 'error') return [mark('expected a failure, got an answer')]
    return compareAnswer(record.expected, answer).map(mark)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (record.kind !== 'error') return [mark(`failed: ${error.errorClass}: ${error.message}`)]
    return compareError(record.expected, error).map(mark)
  }
}

function isStreamed(record: WireRecord): boolean {
  return record.kind === 'stream' || record.during === 'mid_stream' || isEventStream(record)
}

function isEventStream({ content_type }: WireRecord): boolean {
  return /event-?stream|ndjson/i.test(content_type ?? '')
}

/** The difficult offsets of the index, and two rounds of random ones that are equal in every run. */
function cutsOf(record: WireRecord, body: Uint8Array): number[][] {
  const named = record.suggested_byte_splits ?? []
  const random = seededRandom(body.length + 1)
  const round = (mean: number) => {
    const cuts: number[] = []
    for (let at = 0; at < body.length && cuts.length < maximumHttpCuts; at += 1 + Math.floor(random() * 2 * mean))
      cuts.push(at)
    return cuts
  }
  const mean = Math.max(16, body.length / maximumHttpCuts)
  return [...(named.length > 0 ? [named] : []), round(mean), round(mean * 4)]
}

function toReply(record: WireRecord, body: Uint8Array): UpstreamReply {
  return {
    status: record.http_status,
    headers: { ...withoutFraming(record.headers), 'content-type': record.content_type ?? contentTypeOf(record) },
    body,
  }
}

/** The body is replayed decoded and whole, so the recorded length and encoding would be wrong. */
function withoutFraming(headers: Record<string, string> = {}): Record<string, string> {
  const framing = /^(content-length|content-encoding|transfer-encoding|connection|content-type)$/i
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !framing.test(name)))
}

/** Not every recorder kept the header; otherwise the file's name has the type. */
function contentTypeOf({ file, kind }: WireRecord): string {
  if (file.endsWith('.bin')) return 'application/vnd.amazon.eventstream'
  if (/\.ndjson(\.txt)?$/.test(file)) return 'application/x-ndjson'
  if (/\.sse(\.txt)?$/.test(file)) return 'text/event-stream'
  return kind === 'stream' && !file.endsWith('.json') ? 'text/event-stream' : 'application/json'
}

function call(): ProviderCall {
  return {
    model: conformanceModel,
    request: { messages: [{ role: 'user', content: 'Hello' }] },
    signal: new AbortController().signal,
    requestId: 'req_conformance',
  }
}

/** A recorded answer to more texts than one of our requests has is read without the transport, which would send several requests. */
async function replayEmbeddings({ record, body, provider, adapter }: Replay): Promise<Differences> {
  if (!provider.embed || !adapter.embeddings) return ['the provider has no embeddings']
  const count = record.expected.count ?? 1
  const { model, signal, requestId } = call()
  const texts = Array.from({ length: count }, (_, index) => `text ${index}`)
  const answer =
    count > adapter.embeddings.maximumBatch(model)
      ? adapter.embeddings.fromResponse(body)
      : await provider.embed({ model, texts, purpose: 'document', signal, requestId })
  return compareEmbeddings(record.expected, answer)
}
