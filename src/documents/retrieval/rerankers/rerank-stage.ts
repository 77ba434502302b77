import type { SpendLimit } from '../../../gateway/billing/index.ts'
import {
  anySignal,
  AppError,
  type Clock,
  cutMiddle,
  describeError,
  type Log,
  type OrganisationId,
  percentile,
  raceSignal,
  silentLog,
  type SpaceId,
  systemClock,
} from '../../../platform/kernel/index.ts'
import { composeEmbeddingText } from '../corpus/chunks.ts'
import type { StoredPassage } from '../corpus/passages.store.ts'
import { findRepeats } from '../fusion.ts'
import {
  maximumDocumentCharacters,
  maximumQueryCharacters,
  maximumRerankedPassages,
  type Reranker,
} from './reranker.ts'

export interface RerankStageOptions {
  reranker: Reranker
  /** Best passages that are compared with the question; at most `maximumRerankedPassages`. Default 40. */
  passages?: number
  /** Longest wait for the scores. Default 2,000. */
  timeoutMs?: number
  /** Receives the outcome of each comparison and how long it took. */
  observe?: (outcome: RerankOutcome, seconds: number) => void
  clock?: Clock
  log?: Log
}

/** `resting`: skipped after several failures. `skipped`: fewer than two different passages. All but `reranked` keep the order. */
export type RerankOutcome = 'reranked' | 'timeout' | 'failed' | 'resting' | 'skipped'

export interface RerankQuestion {
  /** A question that can be understood without its conversation, as far as that is known. */
  text: string
  organisationId: OrganisationId
  spaceId: SpaceId
  spending?: SpendLimit | undefined
  signal: AbortSignal
}

export interface Reranked<Item> {
  outcome: RerankOutcome
  /** Every passage once: those with a score first, the best of them first, then the rest in their order. */
  passages: Item[]
  /** By chunk; empty unless `reranked`. */
  scores: ReadonlyMap<string, number>
}

/** Between the ranking of a search and its choice of passages: orders the best by a reranker, in bounded time. */
export interface RerankStage {
  readonly label: string
  /** Most passages that are compared. */
  readonly size: number
  /** Never fails because of the reranker; throws the signal's reason where the signal is aborted. */
  rerank<Item extends StoredPassage>(passages: readonly Item[], question: RerankQuestion): Promise<Reranked<Item>>
}

/** A third more than a Space gives to its model by default. */
const defaultPassages = 40
/** Visitors wait for it before the first word of an answer. */
const defaultTimeoutMs = 2_000

export function createRerankStage(options: RerankStageOptions): RerankStage {
  const { reranker, timeoutMs = defaultTimeoutMs, clock = systemClock, log = silentLog, observe } = options
  const size = Math.min(options.passages ?? defaultPassages, maximumRerankedPassages)
  const rests = createRests({ clock })

  async function compare(
    documents: readonly string[],
    { text, organisationId, spaceId, spending, signal }: RerankQuestion,
  ): Promise<{ outcome: RerankOutcome; scores: number[] }> {
    if (documents.length < 2) return { outcome: 'skipped', scores: [] }
    if (rests.isResting(organisationId)) return { outcome: 'resting', scores: [] }
    const query = cutMiddle(text, maximumQueryCharacters)
    const deadline = AbortSignal.timeout(timeoutMs)
    const either = anySignal(signal, deadline)
    try {
      const request = { query, documents, organisationId, spaceId, timeoutMs, spending, signal: either }
      const scores = await raceSignal(reranker.score(request), either)
      assertScores(scores, documents.length)
      rests.succeeded(organisationId)
      return { outcome: 'reranked', scores }
    } catch (error) {
      signal.throwIfAborted()
      const isLate = deadline.aborted || (error instanceof AppError && error.code === 'upstream_timeout')
      if (isLate || isFault(error)) rests.failed(organisationId)
      const outcome = isLate ? 'timeout' : 'failed'
      // Messages of AppErrors may quote what was sent.
      const reason = error instanceof AppError ? error.code : describeError(error)
      log.warn(
        { reranker: reranker.id, outcome, reason },
        'passages were not reranked: the order of the search is used',
      )
      return { outcome, scores: [] }
    }
  }

  return {
    label: reranker.label,
    size,
    async rerank(passages, question) {
      const repeats = findRepeats(passages)
      const compared = passages.filter((passage) => !repeats.has(passage)).slice(0, size)
      const startedMs = clock.monotonicMs()
      const documents = compared.map((passage) => cutMiddle(composeEmbeddingText(passage), maximumDocumentCharacters))
      const { outcome, scores } = await compare(documents, question)
      observe?.(outcome, (clock.monotonicMs() - startedMs) / 1000)
      if (outcome !== 'reranked') return { outcome, passages: [...passages], scores: new Map() }
      const byChunk = new Map(compared.map(({ chunkId }, index) => [chunkId, scores[index]!]))
      const rest = passages.filter(({ chunkId }) => !byChunk.has(chunkId))
      // Sorting is stable: equal scores keep their order.
      const best = compared.toSorted((left, right) => byChunk.get(right.chunkId)! - byChunk.get(left.chunkId)!)
      return { outcome, passages: [...best, ...rest], scores: byChunk }
    },
  }
}

function assertScores(scores: readonly number[], documents: number): void {
  if (scores.length !== documents)
    throw new Error(`the reranker made ${scores.length} scores for ${documents} passages`)
  if (!scores.every(Number.isFinite)) throw new Error('the reranker made a score that is not a number')
}

/** Errors that concern one call or one organisation, not the reranker. */
const refusals = new Set<string>([
  'insufficient_quota',
  'organisation_not_found',
  'invalid_request',
  'context_length_exceeded',
  'content_filter',
  'rate_limit_exceeded',
])

function isFault(error: unknown): boolean {
  return !(error instanceof AppError && refusals.has(error.code))
}

/** Failures in a row after which a key rests. */
const failuresToRest = 3
/** Doubles with each further failure. */
const firstRestMs = 10_000
const maximumRestMs = 60_000
/** Most keys with failures; the oldest is dropped first. */
const maximumTracked = 10_000

/**
 * A circuit breaker for each key. A rest ends by itself; the calls after it decide whether another one follows. Keys are organisations: the
 * calls of one must not switch off the reranker of others.
 */
function createRests({ clock }: { clock: Pick<Clock, 'monotonicMs'> }) {
  const failing = new Map<string, { failures: number; untilMs: number }>()
  return {
    isResting: (key: string): boolean => (failing.get(key)?.untilMs ?? 0) > clock.monotonicMs(),
    succeeded: (key: string): void => void failing.delete(key),
    failed(key: string): void {
      const failures = (failing.get(key)?.failures ?? 0) + 1
      const beyond = failures - failuresToRest
      const restMs = beyond < 0 ? 0 : Math.min(firstRestMs * 2 ** beyond, maximumRestMs)
      failing.delete(key)
      if (failing.size >= maximumTracked) failing.delete(failing.keys().next().value!)
      failing.set(key, { failures, untilMs: clock.monotonicMs() + restMs })
    },
  }
}

interface RerankerState {
  /** `unused`: no passages were compared since the start of this instance. */
  state: 'unused' | 'ready' | 'failing'
  /** Of the last comparison; null: none. */
  outcome: RerankOutcome | null
  atMs: number | null
  /** Of the last comparisons with an order, milliseconds; null: none. */
  latencyP50Ms: number | null
  latencyP95Ms: number | null
}

export type RerankerHealth = ReturnType<typeof createRerankerHealth>

/** Comparisons whose latency is kept. */
const keptLatencies = 100

/** How the last comparisons of this instance ended, for operators. */
export function createRerankerHealth(clock: Pick<Clock, 'now'>) {
  const latencies: number[] = []
  let last: { outcome: RerankOutcome; atMs: number } | undefined
  return {
    /** Too few passages to compare mean nothing for the reranker. */
    observe(outcome: RerankOutcome, seconds: number): void {
      if (outcome === 'skipped') return
      last = { outcome, atMs: clock.now() }
      if (outcome !== 'reranked') return
      latencies.push(Math.round(seconds * 1000))
      if (latencies.length > keptLatencies) latencies.shift()
    },
    current(): RerankerState {
      const ascending = latencies.toSorted((left, right) => left - right)
      return {
        state: last === undefined ? 'unused' : last.outcome === 'reranked' ? 'ready' : 'failing',
        outcome: last?.outcome ?? null,
        atMs: last?.atMs ?? null,
        latencyP50Ms: percentile(ascending, 0.5),
        latencyP95Ms: percentile(ascending, 0.95),
      }
    },
  }
}
