export type Format = ReturnType<typeof createFormat>

type Moment = string | number | Date

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const mebibyte = 1024 * 1024
const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** Formats of one locale, by `Intl`. */
export function createFormat(locale: string) {
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const calendarDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  return {
    locale,
    number: (value: number) => number.format(value),
    /** 12,345 → 12.3K */
    compact: (value: number) => compact.format(value),
    /** `share` is 0 to 1. */
    percent: (share: number) => percent.format(share),
    /** US dollars. Small amounts keep two significant digits; `exact` shows every digit of the decimal. */
    money: (usd: string | number, { exact = false } = {}) => formatMoney(locale, usd, exact),
    date: (value: Moment) => date.format(new Date(value)),
    /** A day without a time zone, `2026-11-21`. */
    day: (value: string) => calendarDay.format(new Date(`${value}T00:00:00Z`)),
    dateTime: (value: Moment) => dateTime.format(new Date(value)),
    /** "5 min ago", "in 3 days". */
    relative: (value: Moment, now = Date.now()) => {
      const seconds = (new Date(value).getTime() - now) / 1000
      const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
      return relative.format(Math.round(seconds / size), unit)
    },
    bytes: (value: number) => formatBytes(locale, value),
    /** A limit: MiB where it is a whole number of them. */
    byteLimit: (value: number) =>
      value > 0 && value % mebibyte === 0 ? `${number.format(value / mebibyte)} MiB` : formatBytes(locale, value),
    /** Milliseconds as ms or s. */
    duration: (ms: number) =>
      ms < 1000
        ? formatUnit(locale, ms, 'millisecond', 0)
        : formatUnit(locale, ms / 1000, 'second', ms < 10_000 ? 2 : 1),
  }
}

function formatMoney(locale: string, usd: string | number, exact: boolean): string {
  const size = Math.abs(Number(usd))
  const digits: Intl.NumberFormatOptions = exact
    ? { maximumFractionDigits: 20 }
    : size !== 0 && size < 0.1
      ? { maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  // A decimal string is formatted without rounding to a double first.
  return new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', ...digits }).format(usd as `${number}`)
}

function formatBytes(locale: string, value: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
  return formatUnit(locale, value / 1000 ** power, byteUnits[power]!, power > 1 ? 1 : 0)
}

function formatUnit(locale: string, value: number, unit: string, maximumFractionDigits: number): string {
  // Short, English has no plural of byte.
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits }).format(value)
}
