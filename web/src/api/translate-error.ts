import catalogue from './errors.de.json' with { type: 'json' }
import { readTemplates, translate } from './message-templates.ts'

/**
 * The German catalogue of the API's errors: `messages` by the sentence, `codes` and `withMessage` by the code, and `problems` by what is
 * wrong with a field (src/contract/validation.ts). A sentence of `withMessage` that is not in the catalogue is added in English, because it
 * names what was not found, refused or in conflict.
 */

type Kind = keyof typeof catalogue.problems

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
/** Longer sentences quote input, and are shortened. */
const longestSentence = 1_000

const templates = readTemplates(catalogue.messages)

/** The German text of an error. `code` is that of the API, or `http_400` for an error without one. */
export function translateError(code: string, message: string): string {
  const sentence = message.length > longestSentence ? `${message.slice(0, longestSentence)}…` : message
  const known: Partial<Record<string, string>> = catalogue.codes
  return (
    translate(templates, sentence) ??
    (Object.hasOwn(known, code) ? known[code]! : undefined) ??
    (code === 'http_400' || code === 'invalid_request' ? problemText(sentence) : undefined) ??
    withMessage(code, sentence)
  )
}

/** What is wrong with a field, with its limit. */
function problemText(sentence: string): string | undefined {
  for (const [pattern, kind] of sentences) {
    const found = pattern.exec(sentence)
    if (found) return catalogue.problems[kind].replace('{{limit}}', () => found[1] ?? '')
  }
  return undefined
}

function withMessage(code: string, sentence: string): string {
  const { withMessage: known, detail } = catalogue
  const start = Object.hasOwn(known, code) ? known[code as keyof typeof known] : known.other
  return sentence === '' ? start : `${start} ${detail.replace('{{message}}', () => sentence)}`
}
