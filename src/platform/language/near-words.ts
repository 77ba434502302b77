import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress, brotliDecompressSync } from 'node:zlib'
import type { Language } from './languages.ts'

export interface NearWord {
  word: string
  /** 0..1; synonyms have about 1. */
  strength: number
}

/** Written by scripts/write-near-words.ts; see `packPairs` there. */
const packedFile = new URL('./near-words.br', import.meta.url)
const fullStrength = 15

interface NearTable {
  words: readonly string[]
  ids: ReadonlyMap<string, number>
  /** The near words of word `id` are at `starts[id]` to `starts[id + 1]`. */
  starts: Uint32Array
  near: Uint16Array
  strengths: Uint8Array
}

let table: NearTable | undefined

/** English words that are near in meaning to a word or its base form, nearest first. None in other languages. Reads the table once. */
export function nearWords(word: string, language: Language): NearWord[] {
  if (language !== 'en') return []
  table ??= readTable()
  const { words, ids, starts, near, strengths } = table
  const id = baseForms(word)
    .map((form) => ids.get(form))
    .find((found) => found !== undefined)
  if (id === undefined) return []
  const found = Array.from(near.subarray(starts[id], starts[id + 1]), (other, at) => ({
    word: words[other]!,
    strength: strengths[starts[id]! + at]! / fullStrength,
  }))
  return found.sort((left, right) => right.strength - left.strength)
}

const endings: readonly (readonly [RegExp, string])[] = [
  [/ies$/, 'y'],
  [/(?<=[sxz]|ch|sh)es$/, ''],
  [/s$/, ''],
  [/ied$/, 'y'],
  [/ed$/, 'e'],
  [/ed$/, ''],
  [/ing$/, 'e'],
  [/ing$/, ''],
  [/(?<=([b-df-hj-np-tv-z]))\1(?:ed|ing)$/, ''],
]

/** The word and what it may be a form of. */
function baseForms(word: string): string[] {
  return [word, ...endings.flatMap(([ending, base]) => (ending.test(word) ? [word.replace(ending, base)] : []))]
}

/** Reads the packed table (0.6 MB). Loops by index, because there are half a million pairs. */
function readTable(): NearTable {
  const bytes = brotliDecompressSync(readFileSync(packedFile))
  const named = readWords(bytes)
  return { ...named, ...readNear(bytes, named) }
}

let loading: Promise<void> | undefined

/** Reads the table in turns of the event loop; `nearWords` reads it at once where this was not awaited. */
export async function loadNearWords(language: Language): Promise<void> {
  if (language === 'en') await (loading ??= load())
}

async function load(): Promise<void> {
  const bytes = await promisify(brotliDecompress)(await readFile(packedFile))
  const named = readWords(bytes)
  await nextTurn()
  table ??= { ...named, ...readNear(bytes, named) }
}

function readWords(bytes: Buffer): Pick<NearTable, 'words' | 'ids'> {
  const head = JSON.parse(bytes.toString('utf8', 4, endOfHead(bytes))) as { words: string }
  const words = head.words.split(' ')
  return { words, ids: new Map(words.map((word, id) => [word, id])) }
}

const endOfHead = (bytes: Buffer) => 4 + bytes.readUInt32LE()

function readNear(bytes: Buffer, { words }: Pick<NearTable, 'words'>): Omit<NearTable, 'words' | 'ids'> {
  const { from, to, strength } = readPairs(bytes.subarray(endOfHead(bytes)), words.length)
  const starts = new Uint32Array(words.length + 1)
  for (let pair = 0; pair < from.length; pair++) {
    starts[from[pair]! + 1]!++
    starts[to[pair]! + 1]!++
  }
  for (let id = 0; id < words.length; id++) starts[id + 1]! += starts[id]!
  const next = starts.slice()
  const near = new Uint16Array(2 * from.length)
  const strengths = new Uint8Array(2 * from.length)
  const add = (own: number, other: number, value: number) => {
    near[next[own]!] = other
    strengths[next[own]!++] = value
  }
  for (let pair = 0; pair < from.length; pair++) {
    add(from[pair]!, to[pair]!, strength[pair]!)
    add(to[pair]!, from[pair]!, strength[pair]!)
  }
  return { starts, near, strengths }
}

/** A pair takes at least two bytes. */
function readPairs(bytes: Buffer, words: number) {
  const from = new Uint16Array(bytes.length / 2)
  const to = new Uint16Array(from.length)
  const strength = new Uint8Array(from.length)
  let at = 0
  let pairs = 0
  const read = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  for (let word = 0; word < words; word++) {
    let other = word
    for (let left = read(); left > 0; left--) {
      other += read()
      from[pairs] = word
      to[pairs] = other
      strength[pairs++] = bytes[at++]!
    }
  }
  return { from: from.subarray(0, pairs), to: to.subarray(0, pairs), strength: strength.subarray(0, pairs) }
}
