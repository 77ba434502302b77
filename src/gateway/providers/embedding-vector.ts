import { unreadableAnswer } from './wire-failure.ts'

/**
 * One embedding as a vector: an array of numbers (floats, or integers of a quantised embedding), or base64 of 32-bit floats or of int8.
 * Throws ProviderError on anything else: a NaN would invalidate every distance to the vector.
 */
export function readVector(row: unknown): Float32Array {
  if (typeof row === 'string') return readBase64(row)
  const whole = Array.isArray(row) && row.length > 0 && row.every((value) => Number.isFinite(value))
  if (!whole) throw unreadableAnswer('an embedding', true)
  return Float32Array.from(row as number[])
}

/** Embeddings as vectors; at least one. Throws ProviderError on anything else. */
export function readVectors(rows: unknown): Float32Array[] {
  if (!Array.isArray(rows) || rows.length === 0) throw unreadableAnswer('an embedding', true)
  return rows.map(readVector)
}

/** Kinds of quantised embeddings in order of preference; `binary` ones are packed bits and not supported. */
const kinds = ['float', 'int8', 'uint8', 'base64'] as const

/** Arrays of an object by kind (Cohere, Titan): floats if present. */
export function rowsByKind(embeddings: Record<string, unknown>): unknown {
  return kinds.map((kind) => embeddings[kind]).find((rows) => Array.isArray(rows) && rows.length > 0)
}

/** No embedding has a larger component. Four int8 bytes read as a float nearly always exceed it or are almost zero. */
const largestComponent = 1_000
const smallestComponent = 1e-12
/** No int8 embedding has fewer dimensions; fewer bytes are invalid. */
const fewestInt8 = 32

function readBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0) throw unreadableAnswer('embeddings', true)
  const floats = bytes.length % 4 === 0 ? readFloats(bytes) : undefined
  if (floats) return floats
  if (bytes.length < fewestInt8) throw unreadableAnswer('embeddings', true)
  // Perplexity's default is int8.
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}

/** Little-endian 32-bit floats; undefined if the bytes do not look like floats. */
function readFloats(bytes: Buffer): Float32Array | undefined {
  const vector = new Float32Array(bytes.length / 4)
  let vanishing = 0
  for (let index = 0; index < vector.length; index++) {
    const value = bytes.readFloatLE(index * 4)
    if (!Number.isFinite(value) || Math.abs(value) > largestComponent) return undefined
    if (value !== 0 && Math.abs(value) < smallestComponent) vanishing++
    vector[index] = value
  }
  return vanishing * 4 > vector.length ? undefined : vector
}
