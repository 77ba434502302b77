import { defaultLanguage, type Language, tokenize } from '../language/index.ts'
import { isContentWord, latinOf, type TextLanguage, wordKeys } from './words.ts'
import {
  afterAbsence,
  afterStopping,
  answerStart,
  beforeAuxiliary,
  beginsPredicate,
  beginsWithDemonstrative,
  beginsWithPronoun,
  clauseEnd,
  continuesDenial,
  continuesPredicate,
  continuesSubject,
  endsList,
  endsWithDenial,
  exceptionStart,
  findNegations,
  isConditional,
  isNecessity,
  isNegation,
  isOption,
  isWeak,
  limitsOf,
  showsOption,
  signsOfCells,
  splitStatements,
  unlessStart,
  withoutModals,
  withPlainNumbers,
  withPlainWords,
  wordsThatMayDeny,
} from './negation-words.ts'
import { numberOfWord } from './read-number.ts'
import { isStatedByAmount } from './amounts.ts'
import { readRates } from './rates.ts'
import {
  afterOnly,
  isUniversal,
  type Opposite,
  readOpposites,
  type Restriction,
  restrictionsOf,
  startsWithRestriction,
} from './read-opposites.ts'

/** A part of a sentence that is denied or not. */
export interface Clause {
  /** The keys of each content word. */
  words: (readonly string[])[]
  isNegated: boolean
  /** It has a word such as "without". */
  isAbsence: boolean
  /** The keys of the content word after that; empty where it has none. */
  absent: readonly string[]
  /** It states that something is necessary; that it is not; that it may be. */
  isNecessity: boolean
  isOption: boolean
  showsOption: boolean
  /** It states a condition. */
  isCondition: boolean
  /** It is what the clause before does not hold for: "except in August". */
  isException: boolean
  /** The keys of each of its words then, without those of the clause before. */
  except: readonly (readonly string[])[]
  /** Its words that may deny something, such as "only", and those that limit a denial, such as "until", and "without" in its sentence. */
  mayDeny: readonly string[]
  limits: readonly string[]
  /** The keys of the words after one such as "stops". */
  stopped: readonly string[]
  /** Both of the whole sentence. */
  signs: ReadonlySet<string>
  /** Its words that have an opposite. */
  opposites: Opposite[]
  /** The keys of the content word after its negation, or after a word such as "without"; null where it has neither. */
  denied: readonly string[] | null
  /** It states something of all. */
  isUniversal: boolean
  /** What limits it; whether it begins so; the keys of the words after "only with" and the like, where it allows something. */
  restrictions: readonly Restriction[]
  startsRestricted: boolean
  only: readonly string[]
  /** By `readRates`. */
  rates: readonly number[]
  /** The sentence that it is part of, from 0. */
  sentence: number
}

const knownKeys = new WeakMap<Clause, ReadonlySet<string>>()

export function keysOf(clause: Clause): ReadonlySet<string> {
  const known = knownKeys.get(clause) ?? new Set(clause.words.flat())
  knownKeys.set(clause, known)
  return known
}

/** The share of words, each with its keys, that are among known keys. */
export function shareIn(words: readonly (readonly string[])[], known: ReadonlySet<string>): number {
  return words.filter((keys) => keys.some((key) => known.has(key))).length / words.length
}

const knownSentences = new WeakMap<readonly Clause[], ReadonlyMap<number, ReadonlySet<string>>>()

/** The keys of the words of each sentence. */
export function wordsOfSentences(text: readonly Clause[]): ReadonlyMap<number, ReadonlySet<string>> {
  const known = knownSentences.get(text)
  if (known) return known
  const bySentence = Map.groupBy(text, ({ sentence }) => sentence)
  const found = new Map(
    [...bySentence].map(([sentence, clauses]) => [sentence, new Set(clauses.flatMap(({ words }) => words.flat()))]),
  )
  knownSentences.set(text, found)
  return found
}

/** Each clause that denies or stops something, and the words of its sentence. */
interface Denial {
  clause: Clause
  sentence: ReadonlySet<string>
}
const knownDenials = new WeakMap<readonly Clause[], Denial[]>()

/** Those of a text. */
export function denialsOf(text: readonly Clause[]): Denial[] {
  const known = knownDenials.get(text)
  if (known) return known
  const sentences = wordsOfSentences(text)
  const found = text.flatMap((clause) =>
    clause.denied === null && clause.stopped.length === 0
      ? []
      : [{ clause, sentence: sentences.get(clause.sentence)! }],
  )
  knownDenials.set(text, found)
  return found
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
  const sentences = splitStatements(withPlainWords(withPlainNumbers(text)))
  const latin = latinOf(language, defaultLanguage)
  let topic: readonly string[] = []
  for (const [sentence, whole] of sentences.entries()) {
    if (clauses.length >= maximumClauses) break
    const isPointing = beginsWithDemonstrative(whole)
    const isContinued = !isPointing && beginsWithPronoun(whole)
    const before = isPointing ? beginningOf(sentences[sentence - 1] ?? '', latin) : isContinued ? topic : []
    clauses.push(
      ...readSentence(whole, { language, sentence, maximum: maximumClauses - clauses.length, topic: before }),
    )
    if (!isContinued && !isPointing) topic = topicOf(whole, latin)
  }
  return clauses
}

/** Words of a clause that the next one may continue. */
const maximumLast = 12
/** Most words of a clause that have an opposite and are compared, each with each of another clause. */
const maximumOpposites = 60
/** A clause after "but not" with more content words has a predicate itself. */
const maximumRest = 3

interface Place {
  language: TextLanguage
  sentence: number
  /** What its pronoun stands for. */
  topic: readonly string[]
  /** Most clauses. */
  maximum: number
}

function readSentence(text: string, { language, sentence, topic, maximum }: Place): Clause[] {
  const latin = latinOf(language, defaultLanguage)
  const limitsOfSentence = limitsOf(text)
  const signs = new Set([...limitsOfSentence, ...wordsThatMayDeny(text)])
  const absences = limitsOfSentence.filter((word) => afterAbsence(word, () => false) !== null)
  const clauses: Clause[] = []
  const cells = signsOfCells(text)
  const nothing = () => emptyClause(cells, absences)
  const topicOfText = topicOf(text, latin)
  /** Of the parts before that had few words. */
  let words: readonly string[] = topic
  let open = nothing()
  /** A negation without words: "he did not, however, stop", "es ist verboten, zu rauchen". */
  let isPending = false
  /** The first words of the first clause, a title and the subject, and those of the last one. */
  let subject: readonly string[] = []
  let last: readonly string[] = []
  /** Those of the last clause after its subject. */
  let predicate: readonly string[] = []
  /** Of the parts of a list before its predicate. */
  let listed: readonly string[] = []
  const add = (isNegated: boolean, denied: readonly string[] | null) => {
    const keys = words.map((word) => wordKeys(word, latin))
    const { predicate: _, ...marks } = open
    clauses.push({ ...marks, words: keys, isNegated, isException: false, except: [], denied, sentence, signs })
    if (subject.length === 0) subject = words.slice(0, subjectWords)
    last = words.slice(0, maximumLast)
    predicate = open.predicate.slice(0, maximumLast)
    words = []
    open = nothing()
  }
  for (const part of joinDeniedLists(joinExceptions(text.split(clauseEnd)), language)) {
    if (clauses.length === maximum) return clauses
    if (clauses.length === 0 && answerStart.test(part)) continue
    const isException = exceptionStart.test(part)
    // "Open unless it snows" is "not open if it snows".
    const isUnless = !isException && unlessStart.test(part)
    const start = isException ? exceptionStart : isUnless ? unlessStart : null
    const { own, opposites, negations, absent } = readPart(start ? part.replace(start, ' ') : part, language)
    const isShort = own.length > 0 && own.length <= maximumRest
    const isReversed = isException || (isUnless && isShort && last.length > 0 && !clauses.at(-1)!.isNegated)
    if (isException || isUnless) {
      // "Open all year except in August" is "not open in August".
      const isNegated = isReversed && !(clauses.at(-1)?.isNegated ?? true)
      words = isReversed ? joinWords(last, own) : []
      const added = own.filter((word) => !last.includes(word))
      // It has the opposite of what the clause before states.
      const before = isReversed ? (clauses.at(-1)?.opposites ?? []) : []
      open = { ...nothing(), ...exceptionMarks({ before, opposites, isNegated }) }
      add(isNegated, isNegated ? [] : null)
      const exception = clauses.at(-1)!
      exception.isException = true
      if (isReversed) exception.except = added.map((word) => wordKeys(word, latin))
      continue
    }
    const topics = { subject, listed, last, predicate, topic: clauses.length > 0 ? topicOfText : [] }
    words = joinWords(continuedBy(part, { words, own, ...topics }), own)
    open.predicate = joinWords(open.predicate, predicateOf(part, latin))
    markPart(open, part, { absent, script: language.script, latin })
    if (negations.count > 0 && own.length === 0 && opposites.every((one) => one.isNegation)) {
      isPending = !isPending
      continue
    }
    open.opposites = [...open.opposites, ...opposites].slice(0, maximumOpposites)
    const isContinued = negations.count === 0 && isDenying(clauses.at(-1)) && continuesDenial(part)
    const count = negations.count + (isPending && own.length > 0 ? 1 : 0) + (isContinued ? 1 : 0)
    if (words.length < fewWords && count === 0) continue
    if (own.length > 0) isPending = false
    const isNegated = count % 2 === 1
    const isOfList = !isNegated && !open.isCondition && beforeAuxiliary(part) === null
    listed = isOfList ? joinWords(listed, words).slice(0, maximumLast) : []
    add(isNegated, firstKeys(isNegated ? negations.after : absent, latin))
  }
  if (words.length > 0 && clauses.length < maximum) add(isPending, isPending ? [] : null)
  completeShort(clauses)
  return clauses
}

function exceptionMarks({
  before,
  opposites,
  isNegated,
}: {
  before: readonly Opposite[]
  opposites: readonly Opposite[]
  isNegated: boolean
}) {
  const negation = isNegated ? ('just before' as const) : null
  return {
    opposites: [...before.map((one) => ({ ...one, negation })), ...opposites],
    restrictions: ['exception' as const],
    startsRestricted: true,
  }
}

type Continued = Record<'words' | 'own' | 'subject' | 'listed' | 'last' | 'predicate' | 'topic', readonly string[]>

/** The words of the clauses before that a part continues. `own`: its own ones. */
function continuedBy(part: string, { own, last, predicate, ...before }: Continued): readonly string[] {
  const { subject, listed, topic } = before
  let { words } = before
  if (words.length === 0 && continuesSubject(part)) words = subject
  if (words.length === 0 && topic.length > 0 && beginsWithPronoun(part)) words = topic
  if (words.length === 0 && beginsWithDemonstrative(part)) words = last
  if (words.length === 0 && beginsPredicate(part)) words = listed.length > 0 ? listed : subject
  if (words.length === 0 && endsList(part)) words = listed
  if (own.length > maximumRest) return words
  // "The tray is dishwasher-safe, the pump is not".
  if (own.length > 0 && predicate.length > 0 && endsWithDenial(part)) return predicate
  return continuesPredicate(part) ? last : words
}

/** "Except when it rains" is one part. */
const joinExceptions = (parts: readonly string[]) =>
  parts.reduce<string[]>((joined, part) => {
    const last = joined.at(-1)
    const isOpen = last !== undefined && exceptionStart.test(last) && last.replace(exceptionStart, '').trim() === ''
    if (isOpen) joined[joined.length - 1] += part
    else joined.push(part)
    return joined
  }, [])

/** Most words of an item, and most items of a list that is denied. */
const maximumItem = /^\s*[\p{L}\p{M}\p{N}'’-]{1,30}(?:\s+[\p{L}\p{M}\p{N}'’-]{1,30}){0,3}\s*$/u
const maximumItems = 8
const example = /^\s*(?:such as|like|including|for example|e\.?g)(?!\p{L})/u
const lastItem = /(?:^|\s)(?:or|nor|oder|ou|o)\s/u

/** "Not able to accept A, B or C" denies all of them: items without a verb, the last one after "or". */
function joinDeniedLists(parts: readonly string[], language: TextLanguage): string[] {
  const joined: string[] = []
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    const isItem = (one: string) =>
      maximumItem.test(one) &&
      !example.test(one) &&
      beforeAuxiliary(one) === null &&
      findNegations(one, language)!.count === 0
    let last = 0
    if (findNegations(part, language)!.count === 1)
      for (let next = 1; next <= maximumItems && isItem(parts[at + next] ?? ''); next++)
        if (lastItem.test(parts[at + next]!)) last = next
    joined.push(parts.slice(at, at + last + 1).join(' '))
    at += last
  }
  return joined
}

/** A clause before its parts are read. */
function emptyClause(mayDeny: readonly string[], limits: readonly string[]) {
  return {
    isCondition: false,
    isAbsence: false,
    absent: [] as string[],
    isNecessity: false,
    isOption: false,
    showsOption: false,
    predicate: [] as string[],
    isUniversal: false,
    restrictions: [] as Restriction[],
    startsRestricted: false,
    only: [] as string[],
    rates: [] as number[],
    stopped: [] as string[],
    opposites: [] as Opposite[],
    mayDeny: [...mayDeny],
    limits: [...limits],
  }
}

/** Adds what a part of a clause states apart from its words. `absent`: what follows a word such as "without". */
function markPart(
  open: ReturnType<typeof emptyClause>,
  part: string,
  { absent, script, latin }: { absent: string | null; script: string | null; latin: Language },
) {
  open.isCondition ||= isConditional(part, latin)
  if (absent !== null) {
    open.isAbsence = true
    open.absent.push(...firstKeys(absent, latin)!)
  }
  open.isNecessity ||= isNecessity(part)
  open.isOption ||= isOption(part)
  open.showsOption ||= showsOption(part)
  for (const stopped of afterStopping(part)) open.stopped.push(...keysOfWords(stopped, latin))
  open.isUniversal ||= isUniversal(part, { script, latin })
  open.restrictions.push(...restrictionsOf(part, { script, latin }))
  open.startsRestricted ||= startsWithRestriction(part, { script, latin })
  const condition = afterOnly(part)
  if (condition !== null) open.only.push(...keysOfWords(condition, latin))
  open.rates.push(...readRates(part, latin))
  open.mayDeny.push(...wordsThatMayDeny(part))
  open.limits.push(...limitsOf(part))
}

const isDenying = (clause: Clause | undefined) => clause !== undefined && clause.isNegated && !clause.isException

/** "The route is not active and leads north": the words of the next clause show what the first one is about. */
function completeShort(clauses: Clause[]) {
  for (const [at, clause] of clauses.entries()) {
    const next = clauses[at + 1]
    if (isDenying(clause) && clause.words.length < fewWords && next !== undefined && !next.isCondition)
      clause.words = [...clause.words, ...next.words]
  }
}

function readPart(part: string, language: TextLanguage) {
  const latin = latinOf(language, defaultLanguage)
  const negations = findNegations(part, language)!
  const opposites = readOpposites(part, language)
    .slice(0, maximumOpposites)
    .filter(({ word }) => negations.count > 0 || !isStatedByAmount(word, part))
  const absent = afterAbsence(part, (word) => isNegation(word, language))
  // What forbids is no topic.
  const signs = new Set(opposites.filter((one) => one.isNegation).map(({ word }) => word))
  return {
    own: tokenize(withoutModals(part), { singleCharacters: false }).filter(
      (word) => isContentWord(word, latin) && !signs.has(word) && numberOfWord(word, latin) === undefined,
    ),
    opposites,
    negations,
    absent,
  }
}

const joinWords = (left: readonly string[], right: readonly string[]) => [...new Set([...left, ...right])]

/** So many words after a negation may be what it denies. */
const deniedReach = 4

/** The keys of the first content word of a text, of a weak one if no other follows; none where it begins with more function words. */
function firstKeys(text: string | null, latin: Language): readonly string[] | null {
  if (text === null) return null
  const words = tokenize(text, { singleCharacters: false })
    .slice(0, deniedReach)
    .filter((word) => isContentWord(word, latin) && numberOfWord(word, latin) === undefined)
  const first = words.find((word) => !isWeak(word)) ?? words[0]
  return first === undefined ? [] : wordKeys(first, latin)
}

const keysOfWords = (text: string, latin: Language) =>
  tokenize(text, { singleCharacters: false })
    .filter((word) => isContentWord(word, latin))
    .slice(0, deniedReach)
    .flatMap((word) => wordKeys(word, latin))

/** The content words after the first verb of a clause, as far as verbs are known. */
function predicateOf(part: string, latin: Language): string[] {
  const before = beforeAuxiliary(part)
  if (before === null) return []
  return tokenize(part.slice(before.length), { singleCharacters: false }).filter((word) => isContentWord(word, latin))
}

/** Most words of a topic. */
const maximumTopic = 3

/** The content words before the first verb of a sentence, as far as verbs are known. */
function topicOf(sentence: string, latin: Language): string[] {
  const before = beforeAuxiliary(sentence.split(clauseEnd, 1)[0]!)
  const words = tokenize(before ?? sentence.slice(0, maximumTopicUnits), { singleCharacters: false })
  return words.filter((word) => isContentWord(word, latin)).slice(0, before === null ? 1 : maximumTopic)
}

/** The first content words of a sentence, for "this" in the next one. */
const beginningOf = (sentence: string, latin: Language) =>
  tokenize(sentence.slice(0, maximumTopicUnits), { singleCharacters: false })
    .filter((word) => isContentWord(word, latin))
    .slice(0, maximumBeginning)

const maximumBeginning = 4
const maximumTopicUnits = 200
