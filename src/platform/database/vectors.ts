/** Binary formats of pgvector (vector.c `vector_recv`, halfvec.c `halfvec_recv`): dimensions, zero, then the values. Below, that of arrays. */

const headerBytes = 4

/** The binary form of a `vector` parameter (`$1::vector`): 4 bytes a dimension, big-endian. */
export function encodeVector(values: ArrayLike<number>): Uint8Array {
  // A separate buffer, not from Node's shared pool, so that it can be transferred to another thread.
  const bytes = Buffer.allocUnsafeSlow(headerBytes + values.length * 4)
  bytes.writeUInt16BE(values.length, 0)
  bytes.writeUInt16BE(0, 2)
  for (let index = 0; index < values.length; index++) bytes.writeFloatBE(values[index]!, headerBytes + index * 4)
  return bytes
}

/** The binary form of a `halfvec` parameter (`$1::halfvec`): 2 bytes a dimension, big-endian IEEE 754 binary16. */
export function encodeHalfVector(values: ArrayLike<number>): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(headerBytes + values.length * 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  view.setUint16(0, values.length)
  view.setUint16(2, 0)
  for (let index = 0; index < values.length; index++) view.setFloat16(headerBytes + index * 2, values[index]!)
  return bytes
}

/** What `vector_send` returns: the form of `encodeVector`. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: view.getInt16(0) }, (_, index) => view.getFloat32(headerBytes + index * 4))
}

/** What `array_send` returns for an int[] (arrayfuncs.c): a head of 20 bytes, then length and value of each. */
export function decodeIntegers(bytes: Uint8Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isEmpty = view.getInt32(0) === 0
  const count = isEmpty ? 0 : view.getInt32(12)
  return Int32Array.from({ length: count }, (_, index) => view.getInt32(24 + index * 8))
}
