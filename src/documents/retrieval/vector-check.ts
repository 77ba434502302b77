import { createTimeSlices, describeError, type Log, sharedOwner } from '../../platform/kernel/index.ts'
import type { EmbeddingVersion } from './corpus/embedding-versions.store.ts'
import {
  deleteOldChecks,
  type DueSpace,
  loadDueSpaces,
  sampleChunks,
  type SampledChunk,
  saveVectorCheck,
  type VectorCheck,
} from './corpus/vector-checks.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { Candidate, SpaceScope } from './engine.ts'
import { fuse } from './fusion.ts'
import { analyseQuery } from './lexical/analyse-text.ts'
import type { SearchIndex } from './search-index.ts'
import {
  defaultLanguage,
  detectLatinLanguage,
  isFunctionWord,
  splitSentences,
  tokenize,
} from '../../platform/language/index.ts'

/** Chunks from which questions are made, at most two of each. */
const sampledChunks = 96
/** With fewer questions a difference is chance. */
const minimumQuestions = 24
/** Candidates by terms, and by vectors, as in a search of ten passages. */
const candidates = 50
/** A passage that is further down counts as not found. */
const countedRanks = 10
/** 0 is the search by words alone. */
const weights = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
/** Standard errors by which the vectors must be better than words alone: six weights are tried in each Space, and chance is to win in none. */
const requiredErrors = 3

const notMeasured: VectorCheck = { weight: null, questions: 0, lexicalRank: null, fusedRank: null }

export interface VectorCheckRequest {
  index: SearchIndex
  /** Checked where its embedding version answers searches. */
  embedder: Embedder
  log: Log
  signal: AbortSignal
}

/**
 * Chooses the share of the vectors in the search of each Space that has no choice yet or has changed a lot. Call it from a job. Returns the
 * number of Spaces. One Space costs at most 192 searches and their embeddings, whatever its size.
 */
export async function checkDueSpaces({ index, embedder, log, signal }: VectorCheckRequest): Promise<number> {
  // Its share is known: docs/decisions/0038-ranking-weights.md.
  if (embedder.semantics === false) return 0
  const database = index.database.for(sharedOwner)
  await deleteOldChecks(database)
  const version = (await index.embeddingVersions.load()).find(({ state }) => state === 'active')
  if (version?.embedderId !== embedder.id) return 0
  let checked = 0
  for (;;) {
    const due = await loadDueSpaces(database, version.id)
    if (due.length === 0) return checked
    for (const space of due) {
      signal.throwIfAborted()
      const check = await checkOrFail({ index, embedder, log, signal }, version, space)
      if (!(await saveVectorCheck(index.database, space, version.id, check))) return checked
      checked++
    }
  }
}

/** A Space whose check fails, such as one without a budget for embeddings, does not keep others from theirs. */
async function checkOrFail(
  request: VectorCheckRequest,
  version: EmbeddingVersion,
  space: DueSpace,
): Promise<VectorCheck> {
  try {
    return await checkSpace(request, version, space)
  } catch (error) {
    request.signal.throwIfAborted()
    request.log.warn(
      { spaceId: space.spaceId, error: describeError(error) },
      'the share of vectors in a search could not be chosen; it is tried again in an hour',
    )
    return notMeasured
  }
}

async function checkSpace(
  { index, embedder, signal }: VectorCheckRequest,
  version: EmbeddingVersion,
  { organisationId, spaceId }: DueSpace,
): Promise<VectorCheck> {
  const scope: SpaceScope = { organisationId, spaceId }
  const questions = makeHeldOutQuestions(await sampleChunks(index.database, scope, sampledChunks))
  if (questions.length < minimumQuestions) return { ...notMeasured, questions: questions.length }
  const texts = questions.map(({ text }) => text)
  const vectors = await embedder.embed({ texts, purpose: 'query', organisationId, spaceId, signal })
  const slice = createTimeSlices()
  const ranks: number[][] = []
  for (const [at, { chunkId, text }] of questions.entries()) {
    await slice()
    signal.throwIfAborted()
    // Opened for each question: another Space may take its place in memory meanwhile.
    const space = await index.engine.openSpace({ ...scope, filter: null }, signal)
    const terms = await analyseQuery(spaceId, text, space)
    const vector = vectors[at]!
    const found = await space.findCandidates({
      terms,
      vectors: vector.some((value) => value !== 0) ? [{ version, vector, hasSemantics: true }] : [],
      limit: candidates,
    })
    ranks.push(weights.map((vectorWeight) => reciprocalRank(found, chunkId, vectorWeight)))
  }
  return chooseWeight(ranks)
}

function reciprocalRank(found: readonly Candidate[], chunkId: string, vectorWeight: number): number {
  const rank = fuse(found, { vectorWeight }).findIndex((one) => one.chunkId === chunkId)
  return rank < 0 || rank >= countedRanks ? 0 : 1 / (rank + 1)
}

/**
 * `ranks`: for each question the reciprocal rank with each weight. The smallest weight that is within one standard error of the best one,
 * provided it is better than words alone by more than chance; otherwise 0, which is the order by words.
 */
export function chooseWeight(ranks: readonly (readonly number[])[]): VectorCheck {
  const gains = weights.map((_, at) => estimate(ranks.map((row) => row[at]! - row[0]!)))
  const best = gains.reduce((left, right) => (right.mean > left.mean ? right : left))
  const isBetter = ({ mean, error }: Estimate) => mean > 0 && mean >= requiredErrors * error
  const chosen = gains.findIndex((gain) => isBetter(gain) && gain.mean >= best.mean - best.error)
  const at = Math.max(0, chosen)
  const lexicalRank = estimate(ranks.map((row) => row[0]!)).mean
  return { weight: weights[at]!, questions: ranks.length, lexicalRank, fusedRank: lexicalRank + gains[at]!.mean }
}

interface Estimate {
  mean: number
  /** Standard error of the mean. */
  error: number
}

function estimate(values: readonly number[]): Estimate {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1)
  return { mean, error: Math.sqrt(variance / values.length) }
}

/** A question made from the words of a chunk: a search that works finds this chunk. */
interface HeldOutQuestion {
  chunkId: string
  text: string
}

/** Characters of a chunk that are read: chunks of the pipeline are shorter. */
const readCharacters = 4_000
/** A sentence with fewer words of content keeps too few of them. */
const minimumWords = 6
/** Few, so that words alone often match other chunks too: what vectors add is seen only there. */
const maximumKeptWords = 3
/**
 * Known-item questions: of each chunk one sentence without half of its words, as a person would remember it, and its heading where no other
 * chunk of the sample has it. Always the same for the same chunks.
 */
export function makeHeldOutQuestions(chunks: readonly SampledChunk[]): HeldOutQuestion[] {
  const headings = new Map<string, number>()
  for (const { headingPath } of chunks) {
    const heading = headingPath.at(-1)
    if (heading !== undefined) headings.set(heading, (headings.get(heading) ?? 0) + 1)
  }
  return chunks.flatMap(({ chunkId, text, headingPath }) => {
    const heading = headingPath.at(-1)
    const isOwn = heading !== undefined && headings.get(heading) === 1 && contentWordsOf(heading).length >= 2
    const remembered = rememberedSentence(text)
    return [...(isOwn ? [heading] : []), ...(remembered === null ? [] : [remembered])].map((question) => ({
      chunkId,
      text: question,
    }))
  })
}

/** Of the middle sentence that has enough words; null: there is none. */
function rememberedSentence(text: string): string | null {
  const sentences = splitSentences(text.slice(0, readCharacters).toWellFormed())
    .map((sentence) => contentWordsOf(sentence.text))
    .filter((words) => words.length >= minimumWords)
  const words = sentences[Math.floor(sentences.length / 2)]
  if (!words) return null
  return words
    .filter((_, index) => index % 2 === 1)
    .slice(0, maximumKeptWords)
    .join(' ')
}

function contentWordsOf(text: string): string[] {
  const words = tokenize(text, { singleCharacters: false })
  const latin = detectLatinLanguage(words) ?? defaultLanguage
  return [...new Set(words)].filter((word) => word.length > 1 && !isFunctionWord(word, latin))
}
