import i18next from 'i18next'
import { useSyncExternalStore } from 'react'
import { createFormat, type Format } from './format.ts'

/** Most parts of a page format something, and the formats of `Intl` are slow to make. */
const formats = new Map<string, Format>()

function subscribe(listener: () => void): () => void {
  i18next.on('languageChanged', listener)
  return () => i18next.off('languageChanged', listener)
}

/** Numbers, money and dates in the language of the console. Cells of tables use it, so it costs less than `useTranslation`. */
export function useFormat(): Format {
  const locale = localeOf(useSyncExternalStore(subscribe, () => i18next.language))
  const format = formats.get(locale) ?? createFormat(locale)
  formats.set(locale, format)
  return format
}

/** The browser's regional variant of the language, for instance `en-GB`, so that dates look familiar. */
function localeOf(language: string): string {
  return navigator.languages.find((tag) => tag.slice(0, 2) === language) ?? language
}
