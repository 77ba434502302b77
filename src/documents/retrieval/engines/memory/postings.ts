import {
  allVariants,
  type Bm25Norm,
  bm25Norm,
  bm25Score,
  chooseTerms,
  type QueryTerm,
  variantWeights,
} from '../../lexical/bm25.ts'
import { createGrowable, type Growable } from './growable.ts'
import type { TopList } from './top-list.ts'

/** What ranking needs to know about the chunks of a Space. */
export interface RankedChunks {
  /** By ordinal; 0: hidden. */
  visible: Uint8Array
  /** Terms of each chunk, repeats counted. */
  lengths: Uint32Array
  /** Places of the arrays above that are in use. */
  length: number
  /** Visible ones, and their mean length. */
  visibleChunks: number
  averageLength: number
  /** Chunks are hidden because a filter excludes their documents. */
  isFiltered: boolean
}

export const droppedOrdinal = 0xffff_ffff

/** An entry is the ordinal and, in its low bits, the number of occurrences; more would hardly change a BM25 score. */
const countBits = 6
const maximumCount = 2 ** countBits - 1
/** 67 million chunks of one Space. */
export const maximumOrdinal = 2 ** (32 - countBits) - 1

type Entries = Growable<Uint32Array>
const noEntries = new Uint32Array()

/** An inverted index of one Space: which chunks contain which term, and how often. 4 bytes an entry. */
export class Postings {
  /** Most terms of a language occur once: those are kept without a list. */
  #lists = new Map<number, number | Entries>()
  #entries = 0

  /** Entries in all: one for each term that a chunk contains. */
  get entries(): number {
    return this.#entries
  }

  /** The terms of the next ordinal, sorted, a term as often as it occurs. */
  add(ordinal: number, terms: Int32Array): void {
    if (ordinal > maximumOrdinal) throw new RangeError(`a Space holds at most ${maximumOrdinal} chunks in memory`)
    for (let start = 0; start < terms.length;) {
      const term = terms[start]!
      let end = start + 1
      while (end < terms.length && terms[end] === term) end++
      this.#append(this.#lists, term, ordinal * (maximumCount + 1) + Math.min(end - start, maximumCount))
      start = end
    }
  }

  /** Offers every visible chunk that contains one of the terms, with its BM25 score. */
  offerAll(terms: readonly QueryTerm[], chunks: RankedChunks, top: TopList): void {
    const { visible, length, visibleChunks, isFiltered } = chunks
    const scores = new Float32Array(length)
    const norm = bm25Norm(chunks)
    const isAllVisible = visibleChunks === length
    const frequencyOf = (list: Uint32Array) => (isAllVisible ? list.length : countVisible(list, visible))
    // Hidden chunks of a whole Space are few; those outside of a filter are not.
    const roughFrequencyOf = isFiltered ? frequencyOf : (list: Uint32Array) => list.length
    const chosen = chooseTerms(terms, (term) => roughFrequencyOf(this.#entriesOf(term)), visibleChunks)
    const lists = allVariants(chosen).map((term) => this.#entriesOf(term))
    const frequencies = lists.map(frequencyOf)
    const weights = variantWeights(chosen, frequencies, visibleChunks)
    for (const [variant, list] of lists.entries()) addScores(scores, list, weights[variant]!, chunks, norm)
    let threshold = Math.max(0, top.threshold())
    for (let ordinal = 0; ordinal < length; ordinal++) {
      if (scores[ordinal]! <= threshold) continue
      top.offer(ordinal, scores[ordinal]!)
      threshold = Math.max(0, top.threshold())
    }
  }

  /** Renames ordinals; `newOrdinals[old]` is the new one, or `droppedOrdinal`. Order is kept. */
  renumber(newOrdinals: Uint32Array): void {
    const renumbered = new Map<number, number | Entries>()
    this.#entries = 0
    for (const term of this.#lists.keys()) {
      for (const entry of this.#entriesOf(term)) {
        const ordinal = newOrdinals[entry >>> countBits]!
        if (ordinal === droppedOrdinal) continue
        this.#append(renumbered, term, ordinal * (maximumCount + 1) + (entry & maximumCount))
      }
    }
    this.#lists = renumbered
  }

  #append(lists: Map<number, number | Entries>, term: number, entry: number): void {
    const known = lists.get(term)
    if (known === undefined) lists.set(term, entry)
    else if (typeof known === 'number') {
      const list = createGrowable((length) => new Uint32Array(length), 4)
      list.push(known)
      list.push(entry)
      lists.set(term, list)
    } else known.push(entry)
    this.#entries++
  }

  /** Always a typed array: loops over arrays of one kind are several times faster. */
  #entriesOf(term: number): Uint32Array {
    const list = this.#lists.get(term)
    if (list === undefined) return noEntries
    return typeof list === 'number' ? Uint32Array.of(list) : list.values.subarray(0, list.length)
  }
}

function countVisible(entries: Uint32Array, visible: Uint8Array): number {
  let count = 0
  for (let index = 0; index < entries.length; index++) count += visible[entries[index]! >>> countBits]!
  return count
}

/** Without closures and without arrays of several kinds: it reads hundreds of thousands of entries for a long conversation. */
function addScores(
  scores: Float32Array,
  entries: Uint32Array,
  weight: number,
  { visible, lengths }: RankedChunks,
  norm: Bm25Norm,
): void {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!
    const ordinal = entry >>> countBits
    if (visible[ordinal] === 0) continue
    scores[ordinal]! += bm25Score(weight, entry & maximumCount, lengths[ordinal]!, norm)
  }
}
