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

export function createFormat(locale: string) {
  const number = once(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }))
  const compact = once(() => {
    // British English has 1m, which is a metre or a minute.
    const region = locale.startsWith('en') ? 'en-US' : locale
    return new Intl.NumberFormat(region, { notation: 'compact', maximumFractionDigits: 1 })
  })
  const percent = once(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }))
  const date = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }))
  const calendarDay = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }))
  const dateTime = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }))
  const currency = { style: 'currency', currency: 'USD' } as const
  const money = {
    exact: once(() => new Intl.NumberFormat(locale, { ...currency, maximumFractionDigits: 20 })),
    small: once(() => new Intl.NumberFormat(locale, { ...currency, maximumSignificantDigits: 2 })),
    usual: once(
      () => new Intl.NumberFormat(locale, { ...currency, minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    ),
  }
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
  const unit = createUnitFormat(locale)
  return {
    locale,
    number: (value: number) => number().format(value),
    /** 12,345 → 12.3K */
    compact: (value: number) => compact().format(value),
    /** `share` is 0 to 1. */
    percent: (share: number) => percent().format(share),
    /** US dollars. Small amounts keep two significant digits; `exact` shows every digit of the decimal. */
    money: (usd: string | number, { exact = false } = {}) => {
      const size = Math.abs(Number(usd))
      const used = exact ? money.exact : size !== 0 && size < 0.1 ? money.small : money.usual
      // A decimal string is formatted without rounding to a double first.
      return used().format(usd as `${number}`)
    },
    date: (value: Moment) => date().format(new Date(value)),
    /** A day without a time zone, `2026-11-21`. */
    day: (value: string) => calendarDay().format(new Date(`${value}T00:00:00Z`)),
    dateTime: (value: Moment) => dateTime().format(new Date(value)),
    /** "5 min ago", "in 3 days". */
    relative: (value: Moment, now = Date.now()) => {
      const seconds = (new Date(value).getTime() - now) / 1000
      const [name, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
      return relative().format(Math.round(seconds / size), name)
    },
    bytes: (value: number) => formatBytes(unit, value),
    /** A limit: MiB where it is a whole number of them. */
    byteLimit: (value: number) =>
      value > 0 && value % mebibyte === 0 ? `${number().format(value / mebibyte)} MiB` : formatBytes(unit, value),
    /** Milliseconds as ms or s. */
    duration: (ms: number) => {
      if (ms < 1000) return `${number().format(Math.round(ms))}\u00a0ms`
      return `${number().format(ms < 10_000 ? ms / 1000 : Math.round(ms / 100) / 10)}\u00a0s`
    },
  }
}

function formatBytes(unit: UnitFormat, value: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
  return unit(value / 1000 ** power, byteUnits[power]!, power > 1 ? 1 : 0)
}

/** Made when it is first used: `Intl` is slow at that, and a page uses few. */
function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}

type UnitFormat = ReturnType<typeof createUnitFormat>

/** Keeps the formats of the units that were used: they are slow to make. */
function createUnitFormat(locale: string) {
  const formats = new Map<string, Intl.NumberFormat>()
  return (value: number, unit: string, maximumFractionDigits: number): string => {
    const key = `${unit} ${maximumFractionDigits}`
    // Short, English has no plural of byte.
    const unitDisplay = unit === 'byte' ? 'long' : 'short'
    const format =
      formats.get(key) ?? new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits })
    formats.set(key, format)
    return format.format(value)
  }
}
