import type { Claims, Operation } from './claims.ts'
import type { Figure } from './read-figures.ts'
import type { Evidence } from './evidence.ts'

/** Most numbers of one group; it bounds the time. */
const maximumOperands = 24
/** Most rows or sentences of one passage that numbers are taken from. */
const maximumParts = 8
/** So few numbers are what is computed, not some of many: two cells of a table, or the only two of a text. */
const exactOperands = 2
/** Largest chance that a wrong number would be accepted because some numbers happen to give it. */
const maximumChance = 0.06
/** Sentences have numbers of many kinds next to each other. */
const maximumChanceOfProse = 0.01

/** Two rows that the sentence names have one sum and one difference in each column. */
const maximumChanceOfPair = 0.2

/** What a number of a sentence may be computed from. */
export interface Operands {
  /** The numbers of the sentence that a passage has. */
  own: readonly number[]
  /** All its numbers: also the quantity that a question names. */
  claimed: readonly number[]
  /** The numbers of each part of the passages that deals with the same, in their order. */
  parts: readonly (readonly number[])[]
  /** The numbers where a row and a column meet that the sentence names. */
  cells: readonly number[]
  /** The numbers of each column of a table in the rows that the sentence names, two rows or more. */
  columns: readonly (readonly number[])[]
  /** Some of `parts` are rows of a table. */
  hasRows: boolean
  /** The numbers of the sentence that no passage has. */
  missing: readonly number[]
  /** The rows of each passage. */
  rowCounts: readonly number[]
  /** The whole columns of numbers of each passage. */
  totals: readonly { sum: number; count: number }[]
}

/**
 * Whether a number results from others by one of the operations that the sentence names. Groups of numbers: those of the sentence itself, of each
 * part of a passage, of each column of these parts, and all of them. The more results a group has near a number, the less its result
 * proves: then it does not count. Time is bounded by the operands. `isElsewhere`: another row or column of the table has the number; then only
 * numbers that the sentence names count.
 */
export function derivedFrom(
  operands: Operands,
  operations: ReadonlySet<Operation>,
): (figure: Figure, isElsewhere: boolean) => boolean {
  const { own, parts, cells, columns, hasRows, rowCounts, totals, claimed, missing } = operands
  const used = parts.slice(0, maximumParts).map((part) => part.slice(0, maximumOperands))
  const all = [...new Map([...own, ...used.flat()].map((value) => [Math.abs(value), value])).values()]
  const exact = [cells, all].find(({ length }) => length === exactOperands)
  const limit = hasRows ? maximumChance : maximumChanceOfProse
  const limitOfPair = operations.has('average') || operations.has('percent') ? limit : maximumChanceOfPair
  // A row may also have what is between two cells, "from 2022 to 2024"; of rows whose whole name is given, with no other parts, all columns count.
  const ofRows = exact === cells && parts.length > 0 ? [] : columns
  const others = exact
    ? used.filter((part) => exact.every((value) => part.includes(value)))
    : [...used, ...columnsOf(used), all]
  const groups = [...new Set([exact ?? cells, ...others])]
    .map((group) => ({ group, limit: group === exact ? Infinity : limit }))
    .concat(ofRows.map((group) => ({ group, limit: group.length === exactOperands ? limitOfPair : limit })))
    .filter(({ group }) => group.length <= maximumOperands)
  const isResult = (value: number, precision: number, isElsewhere: boolean) =>
    (operations.has('count') && rowCounts.includes(value)) ||
    isPairOf(own, { value, precision, operations }) ||
    isTotal(totals, { value, precision, operations }) ||
    groups.some(
      ({ group, limit: own }) =>
        (own > limit || !isElsewhere) &&
        isLikely(group, { value, precision, operations, claimed, hasRows, limit: own }),
    )
  const isCounting = hasRows && claimed.length > 1 && (operations.has('sum') || operations.has('average'))
  return (figure, isElsewhere) =>
    writtenValues(figure).some(
      ([value, precision]) =>
        isResult(value, precision, isElsewhere) ||
        // "Over the three years": how many numbers were added.
        (isCounting && [...used, ...columns].some(({ length }) => length === value)) ||
        // "3 tickets cost 36": the 3 is a quantity.
        (operations.has('product') && missing.some((other) => isMultiple(other, value, all))),
    )
}

/** What a figure may mean, each with the unit of its last digit. */
function writtenValues(figure: Figure): [value: number, precision: number][] {
  if (figure.type !== 'number') return []
  return figure.readings.flatMap((reading) => {
    const [value] = reading
    if (value === undefined || reading.length > 1 || value === 0) return []
    const precision = 10 ** -(String(value).split('.')[1]?.length ?? 0)
    return [1, ...figure.scales].map((scale): [number, number] => [value * scale, precision * scale])
  })
}

/** The value of a number with one reading and no scale. */
export function plainValueOf(figure: Figure): number | null {
  if (figure.type !== 'number' || figure.scales.length > 0 || figure.readings.length !== 1) return null
  const [reading] = figure.readings
  return reading!.length === 1 ? reading![0]! : null
}

/** The numbers at the same place of rows that have equally many. */
function columnsOf(parts: readonly (readonly number[])[]): number[][] {
  const [first] = parts
  if (first === undefined || parts.length < 2 || parts.some(({ length }) => length !== first.length)) return []
  return first.map((_, column) => parts.map((part) => part[column]!))
}

export const isYear = (value: number) => Number.isInteger(value) && value >= 1_500 && value <= 2_100

const tiny = 1e-9
const isSame = (left: number, right: number) => Math.abs(left - right) <= Math.abs(right) * tiny

/** Totals with fewer digits are accidents. */
const leastTotalSteps = 20

/** The sum or average of a whole column. */
function isTotal(
  totals: Operands['totals'],
  { value, precision, operations }: Pick<Wanted, 'value' | 'precision' | 'operations'>,
): boolean {
  const isNear = (result: number) => Math.abs(Math.abs(result) - value) <= precision * (0.5 + tiny)
  return (
    value >= precision * leastTotalSteps &&
    totals.some(
      ({ sum, count }) => (operations.has('sum') && isNear(sum)) || (operations.has('average') && isNear(sum / count)),
    )
  )
}

/** The sentence names both numbers itself. */
function isPairOf(
  all: readonly number[],
  { value, precision, operations }: Pick<Wanted, 'value' | 'precision' | 'operations'>,
): boolean {
  if (isYear(value)) return false
  if (!operations.has('sum') && !operations.has('difference')) return false
  const own = all.filter((operand) => !isYear(operand))
  if (own.length > maximumOperands) return false
  const whole = own.reduce((sum, operand) => sum + operand, 0)
  if (own.length > 1 && isSame(whole, value)) return true
  const results = own.length * (own.length - 1)
  if (own.length > exactOperands && (results * precision) / value > maximumChanceOfPair) return false
  return own.some((left, at) =>
    own.slice(at + 1).some((right) => isSame(left + right, value) || isSame(Math.abs(left - right), value)),
  )
}

/** 36 is 3 times a number of the passages. */
function isMultiple(value: number, quantity: number, all: readonly number[]): boolean {
  if (!Number.isInteger(quantity) || quantity < 2 || quantity > 1_000 || value <= quantity) return false
  return (
    all.length <= maximumOperands &&
    all.some((operand) => Math.abs(operand) > 1 && isSame(Math.abs(operand) * quantity, value))
  )
}

interface Wanted {
  value: number
  precision: number
  operations: ReadonlySet<Operation>
  claimed: readonly number[]
  /** Of a table: its sums may be rounded. Those of sentences are not. */
  hasRows: boolean
  /** Largest chance of an accident; infinite where the sentence names these numbers, and no others. */
  limit: number
}

/** Whether an operation on the group gives the number, and that is no accident. */
function isLikely(group: readonly number[], wanted: Wanted): boolean {
  const { value, precision, operations, claimed, limit, hasRows } = wanted
  let near = 0
  let isFound = false
  // Nobody computes a year from another one.
  const signed = isYear(value) ? group.filter((operand) => !isYear(operand)) : group
  const take = (signedResult: number, isRounded = true) => {
    const result = Math.abs(signedResult)
    if (Math.abs(result - value) > value / 2) return
    near++
    isFound ||= isRounded ? Math.abs(result - value) <= precision * (0.5 + tiny) : isSame(result, value)
  }
  // Reports write costs as negative numbers, and sentences leave the sign out.
  const plain = signed.map(Math.abs)
  for (const numbers of signed.some((operand) => operand < 0) ? [plain, signed] : [plain]) {
    if (operations.has('sum') || operations.has('difference')) takeSums(numbers, (result) => take(result, hasRows))
    if (operations.has('average')) takeAverages(numbers, take)
    if (operations.has('percent')) takePercents(numbers, take)
    if (operations.has('quotient')) takeQuotients(numbers, take)
  }
  if (operations.has('product')) takeProducts(plain, claimed, take)
  return isFound && (near * precision) / value <= limit
}

type Take = (result: number) => void

/** Of numbers that follow each other, and of any two. */
function takeSums(group: readonly number[], take: Take): void {
  for (const [at, left] of group.entries()) {
    let sum = left
    for (const [distance, right] of group.slice(at + 1).entries()) {
      sum += right
      take(sum)
      if (distance > 0) take(left + right)
      take(Math.abs(left - right))
    }
  }
}

function takeAverages(group: readonly number[], take: Take): void {
  for (const [at, left] of group.entries()) {
    let sum = left
    for (const [distance, right] of group.slice(at + 1).entries()) {
      sum += right
      take(sum / (distance + 2))
      if (distance > 0) take((left + right) / 2)
    }
  }
}

function takePercents(group: readonly number[], take: Take): void {
  for (const left of group) {
    for (const right of group) {
      if (left === right || right === 0) continue
      take((left / right) * 100)
      take(((left - right) / right) * 100)
    }
  }
}

function takeQuotients(group: readonly number[], take: Take): void {
  for (const left of group) for (const right of group) if (left !== right && right !== 0) take(left / right)
}

function takeProducts(group: readonly number[], claimed: readonly number[], take: Take): void {
  for (const quantity of claimed.slice(0, maximumOperands)) {
    if (!Number.isInteger(quantity) || quantity < 2 || quantity > 1_000) continue
    for (const operand of group) if (operand > 1) take(operand * quantity)
  }
}

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
    // "The north has 40 % of the revenue" next to a column of amounts.
    if (
      figure.isPercent &&
      own.some(({ isPercent }) => isPercent) &&
      !numbers.some(({ column, isPercent }) => isPercent && meant.has(column))
    )
      return false
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
