import { defaultLanguage, type Language, tokenize } from '../language/index.ts'
import { isContentWord, latinOf, type TextLanguage, wordKeys } from './text-language.ts'
import {
  afterAbsence,
  answerStart,
  clauseEnd,
  continuesPredicate,
  continuesSubject,
  exceptionStart,
  findNegations,
  isConditional,
  isWeak,
  limitsOf,
  numberSign,
  splitStatements,
  unlessStart,
  withoutModals,
  wordsThatMayDeny,
} from './negation-words.ts'
import { type Opposite, readOpposites } from './read-opposites.ts'

/** A part of a sentence that is denied or not. */
export interface Clause {
  /** The keys of each content word. */
  words: string[][]
  isNegated: boolean
  /** It has a word such as "without". */
  isAbsence: boolean
  /** It states a condition. */
  isCondition: boolean
  /** It is what the clause before does not hold for: "except in August". */
  isException: boolean
  /** Its words that may deny something, such as "only", and those that limit a denial, such as "until", and "without" in its sentence. */
  mayDeny: readonly string[]
  limits: readonly string[]
  /** Both of the whole sentence. */
  signs: ReadonlySet<string>
  /** Its words that have an opposite. */
  opposites: Opposite[]
  /** The keys of the content word after its negation, or after a word such as "without"; null where it has neither. */
  denied: string[] | null
  /** The sentence that it is part of, from 0. */
  sentence: number
}

const knownKeys = new WeakMap<Clause, ReadonlySet<string>>()

export function keysOf(clause: Clause): ReadonlySet<string> {
  const known = knownKeys.get(clause) ?? new Set(clause.words.flat())
  knownKeys.set(clause, known)
  return known
}

/** A clause with fewer content words belongs to the next one: items of a list, and the subject before an insertion. */
export const fewWords = 2
const subjectWords = 2
/** Most clauses of a text that are compared. */
const maximumClauses = 400

/** The clauses of a text; empty where the negations of its script are not known. Time is linear in the text. */
export function readClauses(text: string, language: TextLanguage): Clause[] {
  if (findNegations('', language) === null) return []
  const clauses: Clause[] = []
  const sentences = splitStatements(text.replaceAll(numberSign, 'number '))
  for (const [sentence, whole] of sentences.entries()) {
    if (clauses.length >= maximumClauses) break
    clauses.push(...readSentence(whole, { language, sentence, maximum: maximumClauses - clauses.length }))
  }
  return clauses
}

/** Words of a clause that the next one may continue. */
const maximumLast = 12
/** A clause after "but not" with more content words has a predicate itself. */
const maximumRest = 3

interface Place {
  language: TextLanguage
  sentence: number
  /** Most clauses. */
  maximum: number
}

function readSentence(text: string, { language, sentence, maximum }: Place): Clause[] {
  const latin = latinOf(language, defaultLanguage)
  const limitsOfSentence = limitsOf(text)
  const signs = new Set([...limitsOfSentence, ...wordsThatMayDeny(text)])
  const absences = limitsOfSentence.filter((word) => afterAbsence(word) !== null)
  const clauses: Clause[] = []
  const nothing = () => ({
    isCondition: false,
    isAbsence: false,
    opposites: [] as Opposite[],
    mayDeny: [] as string[],
    limits: [...absences],
  })
  /** Of the parts before that had few words. */
  let words: readonly string[] = []
  let open = nothing()
  /** A negation without words: "he did not, however, stop", "es ist verboten, zu rauchen". */
  let isPending = false
  /** The first words of the first clause, a title and the subject, and those of the last one. */
  let subject: readonly string[] = []
  let last: readonly string[] = []
  const add = (isNegated: boolean, denied: string[] | null) => {
    const keys = words.map((word) => wordKeys(word, latin))
    clauses.push({ ...open, words: keys, isNegated, isException: false, denied, sentence, signs })
    if (subject.length === 0) subject = words.slice(0, subjectWords)
    last = words.slice(0, maximumLast)
    words = []
    open = nothing()
  }
  for (const part of text.split(clauseEnd)) {
    if (clauses.length === maximum) return clauses
    if (clauses.length === 0 && answerStart.test(part)) continue
    const { own, opposites, negations, absent } = readPart(part, language)
    const isException = exceptionStart.test(part)
    if (isException || unlessStart.test(part)) {
      // "Open all year except in August" is "not open in August".
      const isNegated = isException && !(clauses.at(-1)?.isNegated ?? true)
      words = isNegated ? joinWords(last, own) : []
      open = { ...nothing(), opposites }
      add(isNegated, isNegated ? [] : null)
      clauses.at(-1)!.isException = true
      continue
    }
    if (words.length === 0 && continuesSubject(part)) words = subject
    if (own.length <= maximumRest && continuesPredicate(part)) words = last
    words = joinWords(words, own)
    open.isCondition ||= isConditional(part, latin)
    open.isAbsence ||= absent !== null
    open.mayDeny.push(...wordsThatMayDeny(part))
    open.limits.push(...limitsOf(part))
    if (negations.count > 0 && own.length === 0 && opposites.every((one) => one.isNegation)) {
      isPending = !isPending
      continue
    }
    open.opposites.push(...opposites)
    const count = negations.count + (isPending && own.length > 0 ? 1 : 0)
    if (words.length < fewWords && count === 0) continue
    if (own.length > 0) isPending = false
    const isNegated = count % 2 === 1
    add(isNegated, firstKeys(isNegated ? negations.after : absent, latin))
  }
  if (words.length > 0 && clauses.length < maximum) add(isPending, isPending ? [] : null)
  return clauses
}

function readPart(part: string, language: TextLanguage) {
  const latin = latinOf(language, defaultLanguage)
  const opposites = readOpposites(part, language)
  // What forbids is no topic.
  const signs = new Set(opposites.filter((one) => one.isNegation).map(({ word }) => word))
  return {
    own: tokenize(withoutModals(part), { singleCharacters: false }).filter(
      (word) => isContentWord(word, latin) && !signs.has(word),
    ),
    opposites,
    negations: findNegations(part, language)!,
    absent: afterAbsence(part),
  }
}

const joinWords = (left: readonly string[], right: readonly string[]) => [...new Set([...left, ...right])]

/** So many words after a negation may be what it denies. */
const deniedReach = 4

/** The keys of the first content word of a text, of a weak one if no other follows; none where it begins with more function words. */
function firstKeys(text: string | null, latin: Language): string[] | null {
  if (text === null) return null
  const words = tokenize(text, { singleCharacters: false })
    .slice(0, deniedReach)
    .filter((word) => isContentWord(word, latin))
  const first = words.find((word) => !isWeak(word)) ?? words[0]
  return first === undefined ? [] : wordKeys(first, latin)
}
