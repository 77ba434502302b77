import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

/**
 * The tokens of OpenAI's o200k encoding as one packed hash table: 4.3 MB instead of the 60 MB that a `Map` of strings takes. It is in
 * shared memory, so the threads of one process hold it once.
 */
export interface Vocabulary {
  /** The bytes of all tokens, one after another in the order of their ranks. */
  bytes: Uint8Array
  /** Where the bytes of a rank start; one more entry than ranks. */
  starts: Uint32Array
  /** Open addressing: rank + 1, or 0 for an empty slot. Its size is a power of two. */
  slots: Uint32Array
}

/** The longest token of o200k, in bytes (a run of spaces). Bounds the cost of one look-up. */
const longestTokenBytes = 128

/** About 2.6 slots for each of the 199,998 tokens: 1.2 probes on average. */
const slotCount = 1 << 19

/** Written by scripts/write-vocabulary.ts; see `packVocabulary` there. */
const packedFile = new URL('./o200k-base.vocabulary.br', import.meta.url)

/** Reads the packed table (0.8 MB) in about 40 ms. Synchronous: for worker threads and child processes. */
export function loadVocabulary(): Vocabulary {
  const packed = brotliDecompressSync(readFileSync(packedFile))
  const tokens = packed.readUInt32LE(0)
  const lengths = packed.subarray(4, 4 + tokens)
  const text = packed.subarray(4 + tokens)
  const vocabulary: Vocabulary = {
    bytes: new Uint8Array(new SharedArrayBuffer(text.length)),
    starts: new Uint32Array(new SharedArrayBuffer((tokens + 1) * 4)),
    slots: new Uint32Array(new SharedArrayBuffer(slotCount * 4)),
  }
  vocabulary.bytes.set(text)
  for (let rank = 0; rank < tokens; rank++) {
    vocabulary.starts[rank + 1] = vocabulary.starts[rank]! + lengths[rank]!
    addToSlots(vocabulary, rank)
  }
  if (vocabulary.starts[tokens] !== text.length) throw new Error('the token table is incomplete')
  return vocabulary
}

function addToSlots({ bytes, starts, slots }: Vocabulary, rank: number) {
  let slot = hashOf(bytes, starts[rank]!, starts[rank + 1]!) & (slots.length - 1)
  while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
  slots[slot] = rank + 1
}

/** The rank of the token that has exactly the bytes from `start` to `end`, or -1. */
export function rankOf({ bytes, starts, slots }: Vocabulary, text: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length > longestTokenBytes) return -1
  let slot = hashOf(text, start, end) & (slots.length - 1)
  for (;;) {
    const rank = slots[slot]! - 1
    if (rank === -1) return -1
    const tokenStart = starts[rank]!
    if (starts[rank + 1]! - tokenStart === length) {
      let index = 0
      while (index < length && bytes[tokenStart + index] === text[start + index]) index++
      if (index === length) return rank
    }
    slot = (slot + 1) & (slots.length - 1)
  }
}

/** FNV-1a with a final mix, so that short tokens spread over all slots. */
function hashOf(text: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ text[index]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
