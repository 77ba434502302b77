import { createGrowable } from './growable.ts'
import {
  type ChunkColumns,
  type DocumentRun,
  type DocumentState,
  type MemoryCandidate,
  type MemoryQuery,
  unpackTerms,
} from './messages.ts'
import { droppedOrdinal, Postings } from './postings.ts'
import { createTopList } from './top-list.ts'
import type { VectorArena } from './vector-arena.ts'
import { createVectorSet, type VectorSet } from './vector-set.ts'

interface Run extends DocumentRun {
  number: number
  searchable: boolean
  /** Ordinals from, until; in order. */
  ranges: [number, number][]
}

/** The chunks that one search may find. */
interface ShownChunks {
  /** By ordinal; 0: hidden. */
  visible: Uint8Array
  chunks: number
  /** Of all of them, repeats counted. */
  terms: number
}

const idBytes = 16
/** Chunks of removed runs are dropped when they are more than this share of all. */
const compactAboveShare = 0.25
const compactAboveChunks = 1_000
/** An entry of a list, its growth and its share of the map. Measured on texts of 150 words: 5.5. */
const bytesPerEntry = 6
/** Id, run, length and visibility of a chunk. */
const bytesPerChunk = idBytes + 4 + 4 + 1

/** The terms and vectors of one Space in memory, searched exactly. Chunks have ordinals, in the order in which they are added. */
export class SpaceIndex {
  readonly #dimensions: number
  readonly #vectors: VectorSet
  readonly #postings = new Postings()
  readonly #ids = createGrowable((length) => new Uint8Array(length))
  readonly #lengths = createGrowable((length) => new Uint32Array(length))
  readonly #visible = createGrowable((length) => new Uint8Array(length))
  readonly #runOf = createGrowable((length) => new Uint32Array(length))
  readonly #runs = new Map<number, Run>()
  readonly #runsByDocument = new Map<string, Run[]>()
  /** The ids of all chunks while loading: chunks that are staged meanwhile are also read from the database. */
  #loadedIds: Set<string> | null = new Set()
  #nextRun = 0
  /** Chunks of removed runs. */
  #removed = 0
  #visibleChunks = 0
  #visibleTerms = 0

  constructor(arena: VectorArena, dimensions: number) {
    this.#dimensions = dimensions
    this.#vectors = createVectorSet(arena, dimensions)
  }

  /** Adds chunks of a run, which are found once the run is searchable. Ignores duplicates until `complete`. */
  add(ofRun: DocumentRun, columns: ChunkColumns): void {
    this.#check(columns)
    const run = this.#runFor(ofRun)
    const first = this.#lengths.length
    let term = 0
    for (let row = 0; row < columns.lengths.length; row++) {
      const id = columns.chunkIds.subarray(row * idBytes, (row + 1) * idBytes)
      const length = columns.lengths[row]!
      const terms = columns.terms.subarray(term, term + length)
      term += length
      if (this.#loadedIds && !addNew(this.#loadedIds, id)) continue
      const from = row * this.#dimensions
      this.#postings.add(this.#lengths.length, terms)
      this.#vectors.add(columns.hasVector[row] === 1 ? columns.vectors.subarray(from, from + this.#dimensions) : null)
      for (const byte of id) this.#ids.push(byte)
      this.#lengths.push(length)
      this.#visible.push(0)
      this.#runOf.push(run.number)
    }
    extend(run, first, this.#lengths.length)
    if (run.searchable) this.#setVisible(first, this.#lengths.length, true)
  }

  /** Applies the documents' state in the corpus: chunks of their other runs are removed. */
  update(documents: readonly DocumentState[]): void {
    for (const { documentId, runId, searchable } of documents) {
      const siblings = this.#runsByDocument.get(documentId) ?? []
      for (const run of siblings) if (run.runId !== runId) this.#remove(run)
      this.#runsByDocument.delete(documentId)
      if (runId === null) continue
      const own = siblings.find((run) => run.runId === runId)
      if (own) this.#runsByDocument.set(documentId, [own])
      this.#show(own ?? this.#runFor({ documentId, runId }), searchable)
    }
    const isCostly = this.#removed > this.#lengths.length * compactAboveShare
    if (this.#removed > compactAboveChunks && isCostly) this.#compact()
  }

  /** The Space is loaded: there are no duplicates from now on. */
  complete(): void {
    this.#loadedIds = null
  }

  search({ terms: packed, vector, limit, similarityFloor, documents }: MemoryQuery): MemoryCandidate[] {
    const best = createTopList(limit)
    const terms = unpackTerms(packed)
    const shown = documents ? this.#only(documents) : this.#shown()
    const chunks = {
      visible: shown.visible,
      lengths: this.#lengths.values,
      length: this.#lengths.length,
      visibleChunks: shown.chunks,
      averageLength: shown.terms / Math.max(1, shown.chunks),
      isFiltered: documents !== null,
    }
    if (terms.length > 0) this.#postings.offerAll(terms, chunks, best)
    const nearest = vector ? this.#vectors.nearest(vector, shown.visible, limit, similarityFloor) : []
    const found = new Map<number, MemoryCandidate>()
    for (const { ordinal, score } of best.take()) {
      found.set(ordinal, this.#candidate(ordinal, score, vector ? this.#vectors.similarityTo(ordinal) : null))
    }
    for (const { ordinal, score } of nearest) {
      if (!found.has(ordinal)) found.set(ordinal, this.#candidate(ordinal, null, score))
    }
    return [...found.values()]
  }

  #shown(): ShownChunks {
    return { visible: this.#visible.values, chunks: this.#visibleChunks, terms: this.#visibleTerms }
  }

  /** The visible chunks of these documents: they are ranked as if the Space had no others. */
  #only(documents: Uint8Array): ShownChunks {
    const visible = new Uint8Array(this.#lengths.length)
    let chunks = 0
    let terms = 0
    for (let at = 0; at < documents.length; at += idBytes) {
      for (const run of this.#runsByDocument.get(formatUuid(documents.subarray(at, at + idBytes))) ?? []) {
        if (!run.searchable) continue
        for (const [from, until] of run.ranges) {
          visible.fill(1, from, until)
          chunks += until - from
          for (let ordinal = from; ordinal < until; ordinal++) terms += this.#lengths.values[ordinal]!
        }
      }
    }
    return { visible, chunks, terms }
  }

  bytes(): number {
    return (
      this.#lengths.length * (bytesPerChunk + this.#vectors.bytesPerVector) + this.#postings.entries * bytesPerEntry
    )
  }

  clear(): void {
    this.#vectors.clear()
  }

  #check({ chunkIds, lengths, vectors, hasVector }: ChunkColumns): void {
    const dimensions = vectors.length / Math.max(1, hasVector.length)
    if (vectors.length > 0 && dimensions !== this.#dimensions) {
      throw new Error(`vectors of ${dimensions} dimensions were added to a Space of ${this.#dimensions}`)
    }
    if (chunkIds.length !== lengths.length * idBytes) throw new Error('a chunk has no id')
  }

  #candidate(ordinal: number, lexicalScore: number | null, similarity: number | null): MemoryCandidate {
    const { documentId } = this.#runs.get(this.#runOf.values[ordinal]!)!
    const chunkId = formatUuid(this.#ids.values.subarray(ordinal * idBytes, (ordinal + 1) * idBytes))
    return { chunkId, documentId, lexicalScore, similarity }
  }

  #runFor({ documentId, runId }: DocumentRun): Run {
    const siblings = this.#runsByDocument.get(documentId) ?? []
    const found = siblings.find((run) => run.runId === runId)
    if (found) return found
    const run: Run = { documentId, runId, number: this.#nextRun++, searchable: false, ranges: [] }
    this.#runs.set(run.number, run)
    this.#runsByDocument.set(documentId, [...siblings, run])
    return run
  }

  #show(run: Run, searchable: boolean): void {
    if (run.searchable === searchable) return
    run.searchable = searchable
    for (const [from, until] of run.ranges) this.#setVisible(from, until, searchable)
  }

  #setVisible(from: number, until: number, isVisible: boolean): void {
    this.#visible.values.fill(isVisible ? 1 : 0, from, until)
    const sign = isVisible ? 1 : -1
    this.#visibleChunks += sign * (until - from)
    for (let ordinal = from; ordinal < until; ordinal++) this.#visibleTerms += sign * this.#lengths.values[ordinal]!
  }

  #remove(run: Run): void {
    this.#show(run, false)
    this.#runs.delete(run.number)
    this.#removed += run.ranges.reduce((sum, [from, until]) => sum + until - from, 0)
  }

  /** Drops the chunks of removed runs and renumbers the others. */
  #compact(): void {
    const columns = [this.#lengths, this.#visible, this.#runOf]
    const kept = new Uint32Array(this.#lengths.length - this.#removed)
    const newOrdinals = new Uint32Array(this.#lengths.length).fill(droppedOrdinal)
    let count = 0
    for (const run of this.#runs.values()) run.ranges = []
    for (let ordinal = 0; ordinal < this.#lengths.length; ordinal++) {
      const run = this.#runs.get(this.#runOf.values[ordinal]!)
      if (!run) continue
      extend(run, count, count + 1)
      newOrdinals[ordinal] = count
      kept[count++] = ordinal
    }
    for (const [ordinal, former] of kept.entries()) {
      this.#ids.values.copyWithin(ordinal * idBytes, former * idBytes, (former + 1) * idBytes)
      for (const column of columns) column.values[ordinal] = column.values[former]!
    }
    this.#ids.length = count * idBytes
    for (const column of columns) column.length = count
    this.#vectors.compact(kept)
    this.#postings.renumber(newOrdinals)
    this.#removed = 0
  }
}

/** Adds ordinals to a run, to its last range where they follow it. */
function extend(run: Run, from: number, until: number): void {
  if (from === until) return
  const last = run.ranges.at(-1)
  if (last?.[1] === from) last[1] = until
  else run.ranges.push([from, until])
}

/** Adds the id; false if it was there. */
function addNew(ids: Set<string>, id: Uint8Array): boolean {
  const key = Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1')
  if (ids.has(key)) return false
  ids.add(key)
  return true
}

function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
