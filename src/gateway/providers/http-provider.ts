import {
  type Clock,
  type EndSignal,
  type Log,
  sharedOwner,
  silentLog,
  type StatedUsage,
  userAgent,
} from '../../platform/kernel/index.ts'
import { type ConnectionPool, type ProxySettings, createConnectionPool, defaultLimits } from './connection-pool.ts'
import { type Exchange, exchange, readStart, readWhole } from './http-exchange.ts'
import {
  type EmbeddingAnswer,
  type Provider,
  type ProviderCall,
  ProviderError,
  type ProviderSettings,
  type ProviderStream,
  type RerankAnswer,
} from './port.ts'
import { createMediaPool, needsBytes, withFetchedMedia } from './fetch-media.ts'
import { createLearnedRefusals, type LearnedRefusals } from './learned-refusals.ts'
import { addRanking, orderScores } from './ranking.ts'
import { isUnknownStop, openStream } from './read-stream.ts'
import { encodeBody } from './encode-body.ts'
import { peerOf } from './peer-of.ts'
import { addStated, withStatedHeader } from './stated-usage.ts'
import type { EncodedRequest, WireAdapter, WireAnswer, WireRequest } from './wire-adapter.ts'
import { failure, unreadableAnswer } from './wire-failure.ts'

export interface HttpProviderOptions {
  settings: ProviderSettings
  adapter: WireAdapter
  log?: Log
  clock?: Clock
  onRefusal?: (refusal: { deployment: string; field: string }) => void
  proxies?: ProxySettings | undefined
  /** PEM certificates trusted in addition to the system's. */
  certificateAuthority?: string | undefined
}

/** Upper bound on the bytes of an error body: messages are short, and some hosts answer with whole pages. */
export const maximumErrorBytes = 64 * 1024

/** An adapter over HTTP as a Provider: pool, limits of time and size, cancellation, error wrapping. */
export function createHttpProvider({
  settings,
  adapter,
  log = silentLog,
  clock,
  onRefusal,
  proxies,
  certificateAuthority,
}: HttpProviderOptions): Provider {
  const pool = createConnectionPool({ limits: settings.limits, proxies, certificateAuthority })
  const wire: Wire = {
    pool,
    mediaPool: createMediaPool({ proxies, certificateAuthority }),
    adapter,
    completeHeaders: createHeaderCompletion(lowerCaseNames(settings.headers ?? {})),
    maximumBytes: settings.limits?.maximumResponseBytes ?? defaultLimits.maximumResponseBytes,
    refusals: createLearnedRefusals(clock ? { now: () => clock.now() } : {}),
    onRefusal(refusal) {
      log.info({ provider: settings.id, ...refusal }, 'a field that the provider refuses is left out for an hour')
      onRefusal?.(refusal)
    },
  }
  const { embeddings, rerank, models, tokenCount } = adapter
  const onUnknownWord = (word: string) =>
    log.info({ provider: settings.id, word: word.slice(0, 100) }, 'an unknown finish reason was read as stop')
  return {
    id: settings.id,
    peer: peerOf(settings),
    async complete(call) {
      const { request, answer } = await sendCall(wire, call, { stream: false })
      const body = await readWhole(answer.body)
      const mapped = readAnswer(() => readersOf(adapter, call, answer).fromResponse(body))
      if (isUnknownStop(mapped.finishReason, mapped.wireFinishReason)) onUnknownWord(mapped.wireFinishReason)
      return {
        ...mapped,
        providerRequestId: requestIdOf(adapter, answer),
        adjusted: request.adjusted,
      }
    },
    async stream(call): Promise<ProviderStream> {
      const { request, answer } = await sendCall(wire, call, { stream: true })
      return {
        events: await openStream(answer, readersOf(adapter, call, answer), onUnknownWord),
        adjusted: request.adjusted,
        providerRequestId: requestIdOf(adapter, answer),
      }
    },
    ...(embeddings?.takesTokens && { embedsTokens: true }),
    ...(tokenCount && {
      async countTokens(original) {
        const call = await withBytes(wire, original)
        const request = wire.refusals.prepare(call, (prepared) => tokenCount.toRequest(prepared))
        const body = await readWhole((await send(wire, request, call)).body)
        return readAnswer(() => tokenCount.fromResponse(body))
      },
    }),
    ...(embeddings && { embed: (call) => embedInBatches(wire, embeddings, call) }),
    ...(rerank && { rerank: (call) => rerankInBatches(wire, rerank, call) }),
    ...(models && {
      async listModels(signal) {
        const request = {
          method: 'GET' as const,
          url: models.url,
          headers: { accept: 'application/json' },
          body: '',
          adjusted: [],
        }
        const answer = await send(wire, request, { signal })
        const body = await readWhole(answer.body)
        return readAnswer(() => models.fromResponse(body))
      },
    }),
    connections: () => pool.view(),
    async close() {
      await Promise.all([pool.close(), wire.mediaPool.close()])
    },
  }
}

interface Wire {
  pool: ConnectionPool
  /** To the hosts of media that the provider does not fetch. */
  mediaPool: ConnectionPool
  adapter: WireAdapter
  completeHeaders: ReturnType<typeof createHeaderCompletion>
  maximumBytes: number
  refusals: LearnedRefusals
  onRefusal: (refusal: { deployment: string; field: string }) => void
}

/** The adapter's readers for the answer to a call. */
const readersOf = (adapter: WireAdapter, { request, model }: ProviderCall, { headers }: Exchange) => ({
  createStreamReader: () => adapter.createStreamReader(request, model),
  fromResponse(body: Uint8Array): WireAnswer {
    const answer = adapter.fromResponse(body, request, model)
    return answer.usage ? { ...answer, usage: withStatedHeader(answer.usage, headers) } : answer
  },
})

/** Bodies of refusals that may name a field, as long as the error is referenced. */
const refusalBodies = new WeakMap<ProviderError, string>()

/** The call with the bytes of media that the host does not fetch. */
function withBytes({ adapter: { takesAddress }, mediaPool }: Wire, call: ProviderCall) {
  return needsBytes(call, takesAddress) ? withFetchedMedia(call, takesAddress, mediaPool) : call
}

/** Sends a completion. If the host refuses a field by name, sends it once more without the field: no byte of an answer was received. */
function sendCall(wire: Wire, original: ProviderCall, options: { stream: boolean }): Promise<SentCall> {
  // Callbacks, here and below, where few calls wait for anything: most are waiting for their provider at the same time, with all that they await.
  const complete = withBytes(wire, original)
  return complete instanceof Promise
    ? complete.then((call) => tryToSend(wire, call, options, false))
    : tryToSend(wire, complete, options, false)
}

interface SentCall {
  request: WireRequest
  answer: Exchange
}

function tryToSend(
  wire: Wire,
  call: ProviderCall,
  options: { stream: boolean },
  isRepeated: boolean,
): Promise<SentCall> {
  const request = wire.refusals.prepare(call, (prepared) => wire.adapter.toRequest(prepared, options))
  return send(wire, request, call).then(
    (answer) => ({ request, answer }),
    (error: unknown) => {
      // The second refusal is learned, too: the next call omits its field.
      if (!learnRefusal(wire, call, request, error) || isRepeated) throw error
      return tryToSend(wire, call, options, true)
    },
  )
}

/** False: the error names no field that can be left out. */
function learnRefusal(wire: Wire, call: ProviderCall, refused: WireRequest, error: unknown): boolean {
  const body = error instanceof ProviderError ? refusalBodies.get(error) : undefined
  const learned = body === undefined ? null : wire.refusals.learn(call, refused, body)
  if (learned) wire.onRefusal({ deployment: call.deployment ?? call.model.id, field: learned.field })
  return learned !== null
}

/** Resolves with a 2xx answer of a plausible type; rejects with ProviderError otherwise. */
function send(wire: Wire, request: WireRequest, sentFor: SentFor): Promise<Exchange> {
  const { signal, tenant = sharedOwner } = sentFor
  const leave = enterAtOnce(wire, tenant, signal)
  if (!leave) return enterPool(wire, tenant, signal).then((leave) => sendOn(wire, request, sentFor, leave))
  return sendOn(wire, request, sentFor, leave)
}

/** On a connection that `leave` releases. */
function sendOn(wire: Wire, request: WireRequest, sentFor: SentFor, leave: () => void): Promise<Exchange> {
  const { signal, tenant = sharedOwner, traceparent } = sentFor
  const failed = (error: unknown): never => {
    leave()
    throw credentialsFailure(error, signal)
  }
  const begin = ({ encoded, credentials }: AuthorizedRequest) => {
    const headers = wire.completeHeaders(encoded.headers, credentials)
    return exchange({
      owner: tenant,
      dispatcher: wire.pool.dispatcher,
      unkept: wire.pool.unkept,
      request: encoded,
      headers: traceparent === undefined ? headers : { ...headers, traceparent },
      signal,
      maximumBytes: wire.maximumBytes,
      onClosed: leave,
    })
  }
  let authorized: AuthorizedRequest | Promise<AuthorizedRequest>
  try {
    authorized = authorize(wire.adapter, request, signal)
  } catch (error) {
    return failed(error)
  }
  const answering = authorized instanceof Promise ? authorized.catch(failed).then(begin) : begin(authorized)
  return answering.then((answer) => acceptAnswer(wire.adapter, answer))
}

interface AuthorizedRequest {
  encoded: EncodedRequest
  credentials: Record<string, string>
}

/** The bytes of a request and its credentials; a promise only where one of them waits. */
function authorize(
  adapter: WireAdapter,
  { method, url, headers, body }: WireRequest,
  signal: EndSignal,
): AuthorizedRequest | Promise<AuthorizedRequest> {
  const withBody = (text: EncodedRequest['body']) => {
    const encoded = { method, url, headers, body: text }
    const credentials = adapter.authorize(encoded, signal)
    return credentials instanceof Promise
      ? credentials.then((known) => ({ encoded, credentials: known }))
      : { encoded, credentials }
  }
  const text = method === 'GET' ? '' : encodeBody(body)
  return text instanceof Promise ? text.then(withBody) : withBody(text)
}

/** Throws ProviderError for an answer that is none. */
function acceptAnswer(adapter: WireAdapter, answer: Exchange): Exchange | Promise<never> {
  if (answer.status < 200 || answer.status > 299)
    return refusal(adapter, answer).then((error) => {
      throw error
    })
  if (isWebPage(answer)) {
    answer.abandon()
    throw failure('connection', 'The answer is a web page: a proxy between this service and the provider replied.', {
      status: answer.status,
    })
  }
  return answer
}

type SentFor = Pick<ProviderCall, 'signal' | 'tenant' | 'traceparent'>

function enterAtOnce({ pool }: Wire, tenant: string, signal: EndSignal): (() => void) | undefined {
  return signal.aborted ? undefined : pool.enterAtOnce(tenant, signal)
}

async function enterPool({ pool }: Wire, tenant: string, signal: EndSignal): Promise<() => void> {
  try {
    return await pool.enter(tenant, signal)
  } catch (error) {
    throw error instanceof ProviderError ? error : failure('cancelled', 'The call was cancelled.', { cause: error })
  }
}

async function refusal(adapter: WireAdapter, answer: Exchange): Promise<ProviderError> {
  if (answer.status < 400) {
    answer.abandon()
    const message = `The provider's address redirects (status ${answer.status}); the operator must configure the final address.`
    return failure('connection', message, { status: answer.status })
  }
  // If the body breaks off, the status is sufficient.
  const body = await readStart(answer.body, maximumErrorBytes).catch(() => '')
  const error = adapter.mapError({ status: answer.status, headers: answer.headers, body })
  // Some phrases for an unknown field resemble those for an unknown model.
  const mayNameField = error.errorClass === 'invalid_request' || error.errorClass === 'model_not_found'
  if (mayNameField && (answer.status === 400 || answer.status === 422)) refusalBodies.set(error, body)
  return error
}

/**
 * All headers of a request. Adapters use the same objects for most requests (see jsonRequest), and hosts with a key always have the same
 * credentials, so the result is kept for both.
 */
function createHeaderCompletion(extraHeaders: Record<string, string>) {
  const completed = new WeakMap<object, { credentials: object; headers: Record<string, string> }>()
  return (own: Record<string, string>, credentials: Record<string, string>) => {
    const known = completed.get(own)
    if (known && known.credentials === credentials) return known.headers
    const headers = { 'user-agent': userAgent, ...own, ...credentials, ...extraHeaders }
    completed.set(own, { credentials, headers })
    return headers
  }
}

/** Header names are case-insensitive, but as keys of one object both would be sent. */
function lowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function isWebPage(answer: Exchange): boolean {
  return /^\s*(text\/html|application\/xhtml)/i.test(answer.headers['content-type'] ?? '')
}

function requestIdOf(adapter: WireAdapter, answer: Exchange): string | null {
  return adapter.requestIdHeader === null ? null : (answer.headers[adapter.requestIdHeader] ?? null)
}

/** Any other error of an adapter means that the body was unexpected. */
function readAnswer<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof ProviderError ? error : unreadableAnswer('an answer', true)
  }
}

function credentialsFailure(error: unknown, signal: EndSignal): ProviderError {
  if (error instanceof ProviderError) return error
  if (signal.aborted) return failure('cancelled', 'The call was cancelled.', { cause: error })
  return failure('authentication', 'The credentials for the provider could not be obtained.', { cause: error })
}

type Embed = NonNullable<Provider['embed']>

/** Batches run one after another: the vectors of a failed one would be lost, and hosts limit embeddings strictly. */
async function embedInBatches(
  wire: Wire,
  embeddings: NonNullable<WireAdapter['embeddings']>,
  call: Parameters<Embed>[0],
): Promise<EmbeddingAnswer> {
  const size = Math.max(1, embeddings.maximumBatch(call.model))
  const vectors: Float32Array[] = []
  let promptTokens: number | null = 0
  let stated: { stated?: StatedUsage } = {}
  const inputs = (call.tokens ?? call.texts).length
  for (let start = 0; start < inputs; start += size) {
    const texts = call.texts.slice(start, start + size)
    const tokens = call.tokens?.slice(start, start + size)
    const answer = await send(wire, embeddings.toRequest({ ...call, texts, ...(tokens && { tokens }) }), call)
    const body = await readWhole(answer.body)
    const batch = withStatedHeader(
      readAnswer(() => embeddings.fromResponse(body)),
      answer.headers,
    )
    const sent = (tokens ?? texts).length
    if (batch.vectors.length !== sent) {
      throw failure('connection', `The provider sent ${batch.vectors.length} vectors for ${sent} texts.`, {
        afterFirstByte: true,
      })
    }
    if (start === 0) stated = batch.stated ? { stated: batch.stated } : {}
    else stated = addStated(stated.stated, batch.stated)
    vectors.push(...batch.vectors)
    promptTokens = promptTokens === null || batch.promptTokens === null ? null : promptTokens + batch.promptTokens
    call.onPart?.({ texts: vectors.length, promptTokens, ...stated })
  }
  return { vectors, promptTokens, ...stated }
}

/** One after another: the provider scores each document by itself, so scores of several requests are comparable. */
async function rerankInBatches(
  wire: Wire,
  rerank: NonNullable<WireAdapter['rerank']>,
  call: Parameters<NonNullable<Provider['rerank']>>[0],
): Promise<RerankAnswer> {
  let sum: RerankAnswer | null = null
  for (let start = 0; start < call.documents.length; start += rerank.maximumBatch) {
    const documents = call.documents.slice(start, start + rerank.maximumBatch)
    const answer = await send(wire, rerank.toRequest({ ...call, documents }), call)
    const body = await readWhole(answer.body)
    const ranking = withStatedHeader(
      readAnswer(() => rerank.fromResponse(body)),
      answer.headers,
    )
    sum = addRanking(sum, ranking, orderScores(ranking, documents.length))
    call.onPart?.(sum)
  }
  return sum ?? { scores: [], promptTokens: 0, searchUnits: null }
}
