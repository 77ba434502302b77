import type { DocumentReader, ExplainSearch, Passage, ReadScope, Retrieval } from '../../documents/retrieval/index.ts'
import type { Receipt } from '../../gateway/billing/index.ts'
import { estimateTokens } from '../../gateway/tokens/index.ts'
import type { AnswerRoom } from './answer-calls.ts'
import type { PackedPassages } from './context/context-window.ts'
import { askForReading } from './context/prompt.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'
import { type AppError, invalidField, runStep } from '../../platform/kernel/index.ts'
import {
  composeQuery,
  isRewritten,
  rewriteQuestion,
  type Rewriting,
  type RewrittenQuestion,
  type SearchQuery,
  withSynonyms,
} from './search-query.ts'
import { type MetadataFilter, readFilterText, restrictsField } from '../../contract/metadata-filter.ts'
import { sentence } from '../../contract/validation.ts'
import type { Space } from '../spaces/index.ts'

/** What the first search of an answer was. */
interface FirstSearch {
  /** The question that was searched; null where nothing was. */
  query: string | null
  /** Of the model's call that rewrote the question; null where it was not rewritten. */
  receipt: Receipt | null
  /** The question has two or more readings: the answer should ask which one is meant. */
  isUnderspecified: boolean
}

/** The passages with which an answer begins. */
export interface FirstPassages extends PackedPassages, FirstSearch {
  /** They are all files of the Space; nothing was searched. */
  isWhole: boolean
}

/** All files of a small Space; else what a search finds, with neighbours. Reserves room in the window for them. */
export async function choosePassages(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
  room: AnswerRoom,
): Promise<FirstPassages> {
  const whole = await packWholeSpace(dependencies, call, prepared)
  if (whole) return { ...whole, isWhole: true, query: null, receipt: null, isUnderspecified: false }
  const { passages, ...found } = await searchFirst(dependencies, call, prepared, room)
  if (found.isUnderspecified) await prepared.window.add(askForReading)
  return { ...(await packFound(dependencies, call, prepared, passages)), ...found, isWhole: false }
}

/** Null where the Space is empty, or larger than its setting or than the context of its model. */
export async function packWholeSpace(
  { documents }: Pick<AnswerDependencies, 'documents'>,
  call: SearchCall,
  { window }: Pick<PreparedAnswer, 'window'>,
): Promise<PackedPassages | null> {
  const { wholeSpaceTokens } = call.space.settings
  const chunks = await loadSmallSpace(documents, scopeOf(call), wholeSpaceTokens, call.signal)
  return chunks.length === 0 ? null : window.packAll(chunks)
}

/** `found`: the chunks of a search, the best first. */
export async function packFound(
  { documents }: Pick<AnswerDependencies, 'documents'>,
  call: SearchCall,
  { window }: Pick<PreparedAnswer, 'window'>,
  found: readonly Passage[],
): Promise<PackedPassages> {
  const room = window.passageRoom()
  return window.pack(await addNeighbours(documents, scopeOf(call), { found, room }, call.signal), 1)
}

/**
 * Share of the room for passages that neighbours may take. `npm run eval:answers -- --only Passages` measures it: from 2,000 tokens on, an answer
 * near the border of a chunk is worth more than the last passage of the search; in less room it is not.
 */
const neighbourShare = 0.25

/**
 * The chunks of a search with the neighbours of the best one directly behind it, the following one first, as far as they take a quarter of
 * `room` (tokens). More chunks with neighbours, such as the best two or three, gave no better figures.
 */
export async function addNeighbours(
  documents: Pick<DocumentReader, 'loadNeighbours'>,
  scope: ReadScope,
  { found, room }: { found: readonly Passage[]; room: number },
  signal: AbortSignal,
): Promise<Passage[]> {
  const [best, ...others] = found
  if (!best) return []
  const loaded = await documents.loadNeighbours(scope, best.chunkId, signal)
  const near: Passage[] = []
  let tokens = 0
  for (const chunk of loaded.toSorted((left, right) => right.chunkIndex - left.chunkIndex)) {
    tokens += estimateTokens(chunk.text).estimate
    if (tokens <= room * neighbourShare) near.push({ ...chunk, score: 0 })
  }
  const ids = new Set(near.map(({ chunkId }) => chunkId))
  return [
    best,
    ...near.map((one) => found.find(({ chunkId }) => chunkId === one.chunkId) ?? one),
    ...others.filter(({ chunkId }) => !ids.has(chunkId)),
  ]
}

/** A document has at least so many tokens with its title and the lines around it. */
const leastDocumentTokens = 15
/** Text of a language has fewer characters in a token. Texts with more of them, such as long runs of blanks, are found by a search. */
const charactersPerToken = 8

/** All chunks of a scope of at most about `maximumTokens`, in reading order; empty where it is empty or larger. */
async function loadSmallSpace(
  documents: Pick<DocumentReader, 'loadSpace'>,
  scope: ReadScope,
  maximumTokens: number,
  signal: AbortSignal,
): Promise<Passage[]> {
  if (maximumTokens === 0) return []
  const maximum = {
    documents: Math.floor(maximumTokens / leastDocumentTokens),
    characters: maximumTokens * charactersPerToken,
  }
  const chunks = await documents.loadSpace(scope, maximum, signal)
  return chunks.map((chunk) => ({ ...chunk, score: 0 }))
}

/** A variant has other terms than the question, and may have another meaning. */
const variantWeight = 0.5

/**
 * The search before the first answer of the model. A rewritten question and its variants are searched in addition to the
 * conversation: a wrong rewriting then loses little, and a right one finds more together with the conversation than alone. The best come first.
 */
async function searchFirst(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
  room: AnswerRoom,
): Promise<FirstSearch & { passages: Passage[] }> {
  const { retrieval } = dependencies
  const composed = await composeQuery(call.messages, call.signal)
  const query = prepared.onlyQuotes ? withSynonyms(composed) : composed
  const isAsked = isRewritten(call, prepared)
  // A rewritten question is the better one to rerank by, and one comparison is enough for all searches.
  const forReranking = isAsked && retrieval.rerankSize > 0
  const [passages, { rewritten, receipt }] = await together(
    call.signal,
    (signal) => searchSpace(retrieval, { ...call, signal }, query, { forReranking }),
    async (signal): Promise<Rewriting> => {
      if (!isAsked) return { rewritten: null, receipt: null }
      const step = dependencies.telemetry?.step('rewrite')
      return runStep(step, () => rewriteQuestion(dependencies, { ...call, signal }, prepared, room))
    },
  )
  if (!rewritten) {
    const found = forReranking
      ? await rerankPassages(retrieval, call, query.standalone ?? query.text, passages)
      : passages
    return { passages: found, query: query.text, receipt, isUnderspecified: false }
  }
  const results = await Promise.all(
    queriesOf(rewritten).map(async ({ text, weight }) => ({
      passages: await searchSpace(retrieval, call, { text, context: [] }, { forReranking }),
      weight,
    })),
  )
  const fused = fuseByRank([...results, { passages, weight: 1 }])
  return {
    passages: forReranking
      ? await rerankPassages(retrieval, call, rewritten.question, fused)
      : fused.slice(0, call.space.settings.maximumPassages),
    query: rewritten.question,
    receipt,
    isUnderspecified: rewritten.isUnderspecified,
  }
}

function queriesOf({ question, variants }: RewrittenQuestion) {
  return [{ text: question, weight: 1 }, ...variants.map((text) => ({ text, weight: variantWeight }))]
}

/** Runs both at the same time. Where one fails, the other is stopped, and its end is awaited: the call of a model is billed then. */
async function together<First, Second>(
  signal: AbortSignal,
  first: (signal: AbortSignal) => Promise<First>,
  second: (signal: AbortSignal) => Promise<Second>,
): Promise<[First, Second]> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const stopOther = (error: unknown) => {
    failed.abort(error)
    throw error
  }
  const results = [first(either).catch(stopOther), second(either).catch(stopOther)] as const
  await Promise.allSettled(results)
  return Promise.all(results)
}

/** The result of one of several searches for the same question. */
interface RankedPassages {
  /** The best first. */
  passages: readonly Passage[]
  weight: number
}

/** Damps the difference between the first ranks; the value of Cormack, Clarke and Buettcher (SIGIR 2009). */
const rankOffset = 60

/** Weighted reciprocal rank fusion: each passage once, the best first, with a score of 0 to 1. Scores of different queries are not comparable, ranks are. */
export function fuseByRank(results: readonly RankedPassages[]): Passage[] {
  const highest = results.reduce((sum, { weight }) => sum + weight, 0) / (rankOffset + 1)
  const fused = new Map<string, Passage>()
  for (const { passages, weight } of results) {
    for (const [index, passage] of passages.entries()) {
      const score = weight / (rankOffset + 1 + index) / highest
      fused.set(passage.chunkId, { ...passage, score: (fused.get(passage.chunkId)?.score ?? 0) + score })
    }
  }
  // Sorting is stable: equal scores keep the order of the first search.
  return [...fused.values()].sort((left, right) => right.score - left.score)
}

/** Who searches, and what. */
type SearchCall = Pick<AnswerCall, 'organisation' | 'space' | 'filter' | 'spending' | 'signal'>

interface SearchOptions {
  explain?: ExplainSearch
  documentIds?: readonly string[]
  /** Passages beyond those of the Space's setting. */
  more?: number
  /** As many as the reranker compares, in the order of the search: they are reranked together with those of other searches. */
  forReranking?: boolean
}

/** Every search of an answer, and of the retrieval tester. */
export function searchSpace(
  retrieval: Retrieval,
  call: SearchCall,
  { text, context, standalone = text }: SearchQuery,
  { explain, documentIds, more = 0, forReranking = false }: SearchOptions = {},
): Promise<Passage[]> {
  const { maximumPassages } = call.space.settings
  return retrieval.search({
    ...scopeOf(call),
    query: text,
    context,
    ...(forReranking
      ? { limit: Math.max(maximumPassages, retrieval.rerankSize), rerankText: null }
      : { limit: maximumPassages + more, rerankText: standalone }),
    ...(documentIds && { documentIds }),
    ...(explain && { explain }),
    spending: call.spending,
    signal: call.signal,
  })
}

/** Orders the passages of several searches by how well they answer a question. */
function rerankPassages(
  retrieval: Retrieval,
  { organisation, space, spending, signal }: Pick<AnswerCall, 'organisation' | 'space' | 'spending' | 'signal'>,
  text: string,
  passages: readonly Passage[],
): Promise<Passage[]> {
  return retrieval.rerank(passages, {
    organisationId: organisation.id,
    spaceId: space.id,
    text,
    limit: space.settings.maximumPassages,
    spending,
    signal,
  })
}

const filterHeader = 'service-document-filter'

/**
 * The documents that an answer may use. Everything that reads documents for it takes this scope. Throws `invalid_request` where the Space
 * requires a filter that the call does not have.
 */
export function scopeOf({
  organisation,
  space,
  filter,
}: Pick<AnswerCall, 'organisation' | 'space' | 'filter'>): ReadScope {
  assertRequiredFilter(space, filter)
  return { organisationId: organisation.id, spaceId: space.id, filter }
}

/** Throws `invalid_request` with the first field of the Space's setting that the filter does not restrict to values. */
export function assertRequiredFilter({ settings }: Pick<Space, 'settings'>, filter: MetadataFilter | null): void {
  const missing = settings.requiredFilter.find((field) => filter === null || !restrictsField(filter, field))
  if (missing === undefined) return
  throw invalidField(
    filterHeader,
    `This Space answers only with a filter that restricts \`${missing}\` to values: send the header service-document-filter.`,
  )
}

/** The filter in a request's header; null without one. Throws `invalid_request`. */
export function readFilterHeader(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): MetadataFilter | null {
  const given = headers[filterHeader]
  if (given === undefined) return null
  const text = typeof given === 'string' ? decodeHeader(given) : null
  if (text === null) throw invalid([], 'must be sent once')
  const read = readFilterText(text)
  if ('problem' in read) throw invalid(read.problem.path, read.problem.message)
  return read.filter
}

/** What all of the filters let through. */
export function allFilters(...filters: (MetadataFilter | null)[]): MetadataFilter | null {
  const given = filters.filter((filter) => filter !== null)
  return given.length > 1 ? { and: given } : (given[0] ?? null)
}

/** Clients send UTF-8, which Node.js reads as Latin-1; browsers send Latin-1. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  const text = bytes.toString('utf8')
  return text.includes('\uFFFD') ? value : text
}

/** A field name can be as long as the client likes. */
const maximumParam = 300

function invalid(path: readonly (string | number)[], words: string): AppError {
  const param = [filterHeader, ...path].join('.').slice(0, maximumParam).toWellFormed()
  return invalidField(param, sentence(`\`${param}\``, words))
}
