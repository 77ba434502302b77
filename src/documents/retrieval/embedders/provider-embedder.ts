import type { Embeddings } from '../../../gateway/gateway/index.ts'
import {
  AppError,
  type Clock,
  createTimeSlices,
  isAppError,
  type Log,
  type OrganisationId,
  silentLog,
  systemClock,
} from '../../../platform/kernel/index.ts'
import type { Organisation } from '../../../tenants/organisations/index.ts'
import { createTokenCounter, loadVocabulary, type TokenCounting } from '../../../gateway/tokens/index.ts'
import type { Embedder } from './embedder.ts'
import { normalise } from './hashing-embedder.ts'

export interface ProviderEmbedderOptions {
  /** Of the gateway: every call is routed, held and billed there. */
  embeddings: Embeddings
  tokens: TokenCounting
  /** The organisation that is billed; undefined where it is gone. */
  organisation(id: OrganisationId): Organisation | undefined
  /** Canonical id of an embedding model of the catalogue. */
  model: string
  /** Dimensions that are kept. Vectors with more are cut, which works only for models trained for it (Matryoshka). */
  dimensions: number
  /** Longest text in tokens; a longer one is cut. Default 8,000: what most models accept, less a margin for the count. */
  maximumTokens?: number
  /** Default 64: below the limit of every provider (Cohere 96, Gemini 100). */
  maximumBatchTexts?: number
  /** Default 16,000 tokens in one call. */
  maximumBatchTokens?: number
  clock?: Clock
  log?: Log
  /** In [0, 1), for the jitter of pauses. */
  random?: () => number
}

/** Texts and tokens of one call, and tokens of one text. */
const defaults = { maximumTokens: 8_000, maximumBatchTexts: 64, maximumBatchTokens: 16_000 }
/** The router has tried other deployments already; these are attempts of the whole call. */
const attempts = { document: 6, query: 2 }
/** Longest pause between two attempts: a document can wait for a provider's minute window, a person cannot. */
const maximumPauseMs = { document: 60_000, query: 1_500 }
const firstPauseMs = 500
/** No prose has more UTF-16 units in a token; a longer text is cut before it is counted. */
const unitsPerTokenBound = 32
/** How often one text may be halved because the provider counts more tokens in it. */
const maximumHalvings = 6

/** Embeddings of a provider, billed through the gateway to the organisation whose text it is. */
export async function createProviderEmbedder(options: ProviderEmbedderOptions): Promise<Embedder> {
  const { model, dimensions } = options
  const parts: Parts = { clock: systemClock, log: silentLog, random: Math.random, ...defaults, ...options }
  // Close to every provider's count; a text that is too long all the same is halved.
  const { count: countTokens } = createTokenCounter(loadVocabulary())
  return {
    id: `provider:${model}:${dimensions}`,
    label: `${model} of a provider (${dimensions} dimensions)`,
    semantics: true,
    dimensions,
    maximumTokens: parts.maximumTokens,
    countTokens,
    counter: { kind: 'o200k' },
    async embed({ texts, ...call }) {
      const vectors: Float32Array[] = []
      const slice = createTimeSlices()
      const fitting: CountedText[] = []
      for (const text of texts) {
        await slice()
        fitting.push(await cutToLimit(parts, text, call.organisationId))
      }
      for (const batch of batchesOf(fitting, parts)) {
        call.signal.throwIfAborted()
        vectors.push(...(await embedBatch(parts, batch, call)))
      }
      return vectors
    },
    async close() {},
  }
}

type Parts = Required<ProviderEmbedderOptions>
type EmbedCall = Omit<Parameters<Embedder['embed']>[0], 'texts'>

interface CountedText {
  text: string
  tokens: number
}

async function cutToLimit(
  { model, maximumTokens, tokens: counting, log }: Parts,
  text: string,
  owner: OrganisationId,
): Promise<CountedText> {
  let cut = wellFormedStart(text, maximumTokens * unitsPerTokenBound)
  let tokens = await counting.count([cut], owner)
  if (tokens <= maximumTokens && cut.length === text.length) return { text, tokens }
  log.warn({ model, tokens, maximumTokens }, 'a text is longer than the embedding model accepts and was cut')
  while (tokens > maximumTokens) {
    cut = wellFormedStart(cut, Math.floor(cut.length * Math.min(0.95, maximumTokens / tokens)))
    tokens = await counting.count([cut], owner)
  }
  return { text: cut, tokens }
}

/** In order, so that the vectors come out in order; no batch exceeds a limit unless it is one text. */
function batchesOf(texts: readonly CountedText[], { maximumBatchTexts, maximumBatchTokens }: Parts): string[][] {
  const batches: string[][] = []
  let batch: string[] = []
  let batchTokens = 0
  for (const { text, tokens } of texts) {
    if (batch.length > 0 && (batch.length >= maximumBatchTexts || batchTokens + tokens > maximumBatchTokens)) {
      batches.push(batch)
      batch = []
      batchTokens = 0
    }
    // Providers reject an empty input; a space has the same meaning, none.
    batch.push(text === '' ? ' ' : text)
    batchTokens += tokens
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

/** Embeds a batch. One that is too large for the provider is halved; a single text that is too long is cut. */
async function embedBatch(parts: Parts, texts: string[], call: EmbedCall, halvings = 0): Promise<Float32Array[]> {
  try {
    return await callWithRetries(parts, texts, call)
  } catch (error) {
    if (!isAppError(error, 'context_length_exceeded')) throw error
    if (texts.length > 1) {
      const middle = Math.ceil(texts.length / 2)
      const first = await embedBatch(parts, texts.slice(0, middle), call, halvings)
      return [...first, ...(await embedBatch(parts, texts.slice(middle), call, halvings))]
    }
    if (halvings >= maximumHalvings) throw error
    const { model, log } = parts
    log.warn({ model }, 'a text is longer than the embedding model accepts and was cut to its first half')
    const [text] = texts as [string]
    return embedBatch(parts, [wellFormedStart(text, Math.ceil(text.length / 2))], call, halvings + 1)
  }
}

async function callWithRetries(parts: Parts, texts: string[], call: EmbedCall): Promise<Float32Array[]> {
  const { model, clock, log } = parts
  for (let attempt = 1; ; attempt++) {
    try {
      const organisation = parts.organisation(call.organisationId)
      if (!organisation) throw new AppError('organisation_not_found', 'The organisation of this text no longer exists.')
      const { purpose, spaceId, signal } = call
      const { vectors } = await parts.embeddings.embed({ organisation, spaceId, model, texts, purpose, signal })
      return vectors.map((vector) => fitDimensions(parts, vector))
    } catch (error) {
      call.signal.throwIfAborted()
      if (!isTransient(error) || attempt >= attempts[call.purpose]) throw error
      const ownPauseMs = firstPauseMs * 2 ** (attempt - 1) * (1 + parts.random())
      const pauseMs = Math.max(ownPauseMs, (error.retryAfterSeconds ?? 0) * 1000)
      if (pauseMs > maximumPauseMs[call.purpose]) throw error
      log.warn({ model, attempt, pauseMs, code: error.code }, 'the call of the embedding provider is repeated')
      await clock.sleep(pauseMs, call.signal)
    }
  }
}

/** Errors that may pass without a change: not the organisation's quota, not a model that does not exist. */
function isTransient(error: unknown): error is AppError {
  const codes = ['rate_limit_exceeded', 'upstream_error', 'upstream_timeout', 'overloaded'] as const
  return codes.some((code) => isAppError(error, code))
}

function fitDimensions({ model, dimensions }: Parts, vector: Float32Array): Float32Array {
  if (vector.length < dimensions) {
    throw new AppError('upstream_error', 'The embedding model returned vectors of an unexpected size.', {
      internal: `${model} made ${vector.length} dimensions, ${dimensions} are expected: set embeddings.dimensions`,
    })
  }
  return vector.length === dimensions ? vector : normalise(vector.slice(0, dimensions))
}

/** The first UTF-16 units of a text, never half a surrogate pair. */
function wellFormedStart(text: string, units: number): string {
  if (text.length <= units) return text
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}
