/** Most rows and columns that are compared; more do not change the choice. */
const judgedRows = 200
const judgedColumns = 64
/** Codes identify rows only near the left edge, numbers only in the first column: further right they are measurements. */
const identifierColumns = 8
/** Share of rows in which a key has a value, and share of its values that are different. */
const keyShare = 0.9
/** A column of longer cells, on average, holds texts. */
const maximumMeanLength = 60
/** Names have more characters than codes on average. */
const minimumNameLength = 4
const maximumCombined = 3

interface ColumnFacts {
  index: number
  /** Filled and short. */
  isPlain: boolean
  isDistinct: boolean
  isName: boolean
  /** Of its values in UTF-8, which makes scripts comparable. */
  bytes: number
  /** Without letters: dates as well. */
  isNumber: boolean
}

/**
 * The columns that identify a row, as indexes in order: the first with mostly different values, and the first with different names
 * where that one holds codes. In a table without such a column the fewest of the first columns that together differ, at most 3.
 */
export function findKeyColumns(header: readonly string[], rows: readonly (readonly string[])[]): number[] {
  const judged = rows.slice(0, judgedRows)
  const columns = header.slice(0, judgedColumns).map((_, index) => factsOf(judged, index))
  const distinct = columns.filter(({ index, isDistinct, isNumber }) => isDistinct && (!isNumber || index === 0))
  const identifier = distinct.find(({ index, isName }) => isName || index < identifierColumns)
  if (!identifier) return combine(columns, judged)
  if (identifier.isName) return [identifier.index]
  const names = distinct.filter(({ isName }) => isName)
  // Of a full and a short name, people use the short one.
  const named = names.filter(({ index }) => isNamedName(header[index]!))
  const name = named.sort((left, right) => left.bytes - right.bytes)[0] ?? names[0]
  return name ? [identifier.index, name.index] : [identifier.index]
}

function factsOf(rows: readonly (readonly string[])[], index: number): ColumnFacts {
  const cells = rows.map((row) => row[index] ?? '').filter((cell) => cell !== '')
  const length = cells.reduce((sum, cell) => sum + cell.length, 0)
  const isPlain =
    cells.length > 0 && cells.length >= rows.length * keyShare && length <= cells.length * maximumMeanLength
  const share = (pattern: RegExp) => cells.filter((cell) => pattern.test(cell)).length / cells.length
  return {
    index,
    isPlain,
    bytes: Buffer.byteLength(cells.join('')),
    isDistinct: isPlain && new Set(cells).size >= cells.length * keyShare,
    isName: isPlain && share(/\p{Ll}|\p{Lo}/u) >= keyShare && length >= cells.length * minimumNameLength,
    isNumber: isPlain && share(/^[^\p{L}]+$/u) > 0.5,
  }
}

/** A header that calls its column a name. */
function isNamedName(header: string): boolean {
  return /(?:^|[^\p{L}])(?:name|title|label|nom|nombre|nome|naam|namn|navn|titel|bezeichnung)(?:[^\p{L}]|$)/iu.test(
    header,
  )
}

function combine(columns: readonly ColumnFacts[], rows: readonly (readonly string[])[]): number[] {
  const plain = columns.filter(({ isPlain }) => isPlain)
  const differing = (key: readonly number[]) =>
    new Set(rows.map((row) => JSON.stringify(key.map((index) => row[index] ?? '')))).size
  let key: number[] = []
  let count = 1
  for (const { index } of plain.slice(0, identifierColumns)) {
    const next = differing([...key, index])
    if (next === count) continue
    key = [...key, index]
    count = next
    if (count >= rows.length * keyShare) return key
    if (key.length === maximumCombined) break
  }
  const first = plain.find(({ isName }) => isName) ?? plain[0]
  return first ? [first.index] : []
}
