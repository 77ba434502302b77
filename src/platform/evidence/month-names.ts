import type { Language } from '../language/index.ts'

/** Languages in Latin script whose month names are known, by ISO 639-1 code. */
const latinLanguages = 'en de fr es it pt nl sv da no fi ro tr hu id pl cs ca'.split(' ')
/** Languages in other scripts share one list: their names do not collide. */
const otherLanguages = 'ru uk bg el ar hi he th fa'.split(' ')

/** Names that are one word of letters. Names such as "5月" and "tháng 5" are numbers. */
const namePattern = /^\p{L}[\p{L}\p{M}]+$/u

/** Month names in lower case with their numbers, 1 to 12. */
interface MonthNames {
  full: Map<string, number>
  abbreviated: Map<string, number>
}

interface AllNames {
  latin: Map<Language, MonthNames>
  other: MonthNames
}

/** Created on first use: it takes some 30 ms. */
let created: AllNames | undefined

function allNames(): AllNames {
  created ??= {
    latin: new Map(latinLanguages.map((language) => [language, namesOf([language])])),
    other: namesOf(otherLanguages),
  }
  return created
}

function namesOf(languages: readonly Language[]): MonthNames {
  const names: MonthNames = { full: new Map(), abbreviated: new Map() }
  for (const language of languages) {
    for (const style of ['long', 'short'] as const) {
      // In a date the names of Slavic languages have another case.
      for (const day of [undefined, 'numeric'] as const)
        addNames(names, language, { month: style, ...(day && { day }) })
    }
  }
  return names
}

function addNames(names: MonthNames, language: Language, options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat(language === 'no' ? 'nb' : language, {
    ...options,
    calendar: 'gregory',
    timeZone: 'UTC',
  })
  for (let month = 1; month <= 12; month++) {
    const parts = format.formatToParts(Date.UTC(2023, month - 1, 15))
    const name = (parts.find(({ type }) => type === 'month')?.value ?? '').toLowerCase().replace(/\.$/, '')
    if (namePattern.test(name)) (options.month === 'long' ? names.full : names.abbreviated).set(name, month)
  }
}

/** The month, 1 to 12, that a word (lower case) names in a text whose Latin words are in `language`, or in English. */
export function monthOfName(word: string, language: Language): number | undefined {
  const { latin, other } = allNames()
  return latin.get(language)?.full.get(word) ?? latin.get('en')!.full.get(word) ?? other.full.get(word)
}

/** As `monthOfName`, for abbreviations such as "Sept". */
export function monthOfAbbreviation(word: string, language: Language): number | undefined {
  const { latin, other } = allNames()
  return (
    latin.get(language)?.abbreviated.get(word) ?? latin.get('en')!.abbreviated.get(word) ?? other.abbreviated.get(word)
  )
}
