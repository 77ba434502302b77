import type { Embeddings } from '../../gateway/index.ts'
import {
  AppError,
  type Clock,
  createTimeSlices,
  isAppError,
  type Log,
  type OrganisationId,
  silentLog,
  systemClock,
} from '../../kernel/index.ts'
import type { Organisation } from '../../organisations/index.ts'
import { createTokenCounter, loadVocabulary, type TokenCounting } from '../../tokens/index.ts'
import type { Embedder } from './embedder.ts'
import { normalise } from './hashing-embedder.ts'

export interface ProviderEmbedderOptions {
  /** The gateway's door: every call is routed, held and billed there. */
  embeddings: Embeddings
  tokens: TokenCounting
  /** Who is billed; undefined where the organisation is gone. */
  organisation(id: OrganisationId): Organisation | undefined
  /** Canonical id of an embedding model of the catalogue. */
  model: string
  /** Of the vectors that are kept. A model that makes more is cut, which only models trained for it survive (Matryoshka). */
  dimensions: number
  /** Longest text in tokens; a longer one is cut. Default 8,000: what most models take, less a margin for the count. */
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

const defaults = { maximumTokens: 8_000, maximumBatchTexts: 64, maximumBatchTokens: 16_000 }
/** The gateway's router has tried other deployments already; here the whole door is tried again, patiently for documents. */
const attempts = { document: 6, query: 2 }
/** Longest pause between two tries: a document can wait out a provider's minute window, a person cannot. */
const maximumPauseMs = { document: 60_000, query: 1_500 }
const firstPauseMs = 500
/** No prose has more UTF-16 units in a token; a longer text is cut before it is counted. */
const unitsPerTokenBound = 32
/** How often one text may be halved because the provider counts more tokens in it than we do. */
const maximumHalvings = 6

/** Embeddings of a provider, billed through the gateway to the organisation whose text it is. */
export async function createProviderEmbedder(options: ProviderEmbedderOptions): Promise<Embedder> {
  const { model, dimensions, clock = systemClock, log = silentLog, random = Math.random } = options
  const limits = { ...defaults, ...definedOf(options) }
  // Close to every provider's count; a text that is too long all the same is halved.
  const { count: countTokens } = createTokenCounter(loadVocabulary())

  async function callWithRetries(texts: string[], call: EmbedCall): Promise<Float32Array[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const organisation = options.organisation(call.organisationId)
        if (!organisation)
          throw new AppError('organisation_not_found', 'The organisation of this text no longer exists.')
        const { purpose, spaceId, signal } = call
        const { vectors } = await options.embeddings.embed({ organisation, spaceId, model, texts, purpose, signal })
        return vectors.map((vector) => fitDimensions(vector))
      } catch (error) {
        call.signal.throwIfAborted()
        if (!isPassing(error) || attempt >= attempts[call.purpose]) throw error
        const pauseMs = pauseBefore(error, attempt)
        if (pauseMs > maximumPauseMs[call.purpose]) throw error
        log.warn({ model, attempt, pauseMs, code: error.code }, 'the embedding provider is asked again')
        await clock.sleep(pauseMs, call.signal)
      }
    }
  }

  function pauseBefore(error: AppError, attempt: number): number {
    const own = firstPauseMs * 2 ** (attempt - 1) * (1 + random())
    return Math.max(own, (error.retryAfterSeconds ?? 0) * 1000)
  }

  function fitDimensions(vector: Float32Array): Float32Array {
    if (vector.length < dimensions) {
      throw new AppError('upstream_error', 'The embedding model answered with vectors of an unexpected size.', {
        internal: `${model} made ${vector.length} dimensions, ${dimensions} are expected: set embeddings.dimensions`,
      })
    }
    return vector.length === dimensions ? vector : normalise(vector.slice(0, dimensions))
  }

  /** Embeds a batch; one that is too large for the provider is halved, a single text that is too long is cut. */
  async function embedBatch(texts: string[], call: EmbedCall, halvings = 0): Promise<Float32Array[]> {
    try {
      return await callWithRetries(texts, call)
    } catch (error) {
      if (!isAppError(error, 'context_length_exceeded')) throw error
      if (texts.length > 1) {
        const middle = Math.ceil(texts.length / 2)
        return [
          ...(await embedBatch(texts.slice(0, middle), call, halvings)),
          ...(await embedBatch(texts.slice(middle), call, halvings)),
        ]
      }
      if (halvings >= maximumHalvings) throw error
      log.warn({ model }, 'a text is longer than the embedding model takes and was cut to its first half')
      return embedBatch([firstHalf(texts[0]!)], call, halvings + 1)
    }
  }

  async function cutToLimit(text: string): Promise<{ text: string; tokens: number }> {
    let cut = wellFormedStart(text, limits.maximumTokens * unitsPerTokenBound)
    let tokens = await options.tokens.count([cut])
    if (tokens <= limits.maximumTokens && cut.length === text.length) return { text, tokens }
    log.warn(
      { model, tokens, maximumTokens: limits.maximumTokens },
      'a text is longer than the embedding model takes and was cut',
    )
    while (tokens > limits.maximumTokens) {
      cut = wellFormedStart(cut, Math.floor(cut.length * Math.min(0.95, limits.maximumTokens / tokens)))
      tokens = await options.tokens.count([cut])
    }
    return { text: cut, tokens }
  }

  return {
    id: `provider:${model}:${dimensions}`,
    label: `${model} of a provider (${dimensions} dimensions)`,
    semantics: true,
    dimensions,
    maximumTokens: limits.maximumTokens,
    countTokens,
    counter: { kind: 'o200k' },
    async embed({ texts, ...call }) {
      const vectors: Float32Array[] = []
      const slice = createTimeSlices()
      const fitting: Awaited<ReturnType<typeof cutToLimit>>[] = []
      for (const text of texts) {
        await slice()
        fitting.push(await cutToLimit(text))
      }
      for (const batch of batchesOf(fitting, limits)) {
        call.signal.throwIfAborted()
        vectors.push(...(await embedBatch(batch, call)))
      }
      return vectors
    },
    async close() {},
  }
}

type EmbedCall = Omit<Parameters<Embedder['embed']>[0], 'texts'>

function definedOf(options: Partial<typeof defaults>): Partial<typeof defaults> {
  const names = Object.keys(defaults) as (keyof typeof defaults)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]).filter(([, value]) => value !== undefined))
}

/** Trouble that may pass by itself. Not the organisation's quota, not a model that is not there. */
function isPassing(error: unknown): error is AppError {
  return (
    isAppError(error, 'rate_limit_exceeded') ||
    isAppError(error, 'upstream_error') ||
    isAppError(error, 'upstream_timeout') ||
    isAppError(error, 'overloaded')
  )
}

/** In order, so that the vectors come out in order; no batch exceeds a limit unless it is one text. */
function batchesOf(
  texts: readonly { text: string; tokens: number }[],
  { maximumBatchTexts, maximumBatchTokens }: typeof defaults,
): string[][] {
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

function firstHalf(text: string): string {
  return wellFormedStart(text, Math.ceil(text.length / 2))
}

/** The first units of a text, never half a surrogate pair. */
function wellFormedStart(text: string, units: number): string {
  if (text.length <= units) return text
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}
