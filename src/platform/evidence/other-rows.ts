import type { Claims } from './claims.ts'
import { type Evidence, headSegment } from './evidence.ts'
import { isWholeName } from './near-segments.ts'
import { isWhole } from './read-cells.ts'
import { numbersOf } from './read-figures.ts'

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
