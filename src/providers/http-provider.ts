import { type Clock, type Log, silentLog, userAgent } from '../kernel/index.ts'
import { type ConnectionPool, type ProxySettings, createConnectionPool, defaultLimits } from './connection-pool.ts'
import { type Exchange, exchange, readStart, readWhole } from './http-exchange.ts'
import {
  type EmbeddingAnswer,
  type Provider,
  type ProviderCall,
  ProviderError,
  type ProviderSettings,
  type ProviderStream,
} from './port.ts'
import { createLearnedRefusals, type LearnedRefusals } from './learned-refusals.ts'
import { isUnknownStop, openStream } from './read-stream.ts'
import { encodeBody } from './encode-body.ts'
import type { EncodedRequest, WireAdapter, WireRequest } from './wire-adapter.ts'
import { failure, unreadableAnswer } from './wire-failure.ts'

export interface HttpProviderOptions {
  settings: ProviderSettings
  adapter: WireAdapter
  log?: Log
  clock?: Clock
  onRefusal?: (refusal: { deployment: string; field: string }) => void
  proxies?: ProxySettings | undefined
  /** PEM certificates trusted beside the system's own. */
  certificateAuthority?: string | undefined
}

/** Most bytes of an error's body that are read: messages are short, and some hosts answer with whole pages. */
const maximumErrorBytes = 64 * 1024

/** Anything that speaks HTTP as a Provider: pool, limits of time and size, cancellation, error wrapping. */
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
    adapter,
    extraHeaders: lowerCaseNames(settings.headers ?? {}),
    maximumBytes: settings.limits?.maximumResponseBytes ?? defaultLimits.maximumResponseBytes,
    refusals: createLearnedRefusals(clock ? { now: () => clock.now() } : {}),
    onRefusal(refusal) {
      log.info({ provider: settings.id, ...refusal }, 'a field that the provider refuses is left out for an hour')
      onRefusal?.(refusal)
    },
  }
  const { embeddings, models } = adapter
  const onUnknownWord = (word: string) =>
    log.info({ provider: settings.id, word: word.slice(0, 100) }, 'an unknown finish reason was taken for stop')
  return {
    id: settings.id,
    async complete(call) {
      const { request, answer } = await sendCall(wire, call, { stream: false })
      const body = await readWhole(answer.body)
      const mapped = readAnswer(() => adapter.fromResponse(body))
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
        events: await openStream(answer, adapter, onUnknownWord),
        adjusted: request.adjusted,
        providerRequestId: requestIdOf(adapter, answer),
      }
    },
    ...(embeddings && { embed: (call) => embedInBatches(wire, embeddings, call) }),
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
    close: () => pool.close(),
  }
}

interface Wire {
  pool: ConnectionPool
  adapter: WireAdapter
  extraHeaders: Record<string, string>
  maximumBytes: number
  refusals: LearnedRefusals
  onRefusal: (refusal: { deployment: string; field: string }) => void
}

/** Bodies of refusals that may name a field, for as long as the error is in the hand. */
const refusalBodies = new WeakMap<ProviderError, string>()

/** Sends a completion. One whose refusal names a field is sent once more without it: no byte of an answer has come by then. */
async function sendCall(wire: Wire, call: ProviderCall, options: { stream: boolean }) {
  const prepare = () => wire.refusals.prepare(call, (prepared) => wire.adapter.toRequest(prepared, options))
  const request = prepare()
  const learn = (error: unknown, refused: WireRequest) => {
    const body = error instanceof ProviderError ? refusalBodies.get(error) : undefined
    const learned = body === undefined ? null : wire.refusals.learn(call, refused, body)
    if (learned) wire.onRefusal({ deployment: call.deployment ?? call.model.id, field: learned.field })
    return learned !== null
  }
  try {
    return { request, answer: await send(wire, request, call) }
  } catch (error) {
    if (!learn(error, request)) throw error
  }
  const repeated = prepare()
  try {
    return { request: repeated, answer: await send(wire, repeated, call) }
  } catch (error) {
    // The next call leaves this one out as well.
    learn(error, repeated)
    throw error
  }
}

/** Resolves with a 2xx answer of a plausible type; everything else is a ProviderError. */
async function send(wire: Wire, request: WireRequest, { signal, tenant = serviceTenant }: SentFor): Promise<Exchange> {
  const leave = await enterPool(wire, tenant, signal)
  let encoded: EncodedRequest
  let credentials: Record<string, string>
  try {
    const { method, url, headers, body } = request
    encoded = { method, url, headers, body: method === 'GET' ? '' : await encodeBody(body) }
    credentials = await wire.adapter.authorize(encoded, signal)
  } catch (error) {
    leave()
    throw credentialsFailure(error, signal)
  }
  const answer = await exchange({
    dispatcher: wire.pool.dispatcher,
    request: {
      ...encoded,
      headers: { 'user-agent': userAgent, ...encoded.headers, ...credentials, ...wire.extraHeaders },
    },
    signal,
    maximumBytes: wire.maximumBytes,
    onClosed: leave,
  })
  if (answer.status < 200 || answer.status > 299) throw await refusal(wire.adapter, answer)
  if (isWebPage(answer)) {
    answer.abandon()
    throw failure(
      'connection',
      'A web page came instead of an answer: something between this service and the provider replied.',
      {
        status: answer.status,
      },
    )
  }
  return answer
}

/** Calls of the service itself, such as listings. */
const serviceTenant = ''

type SentFor = Pick<ProviderCall, 'signal' | 'tenant'>

async function enterPool({ pool }: Wire, tenant: string, signal: AbortSignal): Promise<() => void> {
  try {
    return await pool.enter(tenant, signal)
  } catch (error) {
    throw error instanceof ProviderError ? error : failure('cancelled', 'The call was cancelled.', { cause: error })
  }
}

async function refusal(adapter: WireAdapter, answer: Exchange): Promise<ProviderError> {
  if (answer.status < 400) {
    answer.abandon()
    const message = `The provider's address redirects elsewhere (status ${answer.status}); the operator must set the final one.`
    return failure('connection', message, { status: answer.status })
  }
  // The status says enough where the body breaks off.
  const body = await readStart(answer.body, maximumErrorBytes).catch(() => '')
  const error = adapter.mapError({ status: answer.status, headers: answer.headers, body })
  // Some words for a field that the model does not know read like those for a model that is not known.
  const mayNameField = error.errorClass === 'invalid_request' || error.errorClass === 'model_not_found'
  if (mayNameField && (answer.status === 400 || answer.status === 422)) refusalBodies.set(error, body)
  return error
}

/** Names of headers mean the same in either case, but as keys of an object they would be sent twice. */
function lowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function isWebPage(answer: Exchange): boolean {
  return /^\s*(text\/html|application\/xhtml)/i.test(answer.headers['content-type'] ?? '')
}

function requestIdOf(adapter: WireAdapter, answer: Exchange): string | null {
  return adapter.requestIdHeader === null ? null : (answer.headers[adapter.requestIdHeader] ?? null)
}

/** What an adapter throws that is no ProviderError is a body it did not expect. */
function readAnswer<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof ProviderError ? error : unreadableAnswer('an answer', true)
  }
}

function credentialsFailure(error: unknown, signal: AbortSignal): ProviderError {
  if (error instanceof ProviderError) return error
  if (signal.aborted) return failure('cancelled', 'The call was cancelled.', { cause: error })
  return failure('authentication', 'No credentials for the provider could be had.', { cause: error })
}

type Embed = NonNullable<Provider['embed']>

/** One batch after the other: the vectors of a failed one would be lost, and hosts limit embeddings tightly. */
async function embedInBatches(
  wire: Wire,
  embeddings: NonNullable<WireAdapter['embeddings']>,
  call: Parameters<Embed>[0],
): Promise<EmbeddingAnswer> {
  const size = Math.max(1, embeddings.maximumBatch(call.model))
  const vectors: Float32Array[] = []
  let promptTokens: number | null = 0
  for (let start = 0; start < call.texts.length; start += size) {
    const texts = call.texts.slice(start, start + size)
    const answer = await send(wire, embeddings.toRequest({ ...call, texts }), call)
    const body = await readWhole(answer.body)
    const batch = readAnswer(() => embeddings.fromResponse(body))
    if (batch.vectors.length !== texts.length) {
      throw failure('connection', `The provider sent ${batch.vectors.length} vectors for ${texts.length} texts.`, {
        afterFirstByte: true,
      })
    }
    vectors.push(...batch.vectors)
    promptTokens = promptTokens === null || batch.promptTokens === null ? null : promptTokens + batch.promptTokens
    call.onPart?.({ texts: vectors.length, promptTokens })
  }
  return { vectors, promptTokens }
}
