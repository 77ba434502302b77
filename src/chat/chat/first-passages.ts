import type { Receipt } from '../../gateway/billing/index.ts'
import type { Passage } from '../../documents/retrieval/index.ts'
import type { AnswerRoom } from './answer-room.ts'
import type { PackedPassages } from './context/pack-passages.ts'
import { addNeighbours } from './context/neighbours.ts'
import { askForReading } from './context/prompt.ts'
import { loadSmallSpace } from './context/small-space.ts'
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
