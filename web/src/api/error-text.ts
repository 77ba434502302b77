import i18next from 'i18next'

/** The API answers in English. German texts and what finds them load when they are needed. */
let translate: ((code: string, message: string) => string) | undefined

/** Loads the texts of errors in a language; English needs none. */
export async function loadErrorTexts(language: string): Promise<void> {
  translate = language === 'de' ? (await import('./translate-error.ts')).translateError : undefined
}

/** The text of an error in the language of the console. `code` is that of the API, or `http_400` for an error without one. */
export function errorText(code: string, message: string): string {
  const known = i18next.isInitialized ? knownText(code, message) : undefined
  if (known !== undefined) return known
  return translate ? translate(code, message) : message
}

/** Errors that people meet often, in their words. The message of the API is for programmers. */
function knownText(code: string, message: string): string | undefined {
  if (code === 'not_signed_in') return i18next.t('error.sessionExpired')
  if (code !== 'insufficient_quota') return undefined
  if (message.includes('has no budget')) return i18next.t('error.noBudget')
  const resets = /resets at (\d{4}-\d\d-\d\dT[\d:.]+Z)/.exec(message)?.[1]
  if (resets === undefined) return undefined
  const date = new Intl.DateTimeFormat(i18next.language, { day: 'numeric', month: 'long' }).format(new Date(resets))
  return i18next.t('error.budgetUsed', { date })
}
