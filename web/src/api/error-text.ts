/** The API answers in English. German texts and what finds them load when they are needed. */
let translate: ((code: string, message: string) => string) | undefined

/** Loads the texts of errors in a language; English needs none. */
export async function loadErrorTexts(language: string): Promise<void> {
  translate = language === 'de' ? (await import('./translate-error.ts')).translateError : undefined
}

/** The text of an error in the language of the console. `code` is that of the API, or `http_400` for an error without one. */
export function errorText(code: string, message: string): string {
  return translate ? translate(code, message) : message
}
