import type { Passage } from '../../../documents/retrieval/index.ts'
import { estimateTokens } from '../../../gateway/tokens/index.ts'
import { continues, formatSource, type GivenPassage, joinChunks, repeatedUnits } from './prompt.ts'

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

/** A chunk that may be added to a set. */
interface PlannedChunk {
  chunk: Passage
  /** What it adds to the prompt: its text, without what a neighbour in the set already has. */
  text: string
  tokens: number
  /** Runs that it continues or begins; both undefined: it becomes a separate passage. */
  left: Run | undefined
  right: Run | undefined
}

/** Chunks of a set that continue each other. */
interface Run {
  chunks: [Passage, ...Passage[]]
  /** Estimated. */
  tokens: number
}

/**
 * Estimated tokens of a joined passage at most: four chunks of the usual size. A marker names a passage, so a passage of a whole document
 * would be vague, and nearly any sentence would find its words in it.
 */
const maximumJoinedTokens = 1_500
/** The same where a chunk ends within a block, such as a long code fence: its lines stay together. */
const maximumTokensOfBlock = 3_000

/** The chunks of a prompt, joined where they continue each other. Repeats of a text are not added. */
export function createPassageSet() {
  const runs = new Set<Run>()
  const runOf = new Map<string, { chunk: Passage; run: Run }>()
  const texts = new Set<string>()

  const placeOf = ({ documentId }: Passage, chunkIndex: number) => runOf.get(`${documentId} ${chunkIndex}`)
  const before = (chunk: Passage) => {
    const found = placeOf(chunk, chunk.chunkIndex - 1)
    return found && continues(chunk, found.chunk) ? found : undefined
  }
  const after = (chunk: Passage) => {
    const found = placeOf(chunk, chunk.chunkIndex + 1)
    return found && continues(found.chunk, chunk) ? found : undefined
  }

  return {
    /** Null where the set already has the text. */
    plan(chunk: Passage): PlannedChunk | null {
      if (texts.has(normalise(chunk.text))) return null
      const last = before(chunk)
      const next = after(chunk)
      const text = last ? chunk.text.slice(repeatedUnits(chunk, last.chunk.characterTo)) : chunk.text
      if (text === '') return null
      const tokens = estimateTokens(text).estimate
      const fits = (run: Run | undefined, more: number, isOneBlock: boolean) =>
        run && run.tokens + more <= (isOneBlock ? maximumTokensOfBlock : maximumJoinedTokens) ? run : undefined
      const left = fits(last?.run, tokens, last !== undefined && divides(last.chunk, chunk))
      const right = fits(next?.run, tokens + (left?.tokens ?? 0), next !== undefined && divides(chunk, next.chunk))
      return { chunk, text, tokens, left, right }
    },

    add({ chunk, tokens, left, right }: PlannedChunk): void {
      const run: Run = left ?? right ?? { chunks: [chunk], tokens: 0 }
      if (left) run.chunks.push(chunk)
      else if (right) run.chunks.unshift(chunk)
      run.tokens += tokens
      if (left && right) {
        left.chunks.push(...right.chunks)
        left.tokens += right.tokens
        // The better rank of both counts.
        if (isBefore(runs, right, left)) replace(runs, right, left)
        else runs.delete(right)
      }
      runs.add(run)
      for (const one of run.chunks) runOf.set(`${one.documentId} ${one.chunkIndex}`, { chunk: one, run })
      texts.add(normalise(chunk.text))
    },

    /** Passages. */
    size: () => runs.size,

    /** In the order in which their first chunk was added. */
    passages(): GivenPassage[] {
      return [...runs].map(({ chunks }) => joinChunks(chunks, before(chunks[0])?.chunk.characterTo))
    },
  }
}

/** Whether the border of two chunks divides a block: a line feed is between blocks, and most other texts overlap. */
function divides(chunk: Passage, next: Passage): boolean {
  return next.characterFrom === chunk.characterTo
}

function isBefore<Item>(items: Iterable<Item>, one: Item, other: Item): boolean {
  for (const item of items) if (item === one || item === other) return item === one
  return false
}

/** Puts `other`, which is in the set too, into the place of `one`. */
function replace<Item>(items: Set<Item>, one: Item, other: Item): void {
  const order = [...items].flatMap((item) => (item === one ? [other] : item === other ? [] : [item]))
  items.clear()
  for (const item of order) items.add(item)
}

const normalise = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
