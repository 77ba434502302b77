import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { createFormat, type Format } from './format.ts'

/** Numbers, money and dates in the language of the console. */
export function useFormat(): Format {
  const { i18n } = useTranslation()
  return useMemo(() => createFormat(localeOf(i18n.language)), [i18n.language])
}

/** The browser's regional variant of the language, for instance `en-GB`, so that dates look familiar. */
function localeOf(language: string): string {
  return navigator.languages.find((tag) => tag.slice(0, 2) === language) ?? language
}
