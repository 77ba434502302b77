import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

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

/**
 * The pieces that o200k encodes one by one: words with the sign or space before and the contraction behind them, up to three digits,
 * runs of signs, runs of white space. Equal to the regular expression of the encoding, but linear for every text, without its
 * backtracking.
 */

// What the expression distinguishes. Zero is a character not classified yet.
const unknown = 0
/** Lu and Lt. */
const upper = 1
/** Ll. */
const lower = 2
/** Lm, Lo: fits where upper case does and where lower case does. */
const caseless = 3
/** M: like a caseless letter, and also a sign. */
const mark = 4
const digit = 5
const blank = 6
/** CR and LF. */
const newline = 7
const sign = 8
/** Past the end of the text. */
const nothing = 9

/** Class of each code point, filled as they appear. The pages of unused scripts take no memory. */
const classes = new Uint8Array(0x11_0000)

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (character === '\r' || character === '\n') return newline
  // As OpenAI's implementation defines it; JavaScript's \s lacks U+0085 and has U+FEFF.
  if (/\p{White_Space}/u.test(character)) return blank
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return upper
  if (/\p{Ll}/u.test(character)) return lower
  if (/\p{L}/u.test(character)) return caseless
  if (/\p{M}/u.test(character)) return mark
  return /\p{N}/u.test(character) ? digit : sign
}

function classAt(text: string, index: number): number {
  if (index >= text.length) return nothing
  const codePoint = text.codePointAt(index)!
  const known = classes[codePoint]!
  return known === unknown ? (classes[codePoint] = classify(codePoint)) : known
}

/** The index after the character at `index`. */
function after(text: string, index: number): number {
  return index + (text.codePointAt(index)! > 0xffff ? 2 : 1)
}

/** Where the piece that starts at `start` ends; `start` is inside the text. */
function pieceEnd(text: string, start: number): number {
  const first = classAt(text, start)
  const second = after(text, start)
  const mayLeadWord = first === blank || first === sign || first === mark
  const end =
    (mayLeadWord && endOfLowerWord(text, second)) ||
    endOfLowerWord(text, start) ||
    (mayLeadWord && endOfUpperWord(text, second)) ||
    endOfUpperWord(text, start)
  if (end) return end + contractionLength(text, end)
  if (first === digit) return endOfDigits(text, start)
  if (first === sign || first === mark) return endOfSigns(text, start)
  const afterSpace = text.charCodeAt(start) === 32 ? classAt(text, second) : nothing
  if (afterSpace === sign || afterSpace === mark) return endOfSigns(text, second)
  return endOfBlanks(text, start)
}

/** `[upper caseless mark]* [lower caseless mark]+`, or 0. */
function endOfLowerWord(text: string, start: number): number {
  let index = start
  let endOfLastCaseless = 0
  for (;;) {
    const kind = classAt(text, index)
    if (kind === lower) return endOfLowerRun(text, index)
    if (kind !== upper && kind !== caseless && kind !== mark) return endOfLastCaseless
    index = after(text, index)
    if (kind !== upper) endOfLastCaseless = index
  }
}

/** `[upper caseless mark]+ [lower caseless mark]*`, or 0. */
function endOfUpperWord(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== upper && kind !== caseless && kind !== mark) break
    index = after(text, index)
  }
  return index === start ? 0 : endOfLowerRun(text, index)
}

function endOfLowerRun(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== lower && kind !== caseless && kind !== mark) return index
    index = after(text, index)
  }
}

/** 2 for 's 'd 'm 't, 3 for 'll 've 're, in either case; otherwise 0. */
function contractionLength(text: string, start: number): number {
  if (text.charCodeAt(start) !== 39) return 0
  if (/^[sdmt]/i.test(text[start + 1] ?? '')) return 2
  return /^(?:ll|ve|re)$/i.test(text.slice(start + 1, start + 3)) ? 3 : 0
}

function endOfDigits(text: string, start: number): number {
  let index = start
  for (let count = 0; count < 3 && classAt(text, index) === digit; count++) index = after(text, index)
  return index
}

/** Signs and marks, then slashes and line ends. */
function endOfSigns(text: string, start: number): number {
  let index = start
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== sign && kind !== mark) break
    index = after(text, index)
  }
  while (index < text.length && '\r\n/'.includes(text[index]!)) index++
  return index
}

/** White space up to its last line end; without one, all but the last character, which leads the next piece. */
function endOfBlanks(text: string, start: number): number {
  let index = start
  let endOfLastLine = 0
  for (;;) {
    const kind = classAt(text, index)
    if (kind !== blank && kind !== newline) break
    // All white space is in the Basic Multilingual Plane: one unit each.
    index++
    if (kind === newline) endOfLastLine = index
  }
  if (endOfLastLine > 0) return endOfLastLine
  return index === text.length || index === start + 1 ? index : index - 1
}

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
function rankOf({ bytes, starts, slots }: Vocabulary, text: Uint8Array, start: number, end: number): number {
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
