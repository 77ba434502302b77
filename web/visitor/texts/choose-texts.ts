import type { Texts } from './en.ts'

/** The languages of the page. Only the chosen one is loaded. */
const languages: Record<string, () => Promise<{ texts: Texts }>> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  it: () => import('./it.ts'),
  ar: () => import('./ar.ts'),
}

/** The first language of the browser that the page has, otherwise English. */
export async function chooseTexts(preferred: readonly string[]) {
  const locale = preferred.find((tag) => Object.hasOwn(languages, languageOf(tag))) ?? 'en'
  const language = languageOf(locale)
  const { texts } = await languages[language]!()
  return { language, locale, texts }
}

const languageOf = (tag: string) => tag.split('-')[0]!.toLowerCase()

export const isRightToLeft = (language: string) => language === 'ar'

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}
