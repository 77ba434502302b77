import type { Claims } from './claims.ts'
import { type Evidence, headSegment, type PartNumber } from './evidence.ts'
import { type Figure, isYear, numbersOf } from './read-figures.ts'
import { isWhole } from './words.ts'

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
const isWholeName = (name: RowName, claimed: ReadonlySet<string | number>) =>
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

function isKey({ readings }: NumberFigure, keys: ReadonlySet<number>): boolean {
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

/**
 * Whether a row has a figure only in columns of other years than the sentence names, or only in columns that it does not name while it names
 * another column of numbers. Of a sentence with one number besides years: of several, each may be in its own column. A figure of the title is
 * compared with the rows that the sentence names.
 */
export function findOtherColumns(
  { figures, words }: Claims,
  evidence: Evidence,
): (figure: Figure, segment: number) => boolean {
  const { columns, isRow, keyNumbers, partNumbers, rowNames } = evidence
  const values = figures.flatMap((figure) => (figure.type === 'number' ? [figure.readings[0]![0]!] : []))
  if (columns.size === 0) return () => false
  const columnsOfYears = (isNamed: boolean) =>
    new Set(
      [...columns].flatMap(([key, own]) =>
        typeof key === 'number' && isYear(key) && values.includes(key) === isNamed ? [...own] : [],
      ),
    )
  const named = columnsOfYears(true)
  const ofOtherYears = named.size === 0 ? named : columnsOfYears(false).difference(named)
  const claimed = new Set<string | number>(words.flat())
  const wordsBesides = (row: number) =>
    words.filter((keys) => !keys.some((key) => evidence.words.get(key)?.includes(row)))
  /** Whether the sentence names a row, and one column, in which that has another number. */
  const hasOther = (row: number, meant: ReadonlySet<number>, figure: NumberFigure) => {
    const numbers = partNumbers[row]!.filter(({ column }) => meant.has(column))
    return (
      meant.size === 1 &&
      numbers.length > 0 &&
      numbers.every((number) => number.isAlone && !isSame(number, figure)) &&
      isWholeName(rowNames[row]!, claimed)
    )
  }
  const mayHaveWordOf = (row: number, column: number) => {
    const { places, ofKey } = evidence.cells()
    const cells = new Set([...places.keys()].filter((at) => places[at]!.row === row && places[at]!.column === column))
    if (cells.size > 0) return words.some((keys) => keys.some((key) => ofKey.get(key)?.some((at) => cells.has(at))))
    // The words of a longer cell are known only as those of its row.
    const ofName = new Set(rowNames[row]!.flat())
    return words.some((keys) =>
      keys.some((key) => !ofName.has(key) && (evidence.words.get(key)?.includes(row) ?? false)),
    )
  }
  return (figure, segment) => {
    if (figure.type !== 'number') return false
    if (segment === headSegment) {
      if (values.length > 1) return false
      const rows = [...rowNames.keys()]
        .filter((row) => isRow[row] && isWholeName(rowNames[row]!, claimed))
        .slice(0, maximumRows)
      return rows.length > 0 && rows.every((row) => hasOther(row, mostNamed(wordsBesides(row), columns), figure))
    }
    if (!isRow[segment]) return false
    const numbers = partNumbers[segment]!
    const own = numbers.filter((number) => isSame(number, figure))
    const others = values.filter((value) => !isYear(value) && !keyNumbers[segment]!.has(value))
    if (own.length === 0 || (values.length > 1 && others.length !== 1)) return false
    if (own.every(({ column }) => ofOtherYears.has(column))) return true
    const meant = mostNamed(wordsBesides(segment), columns)
    // "The north has 40 % of the revenue" next to a column of amounts.
    if (
      figure.isPercent &&
      own.some(({ isPercent }) => isPercent) &&
      !numbers.some(({ column, isPercent }) => isPercent && meant.has(column))
    )
      return false
    return (
      numbers.some(({ column }) => meant.has(column)) &&
      own.every(
        ({ column, isAlone }) =>
          column > 0 &&
          !meant.has(column) &&
          (isAlone || (hasOther(segment, meant, figure) && !mayHaveWordOf(segment, column))),
      )
    )
  }
}

type NumberFigure = Extract<Figure, { type: 'number' }>
const isSame = ({ value }: PartNumber, { readings }: NumberFigure) => readings.some(([first]) => first === value)

/** The columns whose header has most of some words and numbers, each with its keys; empty where it has none. */
export function mostNamed(
  words: readonly (readonly (string | number)[])[],
  columns: Evidence['columns'],
): ReadonlySet<number> {
  const counts = new Map<number, number>()
  for (const keys of words) {
    const named = new Set(keys.flatMap((key) => [...(columns.get(key) ?? [])]))
    for (const column of named) counts.set(column, (counts.get(column) ?? 0) + 1)
  }
  const most = Math.max(0, ...counts.values())
  return new Set([...counts].filter(([, count]) => count === most).map(([column]) => column))
}

/** A value of cells that the sentence names completely. */
interface Named {
  rows: Set<number>
  columns: Set<number>
  /** Which words and numbers of the sentence name it. */
  items: ReadonlySet<number>
  keys: ReadonlySet<string | number>
}

/**
 * Whether the sentence names values that no row has together: "the capital of Angola is Algiers". Values of one column may be listed or compared;
 * those of other columns belong to the same row, directly or by a value between them. Not for sentences that deny something.
 */
export function isOfOtherRows(claims: Claims, evidence: Evidence): boolean {
  if (!evidence.isRow.includes(true)) return false
  if (claims.clauses(evidence.language).some(({ denied }) => denied !== null)) return false
  const groups: Named[] = []
  for (const value of namedValues(claims, evidence)) {
    const own = groups.filter((group) => !group.rows.isDisjointFrom(value.rows))
    for (const group of own) groups.splice(groups.indexOf(group), 1)
    groups.push({
      ...value,
      rows: new Set([value, ...own].flatMap(({ rows }) => [...rows])),
      columns: new Set([value, ...own].flatMap(({ columns }) => [...columns])),
    })
  }
  return hasApart(groups)
}

/**
 * Whether the sentence denies once, and names a row and a value of other rows, each whole: "Angola's capital is not Algiers" is true where that is the
 * capital of another one.
 */
export function deniesOtherRow(claims: Claims, evidence: Evidence): boolean {
  if (!evidence.isRow.includes(true)) return false
  const denials = claims.clauses(evidence.language).filter(({ denied }) => denied !== null)
  if (denials.length !== 1 || !denials[0]!.isNegated) return false
  const values = namedValues(claims, evidence)
  if (!hasApart(values)) return false
  // "The Adelie is not male, but lives on Dream": what it denies is in its row.
  const { denied } = denials[0]!
  const { ofKey, places } = evidence.cells()
  const rows = new Set(denied!.flatMap((key) => ofKey.get(key) ?? []).map((at) => places[at]!.row))
  const isDenied = ({ keys }: Named) => denied!.some((key) => keys.has(key))
  return !values.some((value) => !isDenied(value) && !value.rows.isDisjointFrom(rows))
}

/** So many words show that another line is meant. */
const leastWordsOfOther = 2

/**
 * Whether the sentence names one line of a list by its term, and nearly all its words that only such lines have are those of another line: "a viewer manages
 * invoices" next to "Billing: manages invoices". Not for sentences that deny something.
 */
export function isOfOtherLine(claims: Claims, { cells, isRow, rowNames, words, language }: Evidence): boolean {
  if (!isRow.includes(true) || cells().places.length > 0) return false
  const claimed = new Set<string | number>(claims.words.flat())
  const [line, ...others] = [...rowNames.keys()].filter((row) => isWholeName(rowNames[row]!, claimed))
  if (line === undefined || others.length > 0 || claims.clauses(language).some(({ denied }) => denied !== null))
    return false
  const ofName = new Set(rowNames[line]!.flat())
  const counts = new Map<number, number>()
  let ownWords = 0
  let total = 0
  for (const keys of claims.words) {
    if (keys.some((key) => ofName.has(key))) continue
    const places = new Set(keys.filter(isWhole).flatMap((key) => words.get(key) ?? []))
    if (places.size === 0) continue
    if (places.has(line)) {
      ownWords++
      continue
    }
    if ([...places].some((at) => !isRow[at] || rowNames[at]!.length === 0)) continue
    total++
    for (const at of places) counts.set(at, (counts.get(at) ?? 0) + 1)
  }
  return total >= leastWordsOfOther * (1 + ownWords) && [...counts.values()].includes(total)
}

/** Whether two values have no row and no column in common. */
const hasApart = (values: readonly Named[]) =>
  values.some((left, at) =>
    values
      .slice(at + 1)
      .some((right) => left.rows.isDisjointFrom(right.rows) && left.columns.isDisjointFrom(right.columns)),
  )

/** Most values of a sentence that are compared with each other. */
const maximumValues = 40

function namedValues(claims: Claims, { cells, words, isRow }: Evidence): Named[] {
  const { places, ofKey } = cells()
  const itemsOf = new Map<number, Set<number>>()
  const capitals = new Set<number>()
  /** Words that only cells have. */
  const ofCells = new Set<number>()
  // What title and header have names no row by itself.
  const isOfHead = (key: string | number) => words.get(String(key))?.[0] === headSegment
  const isOfText = (key: string | number) => words.get(String(key))?.some((at) => !isRow[at]) ?? false
  const items = [...claims.words.map((keys) => keys.filter(isWhole)), ...numbersOf(claims.figures)]
  for (const [item, keys] of items.entries()) {
    if (keys.some((key) => claims.capitals.has(String(key))) && !keys.some(isOfHead)) capitals.add(item)
    if (keys.some((key) => typeof key === 'string') && !keys.some(isOfText)) ofCells.add(item)
    for (const cell of new Set(keys.flatMap((key) => ofKey.get(key) ?? []))) {
      const known = itemsOf.get(cell)
      if (known) known.add(item)
      else itemsOf.set(cell, new Set([item]))
    }
  }
  const values = new Map<string, Named>()
  for (const [at, own] of itemsOf) {
    const { size, row, column, text, isWhole: isCell } = places[at]!
    if (own.size < size || own.isDisjointFrom(isCell ? ofCells.union(capitals) : capitals)) continue
    const known = values.get(text)
    if (known) {
      known.rows.add(row)
      known.columns.add(column)
    } else if (values.size < maximumValues)
      values.set(text, {
        rows: new Set([row]),
        columns: new Set([column]),
        items: own,
        keys: new Set([...own].flatMap((item): readonly (string | number)[] => items[item]!)),
      })
  }
  // "Williams" is a part of "David Williams".
  const all = [...values.values()]
  return all.filter(
    ({ items: own }) => !all.some(({ items: others }) => others.size > own.size && own.isSubsetOf(others)),
  )
}
