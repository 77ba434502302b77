import { createGrowable } from './growable.ts'
import { createPostings, droppedOrdinal } from './postings.ts'
import {
  type ResidentCandidate,
  type ResidentDocument,
  type ResidentQuery,
  type ResidentRows,
  type ResidentRun,
  unpackTerms,
} from './messages.ts'
import { createTopList } from './top-list.ts'
import type { VectorArena } from './vector-arena.ts'
import { createVectorSet } from './vector-set.ts'

/** The words and vectors of one Space in memory, searched exactly. */
export interface SpaceIndex {
  /** Adds chunks of a run; they are found once `settle` has said that the run is searchable. Known chunks are left alone while loading. */
  add(run: ResidentRun, rows: ResidentRows): void
  /** Takes over what the database says: chunks of other runs of these documents go. */
  settle(documents: readonly ResidentDocument[]): void
  /** Everything of the database is here: from now on nothing comes twice. */
  complete(): void
  search(query: ResidentQuery): ResidentCandidate[]
  bytes(): number
  clear(): void
}

interface Run extends ResidentRun {
  number: number
  searchable: boolean
  /** Ordinals from, until; in order. */
  ranges: [number, number][]
}

const idBytes = 16
/** Dead chunks are dropped when they are more than this share of all. */
const compactAboveShare = 0.25
const compactAboveChunks = 1_000
/** An entry of a list, its growth and its share of the map. Measured on texts of 150 words: 5.5. */
const bytesPerEntry = 6
/** Id, run, length and visibility of a chunk. */
const bytesPerChunk = idBytes + 4 + 4 + 1

export function createSpaceIndex(arena: VectorArena, dimensions: number): SpaceIndex {
  const vectors = createVectorSet(arena, dimensions)
  const postings = createPostings()
  const ids = createGrowable((length) => new Uint8Array(length))
  const lengths = createGrowable((length) => new Uint32Array(length))
  const visible = createGrowable((length) => new Uint8Array(length))
  const runOf = createGrowable((length) => new Uint32Array(length))
  const runs = new Map<number, Run>()
  const runsByDocument = new Map<string, Run[]>()
  /** While loading, what is there already: rows that come in meanwhile are read from the database as well. */
  let known: Set<string> | null = new Set()
  let nextRun = 0
  let dead = 0
  let visibleChunks = 0
  let visibleTerms = 0

  function runFor({ documentId, runId }: ResidentRun): Run {
    const siblings = runsByDocument.get(documentId) ?? []
    const found = siblings.find((run) => run.runId === runId)
    if (found) return found
    const run: Run = { documentId, runId, number: nextRun++, searchable: false, ranges: [] }
    runs.set(run.number, run)
    runsByDocument.set(documentId, [...siblings, run])
    return run
  }

  function show(run: Run, searchable: boolean): void {
    if (run.searchable === searchable) return
    run.searchable = searchable
    for (const [from, until] of run.ranges) setVisible(from, until, searchable)
  }

  function setVisible(from: number, until: number, isVisible: boolean): void {
    visible.values.fill(isVisible ? 1 : 0, from, until)
    const sign = isVisible ? 1 : -1
    visibleChunks += sign * (until - from)
    for (let ordinal = from; ordinal < until; ordinal++) visibleTerms += sign * lengths.values[ordinal]!
  }

  function remove(run: Run): void {
    show(run, false)
    runs.delete(run.number)
    dead += run.ranges.reduce((sum, [from, until]) => sum + until - from, 0)
  }

  /** Drops the chunks of removed runs and renumbers the others. */
  function compact(): void {
    const kept = new Uint32Array(lengths.length - dead)
    const newOrdinals = new Uint32Array(lengths.length).fill(droppedOrdinal)
    let count = 0
    for (const run of runs.values()) run.ranges = []
    for (let ordinal = 0; ordinal < lengths.length; ordinal++) {
      const run = runs.get(runOf.values[ordinal]!)
      if (!run) continue
      extend(run, count, count + 1)
      newOrdinals[ordinal] = count
      kept[count++] = ordinal
    }
    for (const [ordinal, former] of kept.entries()) {
      ids.values.copyWithin(ordinal * idBytes, former * idBytes, (former + 1) * idBytes)
      for (const column of [lengths, visible, runOf]) column.values[ordinal] = column.values[former]!
    }
    ids.length = count * idBytes
    for (const column of [lengths, visible, runOf]) column.length = count
    vectors.compact(kept)
    postings.renumber(newOrdinals)
    dead = 0
  }

  function candidate(ordinal: number, wordScore: number | null, similarity: number | null): ResidentCandidate {
    const { documentId, runId } = runs.get(runOf.values[ordinal]!)!
    const chunkId = formatUuid(ids.values.subarray(ordinal * idBytes, (ordinal + 1) * idBytes))
    return { chunkId, documentId, runId, wordScore, similarity }
  }

  return {
    add(ofRun, rows) {
      const run = runFor(ofRun)
      const dimensionsOf = rows.vectors.length / Math.max(1, rows.hasVector.length)
      if (rows.vectors.length > 0 && dimensionsOf !== dimensions) {
        throw new Error(`vectors of ${dimensionsOf} dimensions came for a Space of ${dimensions}`)
      }
      if (rows.chunkIds.length !== rows.lengths.length * idBytes) throw new Error('a chunk came without its id')
      const first = lengths.length
      let term = 0
      for (let row = 0; row < rows.lengths.length; row++) {
        const id = rows.chunkIds.subarray(row * idBytes, (row + 1) * idBytes)
        const length = rows.lengths[row]!
        const terms = rows.terms.subarray(term, term + length)
        term += length
        if (known && isKnown(known, id)) continue
        const ordinal = lengths.length
        postings.add(ordinal, terms)
        vectors.add(rows.hasVector[row] === 1 ? rows.vectors.subarray(row * dimensions, (row + 1) * dimensions) : null)
        for (const byte of id) ids.push(byte)
        lengths.push(length)
        visible.push(0)
        runOf.push(run.number)
      }
      extend(run, first, lengths.length)
      if (run.searchable) setVisible(first, lengths.length, true)
    },
    settle(documents) {
      for (const { documentId, runId, searchable } of documents) {
        const siblings = runsByDocument.get(documentId) ?? []
        for (const run of siblings) if (run.runId !== runId) remove(run)
        runsByDocument.delete(documentId)
        if (runId === null) continue
        const own = siblings.find((run) => run.runId === runId)
        if (own) runsByDocument.set(documentId, [own])
        show(own ?? runFor({ documentId, runId }), searchable)
      }
      if (dead > compactAboveChunks && dead > lengths.length * compactAboveShare) compact()
    },
    complete() {
      known = null
    },
    search({ terms: packed, vector, limit, similarityFloor }) {
      const words = createTopList(limit)
      const terms = unpackTerms(packed)
      const averageLength = visibleTerms / Math.max(1, visibleChunks)
      const chunks = {
        visible: visible.values,
        lengths: lengths.values,
        length: lengths.length,
        visibleChunks,
        averageLength,
      }
      if (terms.length > 0) postings.offerAll(terms, chunks, words)
      const nearest = vector ? vectors.nearest(vector, visible.values, limit, similarityFloor) : []
      const found = new Map<number, ResidentCandidate>()
      for (const { ordinal, score } of words.take()) {
        found.set(ordinal, candidate(ordinal, score, vector ? vectors.similarityTo(ordinal) : null))
      }
      for (const { ordinal, score } of nearest) {
        if (!found.has(ordinal)) found.set(ordinal, candidate(ordinal, null, score))
      }
      return [...found.values()]
    },
    bytes: () => lengths.length * (bytesPerChunk + vectors.bytesPerVector) + postings.entries * bytesPerEntry,
    clear: () => vectors.clear(),
  }
}

/** Adds ordinals to a run, to its last range where they follow it. */
function extend(run: Run, from: number, until: number): void {
  if (from === until) return
  const last = run.ranges.at(-1)
  if (last?.[1] === from) last[1] = until
  else run.ranges.push([from, until])
}

/** Whether the id has been seen before; from now on it has. */
function isKnown(known: Set<string>, id: Uint8Array): boolean {
  const key = Buffer.from(id.buffer, id.byteOffset, id.length).toString('latin1')
  if (known.has(key)) return true
  known.add(key)
  return false
}

function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
