import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The tokens of OpenAI's o200k encoding as one packed hash table: 5 MB instead of the 60 MB that a `Map` of strings takes. It is in
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

/** Reads the table of the package, 3.6 MB of base64, in about 50 ms. Synchronous: for worker threads and child processes. */
export function loadVocabulary(): Vocabulary {
  return parseVocabulary(readFileSync(fileURLToPath(import.meta.resolve('gpt-tokenizer/data/o200k_base.tiktoken'))))
}

/** Lines of `base64 rank`, with ranks from 0 without gaps. */
function parseVocabulary(file: Uint8Array): Vocabulary {
  const size = sizeOf(file)
  const vocabulary: Vocabulary = {
    bytes: new Uint8Array(new SharedArrayBuffer(size.bytes)),
    starts: new Uint32Array(new SharedArrayBuffer((size.tokens + 1) * 4)),
    slots: new Uint32Array(new SharedArrayBuffer(slotCount * 4)),
  }
  let position = 0
  let end = 0
  for (let rank = 0; rank < size.tokens; rank++) {
    const start = end
    let bits = 0
    let bitCount = 0
    for (; file[position] !== space; position++) {
      const value = base64Values[file[position]!]!
      if (value === padding) continue
      bits = ((bits << 6) | value) & 0xffff
      bitCount += 6
      if (bitCount >= 8) {
        bitCount -= 8
        vocabulary.bytes[end++] = bits >> bitCount
      }
    }
    let written = 0
    for (position++; file[position] !== lineEnd; position++) written = written * 10 + file[position]! - 48
    position++
    if (written !== rank || end - start > longestTokenBytes)
      throw new Error(`the token table has no valid rank ${rank}`)
    vocabulary.starts[rank + 1] = end
    addToSlots(vocabulary, rank)
  }
  return vocabulary
}

const space = 32
const lineEnd = 10
const padding = 64

const base64Values = new Uint8Array(256).fill(padding)
for (const [value, letter] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  base64Values[letter.charCodeAt(0)] = value
}

function sizeOf(file: Uint8Array): { tokens: number; bytes: number } {
  if (file.at(-1) !== lineEnd) throw new Error('the token table is incomplete: its last line has no end')
  let tokens = 0
  for (const byte of file) if (byte === lineEnd) tokens++
  // Three quarters of the base64 text is an upper bound of the bytes.
  return { tokens, bytes: Math.ceil((file.length * 3) / 4) }
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
