import type { Passage } from '../../../documents/retrieval/index.ts'
import { estimateTokens } from '../../../gateway/tokens/index.ts'
import { continues, type GivenPassage, joinChunks, repeatedUnits } from './given-passage.ts'

/** A chunk that may be added to a set. */
export interface PlannedChunk {
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
