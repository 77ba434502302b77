/** Dates and times as people write them in tables. Pure. */

/** Languages whose names of months are read; the first one that has a name decides. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'cs', 'sv', 'da', 'nb', 'fi', 'hu', 'ro', 'tr', 'ru']
/** A longer cell is text. */
const maximumDateLength = 40
/** Years with two digits from here on are of the 20th century, as in POSIX (strptime, %y). */
const firstShortYear = 69

const name = String.raw`(?<name>\p{L}[\p{L}\p{M}]{1,14})\.?`
const year = String.raw`(?<year>\d{4})`
const day = String.raw`(?<day>\d{1,2})`
const time = String.raw`(?:[T, ]\s?(?<time>\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?).{0,12})?`
const named = [
  new RegExp(String.raw`^(?:\p{L}{2,10}\.?,? )?${name} ${day}(?:st|nd|rd|th)?,? ${year}${time}$`, 'iu'),
  new RegExp(
    String.raw`^(?:\p{L}{2,10}\.?,? )?${day}(?:st|nd|rd|th|er|º)?[.]?[ -](?:de )?${name}[ -,]{1,2}(?:de )?${year}${time}$`,
    'iu',
  ),
  new RegExp(String.raw`^${day}-${name}-${year}$`, 'iu'),
  new RegExp(String.raw`^${name},? ${year}$`, 'iu'),
]
const iso = new RegExp(String.raw`^${year}[-/.](?<month>\d{1,2})[-/.]${day}${time}$`, 'u')
const numeric = new RegExp(
  String.raw`^(?<first>\d{1,2})(?<separator>[./-])\s?(?<second>\d{1,2})\k<separator>\s?(?<year>\d{4}|\d{2})${time}$`,
  'u',
)
const clock =
  /^(?<hours>\d{1,4}):(?<minutes>[0-5]\d)(?::(?<seconds>[0-5]\d(?:[.,]\d{1,6})?))?\s?(?<half>[ap]\.?m\.?)?(?: ?(?:Uhr|h))?$/i

/** Whether the first part of `03/04/2024` is the day; null where no cell decides it. */
export function chooseDayOrder(cells: Iterable<string>): 'day' | 'month' | null {
  let days = 0
  let firstMonths = 0
  for (const cell of cells) {
    const match = cell.length <= maximumDateLength ? numeric.exec(cell.trim())?.groups : null
    if (!match) continue
    // With points the day is always first.
    if (match.separator === '.' || Number(match.first) > 12) days += 1
    else if (Number(match.second) > 12) firstMonths += 1
  }
  if (days > 0 === firstMonths > 0) return null
  return days > 0 ? 'day' : 'month'
}

/**
 * The date of a cell as `YYYY-MM-DD`, with its time as `YYYY-MM-DD HH:MM:SS`, or `YYYY-MM` where it has no day; null where it shows none, or
 * where its order of day and month is not known.
 */
export function parseDate(given: string, order: 'day' | 'month' | null): string | null {
  if (given.length > maximumDateLength) return null
  const cell = given.trim()
  const isoParts = iso.exec(cell)?.groups
  if (isoParts) return format(isoParts.year!, Number(isoParts.month), Number(isoParts.day), isoParts.time)
  for (const pattern of named) {
    const parts = pattern.exec(cell)?.groups
    const month = parts && monthOf(parts.name!)
    if (!month) continue
    return parts.day === undefined
      ? `${parts.year}-${String(month).padStart(2, '0')}`
      : format(parts.year!, month, Number(parts.day), parts.time)
  }
  const parts = order && numeric.exec(cell)?.groups
  if (!parts) return null
  const [first, second] = [Number(parts.first), Number(parts.second)]
  const [monthNumber, dayNumber] = order === 'day' ? [second, first] : [first, second]
  return format(fullYear(parts.year!), monthNumber, dayNumber, parts.time)
}

/** A time of day or a duration as `HH:MM` or `HH:MM:SS` with `width` digits of hours, so that texts compare as times do; null for none. */
export function parseTime(cell: string, width: number): string | null {
  const parts = cell.length <= maximumDateLength ? clock.exec(cell.trim())?.groups : null
  if (!parts) return null
  let hours = Number(parts.hours)
  if (parts.half !== undefined) {
    if (hours < 1 || hours > 12) return null
    hours = (hours % 12) + (/^p/i.test(parts.half) ? 12 : 0)
  }
  const seconds = parts.seconds === undefined ? '' : `:${parts.seconds.replace(',', '.')}`
  return `${String(hours).padStart(width, '0')}:${parts.minutes}${seconds}`
}

function fullYear(written: string): string {
  if (written.length === 4) return written
  return `${Number(written) >= firstShortYear ? 19 : 20}${written}`
}

function format(yearText: string, month: number, dayOfMonth: number, timeText: string | undefined): string | null {
  const date = new Date(Date.UTC(Number(yearText), month - 1, dayOfMonth))
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== dayOfMonth) return null
  const clockTime = timeText === undefined ? null : parseTime(timeText, 2)
  if (timeText !== undefined && clockTime === null) return null
  const dateText = `${yearText}-${String(month).padStart(2, '0')}-${String(dayOfMonth).padStart(2, '0')}`
  // Exports write midnight for a date without a time.
  if (clockTime === null || /^00:00(?::00)?$/.test(clockTime)) return dateText
  return `${dateText} ${clockTime.length === 5 ? `${clockTime}:00` : clockTime}`
}

let months: Map<string, number> | undefined

/** 1 to 12; undefined for a word that names no month. */
function monthOf(word: string): number | undefined {
  months ??= namesOfMonths()
  return months.get(fold(word))
}

const fold = (word: string) => word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')

/** Names as Unicode's CLDR has them, long and short; of a name that two languages use for different months the first language wins. */
function namesOfMonths(): Map<string, number> {
  const found = new Map([['sept', 9]])
  for (const language of languages) {
    for (const style of ['long', 'short'] as const) {
      for (const options of [{ month: style }, { month: style, day: 'numeric' }] as const) {
        const formatter = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
        for (let month = 1; month <= 12; month++) {
          const parts = formatter.formatToParts(Date.UTC(2024, month - 1, 1))
          const text = fold(parts.find(({ type }) => type === 'month')?.value ?? '').replace(/\.$/, '')
          if (/^\p{L}+$/u.test(text) && !found.has(text)) found.set(text, month)
        }
      }
    }
  }
  return found
}
