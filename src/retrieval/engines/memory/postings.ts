import { allVariants, bm25B, bm25K1, chooseTerms, type QueryTerm, variantWeights } from '../../lexical/bm25.ts'
import { createGrowable, type Growable } from './growable.ts'
import type { TopList } from './top-list.ts'

/** Which chunks of one Space hold which term, and how often: an inverted index, 4 bytes an entry. */
export interface Postings {
  /** Entries in all: one for each term that a chunk holds. */
  readonly entries: number
  /** The terms of the next ordinal, sorted, a term as often as it occurs. */
  add(ordinal: number, terms: Int32Array): void
  /** Offers every chunk that holds one of the terms and is visible, with its BM25 score; of many terms the most telling count. */
  offerAll(terms: readonly QueryTerm[], chunks: RankedChunks, top: TopList): void
  /** Renames ordinals; `newOrdinals[old]` is the new one, or `droppedOrdinal`. Order is kept. */
  renumber(newOrdinals: Uint32Array): void
}

/** What ranking has to know of the chunks. */
export interface RankedChunks {
  /** 0: not to be found. */
  visible: Uint8Array
  /** Terms of each chunk, repeats counted. */
  lengths: Uint32Array
  /** Places of the arrays above that are in use. */
  length: number
  /** Visible ones, and their mean length. */
  visibleChunks: number
  averageLength: number
}

export const droppedOrdinal = 0xffff_ffff

/** An entry is the ordinal and, in its low bits, how often the term occurs: BM25 is all but flat from there on. */
const countBits = 6
const maximumCount = 2 ** countBits - 1
/** 67 million chunks of one Space. */
export const maximumOrdinal = 2 ** (32 - countBits) - 1

type List = Growable<Uint32Array>

export function createPostings(): Postings {
  /** Most terms of a language occur once: those are kept without a list. */
  let lists = new Map<number, number | List>()
  let entries = 0

  function append(target: typeof lists, term: number, entry: number): void {
    const known = target.get(term)
    if (known === undefined) target.set(term, entry)
    else if (typeof known === 'number') {
      const list = createGrowable((length) => new Uint32Array(length), 4)
      list.push(known)
      list.push(entry)
      target.set(term, list)
    } else known.push(entry)
    entries++
  }

  function entriesOf(term: number): { count: number; values: ArrayLike<number> } {
    const list = lists.get(term)
    if (list === undefined) return { count: 0, values: [] }
    return typeof list === 'number' ? { count: 1, values: [list] } : { count: list.length, values: list.values }
  }

  const heldBy = (term: number): number => entriesOf(term).count

  function visibleIn(term: number, visible: Uint8Array): number {
    const { count, values } = entriesOf(term)
    let frequency = 0
    for (let index = 0; index < count; index++) frequency += visible[values[index]! >>> countBits]!
    return frequency
  }

  return {
    get entries() {
      return entries
    },
    add(ordinal, terms) {
      if (ordinal > maximumOrdinal) throw new RangeError(`a Space holds at most ${maximumOrdinal} chunks in memory`)
      for (let start = 0; start < terms.length;) {
        const term = terms[start]!
        let end = start + 1
        while (end < terms.length && terms[end] === term) end++
        append(lists, term, ordinal * (maximumCount + 1) + Math.min(end - start, maximumCount))
        start = end
      }
    },
    offerAll(terms, { visible, lengths, length, visibleChunks, averageLength }, top) {
      const scores = new Float32Array(length)
      const dampingPerTerm = (bm25K1 * bm25B) / Math.max(1, averageLength)
      const chosen = chooseTerms(terms, heldBy, visibleChunks)
      const variants = allVariants(chosen)
      const frequencies = variants.map((term) => visibleIn(term, visible))
      const weights = variantWeights(chosen, frequencies, visibleChunks)
      for (const [variant, term] of variants.entries()) {
        const { count, values } = entriesOf(term)
        const weight = weights[variant]! * (bm25K1 + 1)
        for (let index = 0; index < count; index++) {
          const ordinal = values[index]! >>> countBits
          if (visible[ordinal] === 0) continue
          const occurrences = values[index]! & maximumCount
          const damping = bm25K1 * (1 - bm25B) + dampingPerTerm * lengths[ordinal]!
          scores[ordinal]! += (weight * occurrences) / (occurrences + damping)
        }
      }
      let threshold = Math.max(0, top.threshold())
      for (let ordinal = 0; ordinal < length; ordinal++) {
        if (scores[ordinal]! <= threshold) continue
        top.offer(ordinal, scores[ordinal]!)
        threshold = Math.max(0, top.threshold())
      }
    },
    renumber(newOrdinals) {
      const renumbered: typeof lists = new Map()
      entries = 0
      for (const [term, list] of lists) {
        const count = typeof list === 'number' ? 1 : list.length
        const values = typeof list === 'number' ? [list] : list.values
        for (let index = 0; index < count; index++) {
          const ordinal = newOrdinals[values[index]! >>> countBits]!
          if (ordinal === droppedOrdinal) continue
          append(renumbered, term, ordinal * (maximumCount + 1) + (values[index]! & maximumCount))
        }
      }
      lists = renumbered
    },
  }
}
