/** Dates as people write them in tables. Pure. */

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const longNames =
  'january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec'
const monthFirst = new RegExp(`^(${longNames})\\.? (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})$`, 'i')
const dayFirst = new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?\\.? (${longNames})\\.?,? (\\d{4})$`, 'i')
const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]\d{1,2}:\d{2}.{0,20})?$/
const numeric = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/
/** A longer cell is text. */
const maximumDateLength = 40

/** Whether the first part of `03/04/2024` is the day; null where no cell decides it. */
export function chooseDayOrder(cells: Iterable<string>): 'day' | 'month' | null {
  let days = 0
  let firstMonths = 0
  for (const cell of cells) {
    const match = cell.length <= maximumDateLength ? numeric.exec(cell) : null
    if (!match) continue
    // With points the day is always first.
    if (match[2] === '.' || Number(match[1]) > 12) days += 1
    else if (Number(match[3]) > 12) firstMonths += 1
  }
  if (days > 0 === firstMonths > 0) return null
  return days > 0 ? 'day' : 'month'
}

/** The date of a cell as `YYYY-MM-DD`; null where it shows none, or where its order of day and month is not known. */
export function parseDate(cell: string, order: 'day' | 'month' | null): string | null {
  if (cell.length > maximumDateLength) return null
  let match = iso.exec(cell)
  if (match) return format(match[1]!, Number(match[2]), Number(match[3]))
  match = monthFirst.exec(cell)
  if (match) return format(match[3]!, monthOf(match[1]!), Number(match[2]))
  match = dayFirst.exec(cell)
  if (match) return format(match[3]!, monthOf(match[2]!), Number(match[1]))
  match = order && numeric.exec(cell)
  if (!match) return null
  const [first, second] = [Number(match[1]), Number(match[3])]
  return order === 'day' ? format(match[4]!, second, first) : format(match[4]!, first, second)
}

const monthOf = (name: string) => months.indexOf(name.slice(0, 3).toLowerCase()) + 1

function format(year: string, month: number, day: number): string | null {
  const date = new Date(Date.UTC(Number(year), month - 1, day))
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal ? `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}` : null
}
