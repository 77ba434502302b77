/** What one Space has in one embedding version. */
export interface VectorUsage {
  /** Searchable chunks of documents without a segment: they are compared one by one in each search. */
  tailChunks: number
  /** How long ago the last of these documents was published. */
  tailIdleSeconds: number
  /** How long ago the last document of the Space was published. */
  idleSeconds: number
  segments: readonly SegmentUsage[]
}

export interface SegmentUsage {
  id: number
  /** Searchable chunks of its documents. */
  chunks: number
  /** Its rows, including those of documents that were deleted since. */
  rows: number
}

export type SegmentAction =
  /** Gives the oldest documents without a segment one, at most `maximumChunks`. */
  | { kind: 'build'; maximumChunks: number }
  /** Replaces several segments by one. */
  | { kind: 'merge'; segments: number[] }
  /** Removes segments without a successor. */
  | { kind: 'retire'; segments: number[] }

/** Sizes in chunks. */
export interface SegmentSizes {
  /** From which a Space gets segments. */
  from: number
  /** Of a tail that gets a segment. */
  tail: number
  /** From which a segment is not merged with small ones. */
  merged: number
}

/** A tail of this share of the threshold gets a segment: 10,000 vectors are compared in about 15 ms. */
const tailShare = 0.5
/** A tail of this share of its size gets one when nothing was published for a while: a pause of imports, not a document a minute. */
const idleTailShare = 0.2
const idleTailSeconds = 60
/** An index of this many times the threshold (120,000) has its best speed for its recall; smaller ones are merged into such. */
const mergedShare = 6
/**
 * The next size of a segment, in a Space so large that it has this many of one size. It is the largest (1.44 million): one process needs
 * a quarter of an hour for its index, and has two hours.
 */
const sizeRatio = 12
/** Most small segments; each adds about a millisecond to a search. */
const maximumSmallSegments = 16
/** Small segments are merged early when nothing was published for so long. An import of large files has shorter pauses. */
const quietSeconds = 120
/** Least size of the others together, next to the largest that is merged with them: a chunk is then copied for each growth by a half. */
const quietShare = 0.5
/** Segments are removed when the Space has shrunk to this share of the threshold, so that they are not rebuilt again and again. */
const dropBelowShare = 0.5

export function sizesFrom(from: number): SegmentSizes {
  return { from, tail: from * tailShare, merged: from * mergedShare }
}

/** What to do first so that new documents are searched fast; `null`: nothing. */
export function planNewVectors(
  { tailChunks, tailIdleSeconds, segments }: VectorUsage,
  { from, tail, merged }: SegmentSizes,
): SegmentAction | null {
  const total = chunksOf(segments) + tailChunks
  if (total < (segments.length > 0 ? from * dropBelowShare : from)) return null
  const isDue =
    tailChunks >= tail || (tailIdleSeconds >= idleTailSeconds && tailChunks >= Math.max(1, tail * idleTailShare))
  return isDue ? { kind: 'build', maximumChunks: merged } : null
}

/** What to do so that searches read few segments; `null`: nothing. A segment is merged about once for each size. */
export function planMerge(
  { tailChunks, idleSeconds, segments }: VectorUsage,
  { from, merged: target }: SegmentSizes,
): SegmentAction | null {
  if (segments.length === 0) return null
  const total = chunksOf(segments) + tailChunks
  if (total < from * dropBelowShare) return { kind: 'retire', segments: segments.map(({ id }) => id) }
  const empty = segments.filter(({ chunks }) => chunks === 0)
  if (empty.length > 0) return { kind: 'retire', segments: empty.map(({ id }) => id) }
  const small = segments.filter(({ chunks }) => chunks < target)
  const largest = target * sizeRatio
  if (small.length >= maximumSmallSegments) return { kind: 'merge', segments: smallestOf(small, largest) }
  for (let size = target; size <= largest; size *= sizeRatio) {
    const smaller = segments.filter(({ chunks }) => chunks < size)
    if (chunksOf(smaller) >= size) return { kind: 'merge', segments: smallestOf(smaller, size) }
  }
  return idleSeconds < quietSeconds ? null : planQuietMerge(small)
}

/** Of the smallest segments as many as have these chunks together. */
function smallestOf(segments: readonly SegmentUsage[], chunks: number): number[] {
  const ascending = segments.toSorted((left, right) => left.chunks - right.chunks)
  let sum = 0
  const end = ascending.findIndex((one) => (sum += one.chunks) >= chunks)
  const smallest = new Set(ascending.slice(0, end === -1 ? undefined : end + 1))
  return segments.filter((one) => smallest.has(one)).map(({ id }) => id)
}

/** The most of the smallest segments that are worth it: eight of one size become one, which is searched in a fraction of the time. */
function planQuietMerge(small: readonly SegmentUsage[]): SegmentAction | null {
  const ascending = small.toSorted((left, right) => left.chunks - right.chunks)
  for (let count = ascending.length; count > 1; count--) {
    const merged = ascending.slice(0, count)
    const largest = merged.at(-1)!.chunks
    if (chunksOf(merged) - largest >= largest * quietShare)
      return { kind: 'merge', segments: merged.map(({ id }) => id) }
  }
  return null
}

function chunksOf(segments: readonly SegmentUsage[]): number {
  return segments.reduce((sum, { chunks }) => sum + chunks, 0)
}
