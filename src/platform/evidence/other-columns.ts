import type { Claims } from './claims.ts'
import type { Evidence } from './evidence.ts'
import type { Figure } from './read-figures.ts'

const isYear = (value: number) => Number.isInteger(value) && value >= 1_500 && value <= 2_100

/**
 * Whether a row has a figure only in columns of other years than the sentence names, or only in columns that it does not name while it names
 * another column of numbers. Of a sentence with one number besides years: of several, each may be in its own column.
 */
export function findOtherColumns(
  { figures, words }: Claims,
  evidence: Evidence,
): (figure: Figure, segment: number) => boolean {
  const { columns, isRow, keyNumbers, partNumbers } = evidence
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
  return (figure, segment) => {
    if (figure.type !== 'number' || !isRow[segment]) return false
    const numbers = partNumbers[segment]!
    const own = numbers.filter(({ value }) => figure.readings.some(([first]) => first === value))
    const others = values.filter((value) => !isYear(value) && !keyNumbers[segment]!.has(value))
    if (own.length === 0 || (values.length > 1 && others.length !== 1)) return false
    if (own.every(({ column }) => ofOtherYears.has(column))) return true
    const meant = mostNamed(
      words.filter((keys) => !keys.some((key) => evidence.words.get(key)?.includes(segment))),
      columns,
    )
    return (
      numbers.some(({ column }) => meant.has(column)) &&
      own.every(({ column, isAlone }) => column > 0 && isAlone && !meant.has(column))
    )
  }
}

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
