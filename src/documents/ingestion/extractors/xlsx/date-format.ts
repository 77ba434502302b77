import type { Section, Token } from './format-section.ts'

const dayMs = 86_400_000
/** The day 0 of Excel, from which the day count is right since March 1900: Excel has a 29 February 1900. */
const epoch1900 = Date.UTC(1899, 11, 30)
const epoch1904 = Date.UTC(1904, 0, 1)
/** 31 December 9999. */
const lastDay = 2_958_465

/** Languages of months and weekdays by the low bits of their code: https://learn.microsoft.com/openspecs/windows_protocols/ms-lcid. */
const languages: Readonly<Record<number, string>> = {
  0x05: 'cs',
  0x06: 'da',
  0x07: 'de',
  0x08: 'el',
  0x09: 'en',
  0x0a: 'es',
  0x0b: 'fi',
  0x0c: 'fr',
  0x0e: 'hu',
  0x10: 'it',
  0x13: 'nl',
  0x14: 'nb',
  0x15: 'pl',
  0x16: 'pt',
  0x18: 'ro',
  0x19: 'ru',
  0x1d: 'sv',
  0x1f: 'tr',
  0x22: 'uk',
}

/** True for a pattern of dates and times: its codes have their letters, and no places of digits but those of a second's parts. */
export function isDatePattern(tokens: readonly Token[]): boolean {
  return tokens.some(
    ({ kind, text }) => kind === 'elapsed' || (kind === 'code' && /^(?:[ymdhs]|AM\/PM|A\/P)$/i.test(text)),
  )
}

/** A serial number of Excel in a pattern of dates and times; null where it is no date. */
export function formatDate(serial: number, { tokens, language }: Section, date1904: boolean): string | null {
  const isElapsed = tokens.some(({ kind }) => kind === 'elapsed')
  if (!Number.isFinite(serial) || serial > lastDay + 1 || (serial < 0 && !isElapsed)) return null
  const runs = joinRuns(tokens)
  const decimals = Math.max(0, ...runs.map((run) => (run.kind === 'part' ? run.length : 0)))
  const unit = 1000 / 10 ** Math.min(3, decimals)
  const milliseconds = Math.round((serial * dayMs) / unit) * unit
  const shift = !date1904 && serial < 60 ? dayMs : 0
  const date = new Date((date1904 ? epoch1904 : epoch1900) + milliseconds + shift)
  const context: DateContext = { date, milliseconds, locale: languages[language & 0x3ff] ?? 'en', isTwelve: false }
  context.isTwelve = runs.some(({ kind }) => kind === 'half')
  return runs
    .map((run) => showRun(run, context))
    .join('')
    .trim()
}

interface DateContext {
  date: Date
  milliseconds: number
  locale: string
  /** Hours are shown with AM and PM. */
  isTwelve: boolean
}

interface Run {
  kind: 'y' | 'm' | 'minute' | 'd' | 'h' | 's' | 'half' | 'part' | 'literal' | 'elapsed'
  text: string
  length: number
}

/** Joins the letters of one part. An `m` after hours or before seconds is the minute. */
function joinRuns(tokens: readonly Token[]): Run[] {
  const runs: Run[] = []
  for (const { kind, text } of tokens) {
    const last = runs.at(-1)
    const letter = text.toLowerCase()
    if (kind === 'literal') runs.push({ kind: 'literal', text, length: 0 })
    else if (kind === 'elapsed') runs.push({ kind: 'elapsed', text, length: text.length })
    else if (/^[ymdhs]$/.test(letter)) {
      if (last?.kind === letter) last.length += 1
      else runs.push({ kind: letter as 'y', text: letter, length: 1 })
    } else if (/^(?:am\/pm|a\/p)$/.test(letter)) runs.push({ kind: 'half', text: letter, length: 0 })
    else if (letter === '0' && (last?.text === '.' || last?.kind === 'part')) {
      if (last.kind === 'part') last.length += 1
      else runs.push({ kind: 'part', text, length: 1 })
    } else if (letter !== '@' && letter !== 'general') runs.push({ kind: 'literal', text, length: 0 })
  }
  const clock = runs.filter(({ kind }) => kind !== 'literal')
  for (const [index, run] of clock.entries()) {
    if (run.kind !== 'm' || run.length > 2) continue
    const before = clock[index - 1]
    const isAfterHours = before?.kind === 'h' || (before?.kind === 'elapsed' && before.text.startsWith('h'))
    if (isAfterHours || clock[index + 1]?.kind === 's') run.kind = 'minute'
  }
  return runs
}

function showRun({ kind, text, length }: Run, { date, milliseconds, locale, isTwelve }: DateContext): string {
  const padded = (value: number) => String(value).padStart(length > 1 ? 2 : 1, '0')
  const hours = date.getUTCHours()
  switch (kind) {
    case 'literal':
      return text
    case 'y':
      return length > 2 ? String(date.getUTCFullYear()) : String(date.getUTCFullYear() % 100).padStart(2, '0')
    case 'm':
      return length < 3
        ? padded(date.getUTCMonth() + 1)
        : nameOf(date, locale, { month: length === 3 ? 'short' : length === 5 ? 'narrow' : 'long' })
    case 'd':
      return length < 3 ? padded(date.getUTCDate()) : nameOf(date, locale, { weekday: length === 3 ? 'short' : 'long' })
    case 'h':
      return padded(isTwelve ? hours % 12 || 12 : hours)
    case 'minute':
      return padded(date.getUTCMinutes())
    case 's':
      return padded(date.getUTCSeconds())
    case 'half':
      return text === 'a/p' ? (hours < 12 ? 'A' : 'P') : hours < 12 ? 'AM' : 'PM'
    case 'part':
      return String(date.getUTCMilliseconds()).padStart(3, '0').slice(0, length).padEnd(length, '0')
    case 'elapsed': {
      const unit = text.startsWith('h') ? 3_600_000 : text.startsWith('m') ? 60_000 : 1_000
      const count = Math.floor(Math.abs(milliseconds) / unit)
      return `${milliseconds < 0 ? '-' : ''}${padded(count)}`
    }
  }
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function nameOf(date: Date, locale: string, options: Intl.DateTimeFormatOptions): string {
  const key = locale + JSON.stringify(options)
  const formatter = formatters.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  formatters.set(key, formatter)
  return formatter.format(date)
}
