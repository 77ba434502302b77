import { pieceEnd } from './piece-end.ts'
import { rankOf, type Vocabulary } from './vocabulary.ts'

/** Counts tokens of o200k. Special tokens such as `<|endoftext|>` count as the plain text that they are in a prompt. */
export interface TokenCounter {
  count(text: string): number
}

/**
 * Longest piece that is merged as a whole, in UTF-16 units; bounds the buffers of one merge to about 50 MB. A message of the gateway has
 * 200,000 at most. Longer runs without a word end are cut, and each cut may add a token or two.
 */
const maximumPieceUnits = 400_000

/** UTF-8 needs up to 3 bytes for each UTF-16 unit. */
const bytesPerUnit = 3

/**
 * Counts exactly, in O(n log n) for every text. The usual merge of byte pairs searches the whole piece for each merge, which is
 * quadratic: it takes minutes for 200,000 emoji in a row. This one keeps candidates in a heap.
 */
export function createTokenCounter(vocabulary: Vocabulary): TokenCounter {
  const encoder = new TextEncoder()
  // Words fit; longer pieces get a buffer for the time of their count.
  const shortPiece = new Uint8Array(1024)

  function countPiece(piece: string): number {
    const buffer =
      piece.length * bytesPerUnit <= shortPiece.length ? shortPiece : new Uint8Array(piece.length * bytesPerUnit)
    const { written } = encoder.encodeInto(piece, buffer)
    if (rankOf(vocabulary, buffer, 0, written) !== -1) return 1
    return countMerged(vocabulary, buffer.subarray(0, written))
  }

  return {
    count(text) {
      let tokens = 0
      for (let start = 0; start < text.length;) {
        const end = pieceEnd(text, start)
        for (; start < end; start += maximumPieceUnits) {
          tokens += countPiece(text.slice(start, Math.min(end, start + maximumPieceUnits)))
        }
        start = end
      }
      return tokens
    },
  }
}

/**
 * Merges neighbours, the pair of lowest rank first and of equal pairs the first one, until no neighbours make a token; returns how
 * many parts remain.
 */
function countMerged(vocabulary: Vocabulary, piece: Uint8Array): number {
  const length = piece.length
  // A part is known by its first byte. `ends` of a part that was merged into the one before it is 0.
  const ends = new Uint32Array(length)
  const previous = new Int32Array(length)
  const pairRanks = new Int32Array(length).fill(-1)
  const heap = createHeap(length)

  function consider(part: number) {
    const next = ends[part]!
    const rank = next < length ? rankOf(vocabulary, piece, part, ends[next]!) : -1
    pairRanks[part] = rank
    if (rank !== -1) heap.push(rank * positionRange + part)
  }

  for (let part = 0; part < length; part++) {
    ends[part] = part + 1
    previous[part] = part - 1
  }
  for (let part = 0; part < length; part++) consider(part)
  let parts = length
  for (let key = heap.pop(); key !== -1; key = heap.pop()) {
    const part = key % positionRange
    const rank = (key - part) / positionRange
    // A part has changed since the pair was pushed: the pair that it makes now has its own entry.
    if (pairRanks[part] !== rank) continue
    const merged = ends[part]!
    const end = ends[merged]!
    ends[part] = end
    pairRanks[merged] = -1
    if (end < length) previous[end] = part
    parts--
    consider(part)
    if (part > 0) consider(previous[part]!)
  }
  return parts
}

/** Above every position in a piece. Rank times this, plus a position, is an exact double: 2^18 ranks by 2^32. */
const positionRange = 2 ** 32

/** A binary heap of numbers in one array that grows. `pop` of an empty heap is -1. */
function createHeap(expected: number) {
  let values = new Float64Array(Math.max(16, expected))
  let size = 0
  return {
    push(value: number) {
      if (size === values.length) {
        const larger = new Float64Array(size * 2)
        larger.set(values)
        values = larger
      }
      let index = size++
      while (index > 0) {
        const parent = (index - 1) >> 1
        if (values[parent]! <= value) break
        values[index] = values[parent]!
        index = parent
      }
      values[index] = value
    },
    pop(): number {
      if (size === 0) return -1
      const first = values[0]!
      const last = values[--size]!
      let index = 0
      for (;;) {
        let child = 2 * index + 1
        if (child >= size) break
        if (child + 1 < size && values[child + 1]! < values[child]!) child++
        if (values[child]! >= last) break
        values[index] = values[child]!
        index = child
      }
      values[index] = last
      return first
    },
  }
}
