import type { SpaceHeader } from '../../contract/space-archives.ts'

/** Vectors one after the other, little-endian. Both forms are exact: a vector that was stored in 2 bytes a dimension is exported in 2. */

export type VectorForm = Pick<NonNullable<SpaceHeader['embedder']>, 'dimensions' | 'values'>

const valueBytes = { float32: 4, float16: 2 } as const

export const bytesPerVector = ({ dimensions, values }: VectorForm): number => dimensions * valueBytes[values]

export function writeVectors({ dimensions, values }: VectorForm, vectors: readonly Float32Array[]): Uint8Array {
  const size = valueBytes[values]
  const bytes = new Uint8Array(vectors.length * dimensions * size)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const vector of vectors) {
    for (const value of vector) {
      if (size === 4) view.setFloat32(at, value, true)
      else view.setFloat16(at, value, true)
      at += size
    }
  }
  return bytes
}

/** `bytes` has whole vectors. Undefined: a value is not a finite number. */
export function readVectors({ dimensions, values }: VectorForm, bytes: Uint8Array): Float32Array[] | undefined {
  const size = valueBytes[values]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const vectors: Float32Array[] = []
  for (let start = 0; start < bytes.length; start += dimensions * size) {
    const vector = new Float32Array(dimensions)
    for (let index = 0; index < dimensions; index++) {
      const value =
        size === 4 ? view.getFloat32(start + index * size, true) : view.getFloat16(start + index * size, true)
      if (!Number.isFinite(value)) return undefined
      vector[index] = value
    }
    vectors.push(vector)
  }
  return vectors
}
