import type { Passage } from '../../../documents/retrieval/index.ts'
import { estimateTokens } from '../../../gateway/tokens/index.ts'
import type { GivenPassage } from './given-passage.ts'
import { createPassageSet } from './passage-set.ts'
import { formatSource } from './prompt.ts'

export interface PackedPassages {
  passages: GivenPassage[]
  /** Why the other chunks are not in them, by `chunkId`. */
  omitted: Map<string, Omission>
}

/** `repeat`: the text is there already. `token_limit`: no room in the tokens of passages. `context_limit`: none in the context of the model. */
export type Omission = 'repeat' | 'token_limit' | 'context_limit'

/** Tokens of a message with this text. The result is only exact up to `room`; a far longer text gets a rough count. */
export type Count = (text: string, room: number) => Promise<number>

export interface PassageRoom {
  /** Tokens that are left in the context of the model. */
  room: number
  /** Tokens that passages may have, by an estimate: it is about cost, so an estimate is good enough. */
  limit: number
  count: Count
  /** Also the first chunk must fit into the limit. */
  isStrict?: boolean
}

/**
 * The passages of these chunks that fit, joined where chunks continue each other, in the order of their first chunks. A chunk that is too long
 * leaves room for shorter ones. The first chunk is taken whatever its estimate, where the context has room for it.
 */
export async function packPassages(
  chunks: readonly Passage[],
  firstNumber: number,
  { room, limit, count, isStrict = false }: PassageRoom,
): Promise<PackedPassages & { tokens: number }> {
  const set = createPassageSet()
  const omitted = new Map<string, Omission>()
  let roomLeft = room
  let limitLeft = limit
  for (const chunk of chunks) {
    const planned = set.plan(chunk)
    if (!planned) {
      omitted.set(chunk.chunkId, 'repeat')
      continue
    }
    const isJoined = planned.left !== undefined || planned.right !== undefined
    const text = isJoined ? planned.text : formatSource(chunk, firstNumber + set.size())
    const { estimate } = estimateTokens(text)
    if (estimate > limitLeft && (isStrict || set.size() > 0)) {
      omitted.set(chunk.chunkId, 'token_limit')
      continue
    }
    const size = await count(text, roomLeft)
    if (size > roomLeft) {
      omitted.set(chunk.chunkId, 'context_limit')
      continue
    }
    set.add(planned)
    roomLeft -= size
    limitLeft -= estimate
  }
  return { passages: set.passages(), omitted, tokens: room - roomLeft }
}
