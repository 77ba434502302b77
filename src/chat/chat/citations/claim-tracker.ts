import { type Claims, mergeClaims, readClaims } from '../../../platform/evidence/index.ts'
import { detectLatinLanguage, type Language, splitSentences, tokenize } from '../../../platform/language/index.ts'
import { trimSentenceEnd } from './cited-sentence.ts'

/** UTF-16 units of text that are kept for the sentence of a marker. */
const maximumUnits = 600
/** Most parts of a sentence that markers separate. */
const maximumParts = 8
/** Less text does not show the language of an answer, and more is not needed, UTF-16 units. */
const leastLanguageUnits = 100
const maximumLanguageUnits = 2_000

const letterOrDigit = /[\p{L}\p{N}]/u

/** Follows an answer and reads the claims of its sentences, once for each part between two rows of markers. Time is linear in the text. */
export function createClaimTracker() {
  /** The text since the last row. */
  let text = ''
  let isStart = true
  /** The claims of the parts of the current sentence. */
  let parts: Claims[] = []
  let beginning = ''
  let language: Language | null = null
  /** The length of `beginning` at which the language is tried next. */
  let nextLanguageUnits = leastLanguageUnits

  function answerLanguage(): Language | null {
    if (language === null && beginning.length >= nextLanguageUnits) {
      nextLanguageUnits = beginning.length === maximumLanguageUnits ? Number.POSITIVE_INFINITY : 2 * beginning.length
      language = detectLatinLanguage(tokenize(beginning, { singleCharacters: false }))
    }
    return language
  }

  return {
    /** The language of the answer so far, if it is written in Latin letters and shows it. */
    language: answerLanguage,
    push(added: string): void {
      if (beginning.length < maximumLanguageUnits) beginning += added.slice(0, maximumLanguageUnits - beginning.length)
      text += added.slice(-maximumUnits)
      // Cutting at twice the length keeps the time linear for a text that arrives in single characters.
      if (text.length > 2 * maximumUnits) {
        text = text.slice(-maximumUnits)
        isStart = false
        parts = []
      }
    },
    /**
     * The claims of the sentence before a row of markers: the part since the last row, and all of it. Empty where the text comes after the
     * row. `rest`: the text after the row so far. `isNew`: there is text since the last row.
     */
    atRow(rest: string): { statements: Claims[]; isNew: boolean } {
      const since = text.slice(-maximumUnits)
      const wasStart = isStart
      text = ''
      isStart = false
      if (leadsStatement(since, wasStart, rest)) {
        parts = []
        return { statements: [], isNew: true }
      }
      const { inner: body } = trimSentenceEnd(since)
      const start = splitSentences(body).at(-1)?.from ?? 0
      const part = body.slice(start)
      if (!letterOrDigit.test(part)) return { statements: parts.length === 0 ? [] : [mergeClaims(parts)], isNew: false }
      if (start > 0) parts = []
      const claims = readClaims(part, answerLanguage())
      parts = [...parts, claims].slice(-maximumParts)
      return { statements: parts.length > 1 ? [claims, mergeClaims(parts)] : [claims], isNew: true }
    },
  }
}

/** Whether a row begins a line of text, a list item or a cell: it belongs to what follows. Alone on its line it belongs to what is before. */
function leadsStatement(since: string, isStart: boolean, rest: string): boolean {
  const newline = since.lastIndexOf('\n')
  if (newline === -1 && !isStart) return false
  if (letterOrDigit.test(since.slice(newline + 1).replace(/^\s*\d{1,3}[.)]\s*$/u, ''))) return false
  return rest.trimStart() !== '' && !/^[ \t]*\n/.test(rest)
}
