import type { Claims } from './claims.ts'
import { type Evidence, headSegment } from './evidence.ts'
import { type Figure, numbersOf } from './read-figures.ts'

/**
 * A figure counts where its sentence or a neighbour has this share of the words of the best matching sentence.
 */
const nearShare = 0.3
/** So many more words and figures name a row clearly. */
const clearAnchors = 2
/** Most rows with a figure that are compared with the others. */
const maximumRows = 50

/** Which segments of a passage deal with the same as a sentence. */
export interface NearSegments {
  /** Whether a figure of the sentence that a segment has means the same there. */
  has: (figureIndex: number, segment: number) => boolean
  /** Whether a sentence of the passage, no row, deals with the same. */
  isClose: (segment: number) => boolean
  /** Most words of the sentence that one part of the passage and its neighbours have. */
  mostWords: number
  /** A word of the sentence is in the segment, or next to it. */
  isNamed: (segment: number) => boolean
  /** The rows that no other row surpasses, and the sentences that have most words: what a sum in the sentence may be computed from. */
  best: (rowsBy: RowsBy) => ReadonlySet<number>
}

/**
 * By all words, without those of the table's header, which name a column (a row may have them as well), or only rows whose whole name the
 * sentence has: "common stock" next to "preferred common stock".
 */
export type RowsBy = 'words' | 'words of no header' | 'names'

/** `found`: the segments of each figure. */
export function findNearSegments(
  claims: Claims,
  { words, segments, isRow, rowNames, keyNumbers, columns }: Evidence,
  found: readonly (readonly number[])[],
): NearSegments {
  const counts = new Uint16Array(segments)
  const anchors = createAnchors()
  const ofHeader = new Set<number>()
  for (const [index, keys] of claims.words.entries()) {
    for (const segment of rowsOf(keys, words, isRow)) anchors.add(segment, index)
    const own = new Set<number>()
    for (const key of keys) for (const segment of words.get(key) ?? []) own.add(segment)
    // The title and the headings belong to all segments, so their words do not distinguish them.
    if (keys.some((key) => columns.has(key))) ofHeader.add(index)
    if (own.has(headSegment)) continue
    const near = new Set<number>()
    for (const segment of own) {
      near.add(segment)
      if (!isRow[segment]) for (const at of [segment - 1, segment + 1]) if (isRow[at] === false) near.add(at)
    }
    for (const segment of near) counts[segment]!++
  }
  for (const [index, figure] of claims.figures.entries()) {
    if (figure.type !== 'number') continue
    for (const segment of new Set(found[index])) {
      if (segment === headSegment || !isRow[segment]) continue
      if (isKey(figure, keyNumbers[segment]!)) anchors.addName(segment, claims.words.length + index, index)
      else anchors.addFigure(segment, index)
    }
  }
  const named = findNamed(claims, rowNames)
  const most = counts.reduce((best, count) => Math.max(best, count), 0)
  const least = most * nearShare
  return {
    mostWords: most,
    has: (figureIndex, segment) =>
      segment === headSegment ||
      (isRow[segment]
        ? !named.isOther(segment) && anchors.isBest(figureIndex, segment, claims.words.length + figureIndex)
        : counts[segment]! >= least),
    isClose: (segment) => isRow[segment] === false && counts[segment]! > 0 && counts[segment]! >= least,
    isNamed: (segment) => segment !== headSegment && counts[segment]! > 0,
    best: (rowsBy) =>
      new Set([
        ...(rowsBy === 'names' ? named.rows() : anchors.best(rowsBy === 'words' ? noWords : ofHeader)),
        ...[...counts.keys()].filter((segment) => !isRow[segment] && most > 0 && counts[segment] === most),
      ]),
  }
}

type RowName = Evidence['rowNames'][number]

/** Whether words and numbers of a sentence, by their keys, are the whole name of a row. */
export const isWholeName = (name: RowName, claimed: ReadonlySet<string | number>) =>
  name.length > 0 && name.every((keys) => keys.some((key) => claimed.has(key)))

/** The rows whose whole name the sentence has; `isOther`: there are some, and nothing else names this one. */
function findNamed({ words, figures }: Claims, rowNames: Evidence['rowNames']) {
  const claimed = new Set<string | number>(figures.length === 0 ? [] : [...words, ...numbersOf(figures)].flat())
  const isClaimed = (keys: readonly (string | number)[]) => keys.some((key) => claimed.has(key))
  const isNamed = (name: RowName) => isWholeName(name, claimed)
  // A number alone may be an amount.
  const isClear = (name: RowName) => isNamed(name) && name.flat().some((key) => typeof key === 'string')
  const ofNamed = new Set(rowNames.filter(isClear).flat(2))
  return {
    rows: () => [...rowNames.keys()].filter((row) => isNamed(rowNames[row]!)),
    isOther(segment: number): boolean {
      const name = rowNames[segment]!
      if (ofNamed.size === 0 || isNamed(name)) return false
      return !name.some((keys) => isClaimed(keys) && !keys.some((one) => ofNamed.has(one)))
    },
  }
}

const noWords: ReadonlySet<number> = new Set()

/** The rows with a word; those that only begin like it where no row has the word itself. */
function rowsOf(keys: readonly string[], words: Evidence['words'], isRow: readonly boolean[]): readonly number[] {
  for (const key of keys) {
    const rows = (words.get(key) ?? []).filter((segment) => isRow[segment])
    if (rows.length > 0) return rows
  }
  return []
}

function isKey({ readings }: Extract<Figure, { type: 'number' }>, keys: ReadonlySet<number>): boolean {
  return keys.size > 0 && readings.some((reading) => reading.every((value) => keys.has(value)))
}

/** What of a sentence names each row of a table or list: words, and figures in its first cell. */
function createAnchors() {
  const ofRow = new Map<number, Set<number>>()
  const figuresOf = new Map<number, Set<number>>()
  const namesOf = new Map<number, Set<number>>()
  const into = (map: Map<number, Set<number>>, row: number, item: number) => {
    const known = map.get(row)
    if (known) known.add(item)
    else map.set(row, new Set([item]))
  }
  return {
    add: (row: number, anchor: number) => into(ofRow, row, anchor),
    addFigure: (row: number, figure: number) => into(figuresOf, row, figure),
    addName(row: number, anchor: number, figure: number) {
      into(ofRow, row, anchor)
      into(namesOf, row, figure)
    },
    /** Rows that are not named by a part of what names another one. */
    best(ofHeader: ReadonlySet<number>): number[] {
      const named = [...ofRow].map(([row, own]): [number, Set<number>] => [row, own.difference(ofHeader)])
      const isNamed = named.some(([, own]) => own.size > 0)
      const rows = (isNamed ? named.filter(([, own]) => own.size > 0) : [...ofRow])
        .toSorted(([, left], [, right]) => right.size - left.size)
        .slice(0, maximumRows)
      return rows
        .filter(([, own]) => !rows.some(([, other]) => other.size > own.size && own.isSubsetOf(other)))
        .map(([row]) => row)
    },
    /**
     * Whether no other row is named by all that names this one, and by more. A row with another figure of the sentence belongs to that figure: of "from
     * 2019 to 2020" each year names a row.
     */
    isBest(figure: number, row: number, asAnchor: number): boolean {
      const figures = namesOf.get(row)?.has(figure) ? namesOf : figuresOf
      const own = [...(ofRow.get(row) ?? [])].filter((anchor) => anchor !== asAnchor)
      let compared = 0
      for (const [other, anchors] of ofRow) {
        if (other === row || anchors.size <= own.length) continue
        if (++compared > maximumRows) break
        const others = figures.get(other)
        // "The matt one costs 14.90, the other one 24.90": not where several words name the other row.
        const isNear = anchors.size - own.length < clearAnchors
        if (isNear && others && [...others].some((one) => one !== figure && !figures.get(row)?.has(one))) continue
        const size = anchors.has(asAnchor) ? anchors.size - 1 : anchors.size
        if (size > own.length && own.every((anchor) => anchors.has(anchor))) return false
      }
      return true
    },
  }
}
