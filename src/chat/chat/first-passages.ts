import type { DocumentReader, Passage, ReadScope } from '../../documents/retrieval/index.ts'
import type { Receipt } from '../../gateway/billing/index.ts'
import { estimateTokens } from '../../gateway/tokens/index.ts'
import type { AnswerRoom } from './answer-calls.ts'
import type { PackedPassages } from './context/pack-passages.ts'
import { askForReading } from './context/prompt.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'
import { searchFirst } from './queries/first-search.ts'
import { scopeOf } from './read-scope.ts'
import type { SearchCall } from './search-space.ts'

/** The passages with which an answer begins. */
export interface FirstPassages extends PackedPassages {
  /** They are all files of the Space; nothing was searched. */
  isWhole: boolean
  /** The question that was searched; null where nothing was. */
  query: string | null
  /** Of the model's call that rewrote the question; null where it was not rewritten. */
  receipt: Receipt | null
  /** The question has two or more readings: the answer should ask which one is meant. */
  isUnderspecified: boolean
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
