/** How a csv file is written: found out from its first lines. */
export interface CsvDialect {
  delimiter: string
  /** The quote character, or null where quotes are ordinary characters. */
  quote: '"' | "'" | null
}

const delimiters = [',', ';', '\t', '|'] as const

/** Sniffs delimiter and quote from the beginning of the file; the sample may end in the middle of a record. */
export function sniffDialect(sample: string): CsvDialect {
  const quote = sniffQuote(sample)
  const declared = /^sep=(.)\r?\n/i.exec(sample)
  if (declared) return { delimiter: declared[1]!, quote }
  let best = { delimiter: ',', score: 0 }
  for (const delimiter of delimiters) {
    const score = scoreDelimiter(countFields(sample, delimiter, quote))
    if (score > best.score) best = { delimiter, score }
  }
  return { delimiter: best.delimiter, quote }
}

/** Fields of each record of the sample, quotes respected. The last, maybe cut, record counts only when it is the only one. */
function countFields(sample: string, delimiter: string, quote: string | null): number[] {
  const counts: number[] = []
  let fields = 1
  let quoted = false
  let atFieldStart = true
  let empty = true
  for (const character of sample) {
    if (quoted) {
      if (character === quote) quoted = false
    } else if (character === quote && atFieldStart) {
      quoted = true
      empty = false
    } else if (character === '\n' || character === '\r') {
      if (!empty) counts.push(fields)
      fields = 1
      atFieldStart = true
      empty = true
      continue
    } else if (character === delimiter) {
      fields += 1
      atFieldStart = true
      empty = false
      continue
    } else empty = false
    atFieldStart = false
  }
  if (!empty && (counts.length === 0 || !quoted)) counts.push(fields)
  return counts.slice(0, 200)
}

/** Higher for a delimiter that parts most records into the same number of fields, and into more than one. */
function scoreDelimiter(counts: number[]): number {
  const frequency = new Map<number, number>()
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1)
  let score = 0
  for (const [fields, records] of frequency) {
    if (fields > 1) score = Math.max(score, (records / counts.length) ** 2 * (1 + Math.log2(fields) / 8))
  }
  return score
}

function sniffQuote(sample: string): CsvDialect['quote'] {
  const doubles = sample.match(/(?:^|[,;\t|])\s*"/gm)?.length ?? 0
  const singles = sample.match(/(?:^|[,;\t|])'[^'\r\n]*'(?=[,;\t|\r\n]|$)/gm)?.length ?? 0
  return doubles === 0 && singles >= 3 ? "'" : '"'
}

const numeric = /^[-+(]?[€$£¥]?\s*\d[\d\s.,'’]*\)?\s*[%€$£¥]?$/
const dateLike = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}.*)?$/

/** True for a number, an amount or a date. */
export function isValue(cell: string): boolean {
  return numeric.test(cell) || dateLike.test(cell)
}

/** True when the first record names the columns: no dates, no numbers but above columns of text, few empty cells, hardly any name twice. */
export function looksLikeHeader(first: string[], following: string[][]): boolean {
  if (following.length === 0) return false
  const cells = first.map((cell) => cell.trim())
  const named = cells.filter((cell) => cell !== '')
  if (named.length === 0 || named.length < cells.length * 0.5) return false
  if (isHeaderOfPeriods(cells, following)) return true
  if (named.some((cell) => dateLike.test(cell))) return false
  // Year columns are the one kind of number that is common in headers.
  const years = named.filter((cell) => /^(1[89]|20)\d\d$/.test(cell)).length
  const numbers = cells.filter(
    (cell, index) => numeric.test(cell) && !isAboveText(index, following) && !isCounted(cell, index, cells),
  ).length
  if (numbers > years || named.every((cell) => numeric.test(cell))) return false
  if (named.some((cell) => cell.length > 200)) return false
  const repeated = named.length - new Set(named).size
  if (repeated <= named.length * 0.1) return true
  return repeated <= named.length / 2 && following.length >= leastFilled && !repeatsBelow(cells, following)
}

const period =
  /^(?:(?:FY|CY|Q[1-4]|H[12]|[1-4]Q)?[ -]?'?(?:1[5-9]|20)\d\d(?:[ -/](?:Q[1-4]|H[12]|\d{2}|(?:1[5-9]|20)\d\d))?[*A-Ea-e]?|(?:1[5-9]|20)\d\d-\d{2}(?:-\d{2})?)$/

/** True for an empty corner or a name, and then different years or periods above cells of data: `,1948,1952`. */
function isHeaderOfPeriods([corner = '', ...cells]: string[], following: string[][]): boolean {
  if (cells.length < 2 || isValue(corner) || !cells.every((cell) => period.test(cell))) return false
  if (new Set(cells).size < cells.length) return false
  const labels = following.map((record) => record[0]?.trim() ?? '').filter((cell) => cell !== '')
  // Below a corner without a name, values in the first column are rows of data.
  return labels.length * 2 >= following.length && !labels.some(isValue)
}

/** Filled cells below a number, and records below repeated names, from which they can be names. */
const leastFilled = 3

/** True where the column has no value below: then a number above it is a name, such as a height in a table of jumps. */
function isAboveText(index: number, following: string[][]): boolean {
  const filled = following.map((record) => record[index]?.trim() ?? '').filter((cell) => cell !== '')
  return filled.length >= leastFilled && !filled.some(isValue)
}

/** True for a number of a row 1, 2, 3, 4, … in neighbouring cells: rounds, innings, months. */
function isCounted(cell: string, index: number, cells: string[]): boolean {
  const first = index - (Number(cell) - 1)
  if (!Number.isInteger(first) || first < 0) return false
  return ['1', '2', '3', '4'].every((count, at) => cells[first + at] === count)
}

/** True where a cell occurs in its column again, as cells of data do. */
function repeatsBelow(cells: string[], following: string[][]): boolean {
  return cells.some((cell, index) => cell !== '' && following.some((record) => record[index]?.trim() === cell))
}
