/**
 * The memory of long bodies. Garbage collection alone frees it late, and V8 counts these bytes: with a few bodies of 1 MB at the same time it
 * collects the whole heap all the time. So the memory is freed when a call has ended, unless a socket may still read it.
 */

/** How many senders may still read the memory. */
const lent = new WeakMap<ArrayBufferLike, number>()

/** Called before bytes are given to a socket. Their memory is not freed before `endLoan`; without it, it is left to garbage collection. */
export function lend(slices: readonly Buffer[]): void {
  for (const { buffer } of slices) lent.set(buffer, (lent.get(buffer) ?? 0) + 1)
}

/** Called when the system has taken all bytes: no native code reads them any more. */
export function endLoan(slices: readonly Buffer[]): void {
  for (const { buffer } of slices) lent.set(buffer, lent.get(buffer)! - 1)
}

/** Frees the memory of chunks that nothing will read. Keeps that which other buffers share, or which is lent. */
export function freeMemory(chunks: readonly Buffer[]): void {
  for (const { buffer, length } of chunks) {
    if (length > 0 && length === buffer.byteLength && !lent.get(buffer)) (buffer as ArrayBuffer).transfer(0)
  }
}
