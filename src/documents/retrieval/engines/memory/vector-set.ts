import { createGrowable } from './growable.ts'
import { createTopList, type Scored } from './top-list.ts'
import { blockBytes, type VectorArena } from './vector-arena.ts'

/**
 * The vectors of one Space, searched exactly. Each dimension is two signed bytes, scaled by the vector's largest value: the scan
 * reads a coarse byte, and the best of the scan are ranked again with the remainder in a fine byte. Similarities are exact within
 * 0.0001, with half the memory of 4-byte floats and a quarter of it read.
 */
export type VectorSet = ReturnType<typeof createVectorSet>

const byteLimit = 127
/** The remainder of a coarse byte is at most half a step either way; the fine byte divides the step by this. */
const fineSteps = 2 * byteLimit
/** The step of the SIMD loop. */
const strideStep = 16
/** The coarse scan misplaces near ties (standard deviation 0.0004 at 384 dimensions), so it returns more than are wanted. */
const coarseShare = 1.5

export function createVectorSet(arena: VectorArena, dimensions: number) {
  const stride = Math.ceil(dimensions / strideStep) * strideStep
  const perBlock = Math.floor(blockBytes / stride)
  const coarse: number[] = []
  const fine: number[] = []
  /** By ordinal: converts a row's sum to the scale of a unit vector; 0: no vector. */
  const scales = createGrowable((length) => new Float32Array(length))
  let queryScale = 0

  function addressIn(blocks: readonly number[], ordinal: number): number {
    return blocks[Math.floor(ordinal / perBlock)]! + (ordinal % perBlock) * stride
  }

  function similarityTo(ordinal: number): number | null {
    const scale = scales.values[ordinal]!
    if (scale === 0) return null
    const coarseSum = arena.dotProducts(addressIn(coarse, ordinal), 1, stride)[0]!
    const fineSum = arena.dotProducts(addressIn(fine, ordinal), 1, stride)[0]!
    return (coarseSum + fineSum / fineSteps) * scale * queryScale
  }

  return {
    /** Bytes of memory that one more vector takes. */
    bytesPerVector: 2 * stride + Float32Array.BYTES_PER_ELEMENT,
    /** The vector of the next ordinal; null: it has none and is never found. */
    add(vector: Float32Array | null): void {
      const ordinal = scales.length
      if (ordinal >= coarse.length * perBlock) {
        coarse.push(arena.allocate())
        fine.push(arena.allocate())
      }
      const addresses = { coarse: addressIn(coarse, ordinal), fine: addressIn(fine, ordinal) }
      scales.push(vector ? quantise(vector, arena.bytes(), addresses) : 0)
    },
    /** The nearest visible ones (`visible[ordinal]` is not 0) by cosine similarity, best first; none below `floor`. */
    nearest(query: Float32Array, visible: Uint8Array, limit: number, floor: number): Scored[] {
      queryScale = arena.setQuery(query, stride)
      const top = createTopList(Math.ceil(limit * coarseShare))
      const { values, length } = scales
      let threshold = top.threshold()
      for (let block = 0, first = 0; first < length; block++, first += perBlock) {
        const count = Math.min(perBlock, length - first)
        const sums = arena.dotProducts(coarse[block]!, count, stride)
        for (let row = 0; row < count; row++) {
          const score = sums[row]! * values[first + row]! * queryScale
          if (score <= threshold || visible[first + row] === 0 || values[first + row] === 0) continue
          top.offer(first + row, score)
          threshold = top.threshold()
        }
      }
      const refined = createTopList(limit)
      for (const { ordinal } of top.take()) {
        const score = similarityTo(ordinal)!
        if (score >= floor) refined.offer(ordinal, score)
      }
      return refined.take()
    },
    /** Cosine similarity to the query of the last `nearest`; null where there is no vector. */
    similarityTo,
    /** Keeps the ordinals that `kept` names, in its order (ascending), and renumbers them from 0. */
    compact(kept: Uint32Array): void {
      const bytes = arena.bytes()
      for (const [ordinal, former] of kept.entries()) {
        for (const blocks of [coarse, fine]) {
          const address = addressIn(blocks, former)
          bytes.copyWithin(addressIn(blocks, ordinal), address, address + stride)
        }
        scales.values[ordinal] = scales.values[former]!
      }
      scales.length = kept.length
      const used = Math.ceil(kept.length / perBlock)
      for (const block of [...coarse.splice(used), ...fine.splice(used)]) arena.free(block)
    },
    clear(): void {
      for (const block of [...coarse.splice(0), ...fine.splice(0)]) arena.free(block)
      scales.length = 0
    },
  }
}

/** Writes a vector as signed bytes and returns the factor that converts them to a unit vector. Padding is already zero. */
function quantise(vector: Float32Array, bytes: Int8Array, addresses: { coarse: number; fine: number }): number {
  let largest = 0
  let squares = 0
  for (const value of vector) {
    largest = Math.max(largest, Math.abs(value))
    squares += value * value
  }
  // A zero vector, or one that is not finite.
  if (largest === 0 || !Number.isFinite(squares)) return 0
  const factor = byteLimit / largest
  for (let index = 0; index < vector.length; index++) {
    const exact = vector[index]! * factor
    const rounded = Math.round(exact)
    bytes[addresses.coarse + index] = rounded
    bytes[addresses.fine + index] = Math.round((exact - rounded) * fineSteps)
  }
  return largest / byteLimit / Math.sqrt(squares)
}
