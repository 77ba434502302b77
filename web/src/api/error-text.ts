import type texts from './errors.de.json'

/**
 * The API answers in English. Other languages have a catalogue of its errors: by their code, and for a wrong field by the kind of its
 * problem, which the sentence of the API has (src/contract/validation.ts). Errors that are in neither keep the text of the API.
 */

type Catalogue = typeof texts
type Kind = keyof Catalogue['problems']

/** The sentences of describeIssue; a group is the limit that the text names. */
const sentences: [RegExp, Kind][] = [
  [/ is required\b/, 'required'],
  [/ has a form that is not allowed\.$/, 'form'],
  [/ is not allowed\.$/, 'notAllowed'],
  [/ must not be empty\.$/, 'empty'],
  [/ must have at least (\d+) characters?\.$/, 'leastCharacters'],
  [/ must have at most (\d+) characters?\.$/, 'mostCharacters'],
  [/ must have at least (\d+) entr(?:y|ies)\.$/, 'leastEntries'],
  [/ must have at most (\d+) entr(?:y|ies)\.$/, 'mostEntries'],
  [/ must be at least (-?[\d.e+]+)\.$/, 'least'],
  [/ must be at most (-?[\d.e+]+)\.$/, 'most'],
  [/ must be greater than (-?[\d.e+]+)\.$/, 'greater'],
  [/ must be less than (-?[\d.e+]+)\.$/, 'less'],
  [/ must be a multiple of (-?[\d.e+]+)\.$/, 'multiple'],
  [/ must be (?:one of )?(".*")\.$/s, 'oneOf'],
  [/ must be a UUID\.$/, 'uuid'],
  [/ must be an absolute URL\.$/, 'url'],
  [/ must be an e-mail address\.$/, 'email'],
  [/ must be an ISO 8601 time such as /, 'time'],
  [/ must be a date such as /, 'date'],
  [/ must be a string, not /, 'text'],
  [/ must be a number, not /, 'number'],
  [/ must be a whole number, not /, 'wholeNumber'],
  [/ must be true or false, not /, 'boolean'],
  [/ must be an array, not /, 'array'],
  [/ must be a JSON object, not /, 'object'],
  [/ has the unknown field (`.*`)\.$/s, 'unknownField'],
  [/ has a field name that is not valid\.$/, 'fieldName'],
  [/ is not valid\.$/, 'invalid'],
]
/** Longer sentences quote input; they keep the text of the API. */
const longestSentence = 1_000

let catalogue: Catalogue | undefined

/** Loads the catalogue of a language; English needs none. */
export async function loadErrorTexts(language: string): Promise<void> {
  catalogue = language === 'de' ? (await import('./errors.de.json')).default : undefined
}

/** The text of an error in the language of the console. `code` is that of the API, or `http_400` for an error without one. */
export function errorText(code: string, message: string): string {
  if (!catalogue) return message
  const known: Partial<Record<string, string>> = catalogue.codes
  if (Object.hasOwn(known, code)) return known[code]!
  if (code !== 'http_400' || message.length > longestSentence) return message
  for (const [pattern, kind] of sentences) {
    const found = pattern.exec(message)
    if (found) return catalogue.problems[kind].replace('{{limit}}', () => found[1] ?? '')
  }
  return message
}
