import type { Claims } from './claims.ts'
import { type Evidence, headSegment } from './evidence.ts'
import { isWhole } from './read-cells.ts'
import { numbersOf } from './read-figures.ts'

/** A value of cells that the sentence names completely. */
interface Named {
  rows: Set<number>
  columns: Set<number>
  /** Which words and numbers of the sentence name it. */
  items: ReadonlySet<number>
}

/**
 * Whether the sentence names values that no row has together: "the capital of Angola is Algiers". Values of one column may be listed or compared;
 * those of other columns belong to the same row, directly or by a value between them. Not for sentences that deny something.
 */
export function isOfOtherRows(claims: Claims, evidence: Evidence): boolean {
  if (!evidence.isRow.includes(true) || claims.capitals.size === 0) return false
  const values = namedValues(claims, evidence)
  if (values.length < 2 || claims.clauses(evidence.language).some(({ denied }) => denied !== null)) return false
  const groups: Named[] = []
  for (const value of values) {
    const own = groups.filter((group) => !group.rows.isDisjointFrom(value.rows))
    for (const group of own) groups.splice(groups.indexOf(group), 1)
    groups.push({
      items: value.items,
      rows: new Set([value, ...own].flatMap(({ rows }) => [...rows])),
      columns: new Set([value, ...own].flatMap(({ columns }) => [...columns])),
    })
  }
  return groups.some((group, at) => groups.slice(at + 1).some((other) => group.columns.isDisjointFrom(other.columns)))
}

/** Most values of a sentence that are compared with each other. */
const maximumValues = 40

function namedValues(claims: Claims, { cells, words }: Evidence): Named[] {
  const { places, ofKey } = cells()
  const itemsOf = new Map<number, Set<number>>()
  const capitals = new Set<number>()
  // What title and header have names no row by itself.
  const isOfHead = (key: string | number) => words.get(String(key))?.[0] === headSegment
  const items = [...claims.words.map((keys) => keys.filter(isWhole)), ...numbersOf(claims.figures)]
  for (const [item, keys] of items.entries()) {
    if (keys.some((key) => claims.capitals.has(String(key))) && !keys.some(isOfHead)) capitals.add(item)
    for (const cell of new Set(keys.flatMap((key) => ofKey.get(key) ?? []))) {
      const known = itemsOf.get(cell)
      if (known) known.add(item)
      else itemsOf.set(cell, new Set([item]))
    }
  }
  const values = new Map<string, Named>()
  for (const [at, own] of itemsOf) {
    const { size, row, column, text } = places[at]!
    if (own.size < size || own.isDisjointFrom(capitals)) continue
    const known = values.get(text)
    if (known) {
      known.rows.add(row)
      known.columns.add(column)
    } else if (values.size < maximumValues)
      values.set(text, { rows: new Set([row]), columns: new Set([column]), items: own })
  }
  // "Williams" is a part of "David Williams".
  const all = [...values.values()]
  return all.filter(
    ({ items: own }) => !all.some(({ items: others }) => others.size > own.size && own.isSubsetOf(others)),
  )
}
