import { isFunctionWord, splitSentences } from '../language/index.ts'
import { currencyOf, numberOfWord, unitOfWord } from './read-number.ts'
import { isWhole, wordKeys, wordSet } from './words.ts'

interface Word {
  text: string
  /** Those of a word with a topic; empty for others. */
  keys: readonly string[]
  isName: boolean
  mayBeVerb: boolean
}

/** A part of a sentence that may have a verb. */
interface Part {
  words: readonly Word[]
  sentence: number
  /** "And" or a comma. */
  isJoined: boolean
}

/** The parts of an English text, and the places of each word by its keys, for who does what to whom. */
export interface Roles {
  parts: readonly Part[]
  places: ReadonlyMap<string, readonly (readonly [part: number, word: number])[]>
}

const language = 'en'
const tokenPattern = /[\p{L}\p{M}][\p{L}\p{M}\p{N}'’-]*|\d+(?:[.,:]\d+)*|[,;:()]/gu
const partStart = wordSet('and but while whereas when if because since unless although though which who that so')
const joining = wordSet('and or ,')
/** What follows belongs to a noun. */
const nounStart = wordSet(
  'a an the of in on at for with from by into onto per no each every any some their its his her our your my this these those only',
)
const adverb = /^(?!(?:ap|sup|re|multi|com|im)ply$|rely$|fly$).*ly$/
const nounEnd = /(?:er|or|ion|ment|al|ance|nes|ity|able|ible)$/
const auxiliaries = wordSet('is are was were be been being get gets got')
const articles = wordSet('a an the our its their his her your each every all both')
const finite = wordSet('is are was were has have had does did can could may might must should will would')
/** Between a subject and its verb. */
const between = finite.union(
  wordSet('be been being get gets got do shall also often always never not then now still usually'),
)
const maximumSubject = 5
const passiveReach = 3
const prepositions = wordSet(
  'of in on at for with from to into onto by before after during within until per each every as',
)
const places = wordSet('in on at')
const denial = /^(?:not|never|no|nor|neither|cannot|without)$|n['’]t$/
const pronouns = wordSet('it them him her')
/** Either may come first. */
const symmetric =
  /^(?:meet|met$|border|equal|marr|join|connect|link|match|resembl|differ|compar|replac|shar|cost|includ|contain|compris|consist|mean|follow)/
/** Most parts of a text and words of a part, most verbs of a sentence, and most places of each that are compared. */
const maximumParts = 1_000
const maximumWords = 40
const maximumVerbs = 40
const maximumPlaces = 20
/** A shorter part is one of several subjects or objects. */
const listed = 3

/** Reads who does what to whom in an English text. Linear. */
export function readRoles(text: string): Roles {
  const parts: Part[] = []
  const places = new Map<string, (readonly [number, number])[]>()
  for (const [sentence, { text: whole }] of splitSentences(text).entries()) {
    if (parts.length >= maximumParts) break
    const tokens = Array.from(whole.matchAll(tokenPattern), ([token]) => token)
    let words: Word[] = []
    let isJoined = false
    const close = () => {
      if (words.length > 0 && parts.length < maximumParts) parts.push({ words, sentence, isJoined })
      words = []
    }
    for (const [at, token] of tokens.entries()) {
      const lower = token.toLowerCase()
      if (/^[,;:()]/.test(token) || partStart.has(lower) || lower === 'or') {
        close()
        isJoined = joining.has(lower)
      } else if (words.length < maximumWords) words.push(readWord(tokens, at))
    }
    close()
  }
  for (const [part, { words }] of parts.entries())
    for (const [at, { keys }] of words.entries())
      for (const key of keys) {
        const known = places.get(key)
        if (known === undefined) places.set(key, [[part, at]])
        else if (known.length < maximumPlaces) known.push([part, at])
      }
  return { parts, places }
}

function readWord(tokens: readonly string[], at: number): Word {
  const token = tokens[at]!
  const text = token.toLowerCase()
  const isTopic = !/^\d/.test(text) && !isFunctionWord(text, language)
  const isCapital = /^\p{Lu}/u.test(token)
  const before = (tokens[at - 1] ?? '').toLowerCase()
  return {
    text,
    keys: isTopic ? wordKeys(text, language).filter(isWhole) : [],
    // "Employees" at the beginning is none.
    isName: isTopic && isCapital && (at > 0 || !text.endsWith('s') || /^\p{Lu}/u.test(tokens[at + 1] ?? '')),
    mayBeVerb:
      isTopic &&
      !isCapital &&
      !between.has(text) &&
      !adverb.test(text) &&
      !symmetric.test(text) &&
      (!text.endsWith('ing') || auxiliaries.has(before)) &&
      !nounStart.has(before) &&
      !/^\d/.test(before),
  }
}

interface Relation {
  agent: readonly Word[]
  object: readonly Word[]
  /** The object without what follows a preposition or a number. */
  core: readonly Word[]
  isPronoun: boolean
  /** "In the area". */
  isPlace: boolean
  part: number
}

const topicsOf = (words: readonly Word[]) => words.filter(({ keys }) => keys.length > 0)
const hasAny = (words: readonly Word[], others: readonly Word[]) =>
  words.some(({ keys }) => others.some((other) => other.keys.some((key) => keys.includes(key))))

const hasAll = (words: readonly Word[], others: readonly Word[]) => words.every((word) => hasAny([word], others))

/** Who does it, and to whom, at the place of a verb; null where one is not named, or where it is denied. */
function relationAt({ parts }: Roles, at: number, verb: number): Relation | null {
  const { words } = parts[at]!
  const company = words.findIndex(({ text }, place) => place > verb && (text === 'with' || text === 'together'))
  const [before, after, others] =
    company === -1
      ? [words.slice(0, verb), words.slice(verb + 1), []]
      : [words.slice(0, verb), words.slice(verb + 1, company), topicsOf(words.slice(company))]
  // "The tax rate is": what is before the verb is none.
  if (between.has(after[0]?.text ?? '') || after.some(({ text }) => finite.has(text))) return null
  if (words.some(({ text }) => denial.test(text))) return null
  const isPassive =
    !words[verb]!.text.endsWith('ing') &&
    (before.slice(-passiveReach).some(({ text }) => auxiliaries.has(text)) || (verb === 0 && after[0]?.text === 'by'))
  const subject = before.length === 0 ? subjectBefore(parts, at) : subjectOf(before)
  // "Managing access" has no verb.
  if (subject === null || topicsOf(subject).every(({ text, isName }) => text.endsWith('ing') && !isName)) return null
  const left = topicsOf([...listedBy(parts, at, -1), ...subject])
  if (!isPassive) {
    const list = listedBy(parts, at, 1)
    return {
      agent: [...left, ...others],
      object: topicsOf([...after, ...list]),
      core: topicsOf([...phraseOf(after), ...list]),
      isPronoun: after.some(({ text }) => pronouns.has(text)),
      isPlace: places.has(after[0]?.text ?? ''),
      part: at,
    }
  }
  const by = after.findIndex(({ text }) => text === 'by')
  const agent = by === -1 ? [] : topicsOf(phraseOf(after.slice(by + 1)))
  const isAgent = agent.length > 0 && !/ing$|day$/.test(agent[0]!.text)
  return isAgent ? { agent, object: left, core: left, isPronoun: false, isPlace: false, part: at } : null
}

/** The noun phrase that a part begins with, where nothing but auxiliaries and adverbs is between it and the verb; null for others. */
function subjectOf(before: readonly Word[]): readonly Word[] | null {
  const start = articles.has(before[0]?.text ?? '') ? 1 : 0
  let end = start
  while (end < before.length && (before[end]!.keys.length > 0 || isOf(before, end)) && !between.has(before[end]!.text))
    end++
  const subject = before.slice(start, end)
  const isRest = before.slice(end).every(({ text }) => between.has(text) || text.endsWith('ly'))
  const count = topicsOf(subject).length
  return isRest && count > 0 && count <= maximumSubject ? subject : null
}

/** Of the part before "and reports". */
function subjectBefore(parts: readonly Part[], at: number): readonly Word[] | null {
  const [own, before] = [parts[at]!, parts[at - 1]]
  if (!own.isJoined || before?.sentence !== own.sentence) return null
  const verb = before.words.findIndex(
    ({ mayBeVerb, text }, place) => place > 0 && ((mayBeVerb && /(?:s|ed)$/.test(text)) || between.has(text)),
  )
  return verb === -1 ? null : subjectOf(before.words.slice(0, verb))
}

/** "Of" or "of the" within a noun phrase. */
const isOf = (words: readonly Word[], at: number) =>
  at > 0 && (words[at]!.text === 'of' || (words[at - 1]!.text === 'of' && articles.has(words[at]!.text)))

/** Up to the first preposition or number behind its first word. */
function phraseOf(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(
    ({ text }, at) =>
      at > 0 && (prepositions.has(text) || numberOfWord(text, language) !== undefined || /^\d/.test(text)),
  )
  return end === -1 ? words : words.slice(0, end)
}

/** The other subjects of "the cooks and the trainees clean", or objects, in the part before or after. */
function listedBy(parts: readonly Part[], part: number, step: 1 | -1): readonly Word[] {
  const [own, other] = [parts[part]!, parts[part + step]]
  const isList = other?.sentence === own.sentence && (step === 1 ? other : own).isJoined
  if (!isList || topicsOf(other.words).length > listed) return []
  const hasVerb = other.words.some(
    (word, at) =>
      // "Adults pay 12 euros, children 7": the verb is left out.
      /^\d/.test(word.text) ||
      auxiliaries.has(word.text) ||
      (word.mayBeVerb && (hasAny([word], own.words) || articles.has(other.words[at + 1]?.text ?? ''))) ||
      (step === -1 && prepositions.has(word.text)),
  )
  return hasVerb ? [] : other.words
}

/** `swapped`: a text has one who does something in the place of another. */
export type ComparedRoles = 'stated' | 'swapped' | 'unknown'

/**
 * Compares who does what to whom: swapped is "Bern paid Basel" next to "Basel paid Bern", and "the tenant pays the water" next to "the tenant
 * pays the rent, the landlord pays the water". Linear in the text for each word of the sentence.
 */
export function compareRoles(claimed: Roles, text: Roles): ComparedRoles {
  const verbs = claimed.parts.flatMap(({ words }, part) =>
    words.flatMap((verb, at) => (verb.mayBeVerb ? [{ verb, part, at }] : [])),
  )
  let state: ComparedRoles = 'unknown'
  for (const { verb, part, at } of verbs.slice(0, maximumVerbs)) {
    const claim = relationAt(claimed, part, at)
    if (claim === null || claim.object.length === 0) continue
    const known = relationsOf(verb, text)
    const isStated = (by: 'core' | 'object') =>
      known.some((one) => hasAny(claim.agent, one.agent) && hasAny(claim[by], one[by]))
    if (!isStated('core') && known.some((one) => isReversed(claim, one, text))) return 'swapped'
    if (isStated('object')) state = 'stated'
    else if (known.some((one) => isOfOther(claim, one, text))) return 'swapped'
  }
  return state
}

/** Of none that is too frequent to compare all. */
function relationsOf(verb: Word, text: Roles): Relation[] {
  const places = new Map(
    verb.keys.flatMap((key) => text.places.get(key) ?? []).map((place) => [place.join(' '), place]),
  )
  return [...(places.size < maximumPlaces ? places.values() : [])].flatMap(([part, at]) =>
    isSameVerb(verb, text.parts[part]!.words[at]!) ? (relationAt(text, part, at) ?? []) : [],
  )
}

/** "Manages", and not "manager". */
const isSameVerb = ({ text }: Word, other: Word) => other.mayBeVerb && isNoun(text) === isNoun(other.text)
const isNoun = (text: string) => nounEnd.test(text.replace(/(?:s|ed|ing)$/, ''))

/** Each is in the place of the other. */
function isReversed({ agent, object, isPlace }: Relation, one: Relation, text: Roles): boolean {
  if (isPlace || one.isPlace) return false
  return hasAny(object, one.agent) && !hasAny(agent, one.agent) && hasAny(agent, objectOf(one, text))
}

/** With what a pronoun may stand for. */
function objectOf({ object, isPronoun, part }: Relation, { parts }: Roles): readonly Word[] {
  const before = parts[part - 1]
  return isPronoun && before?.sentence === parts[part]!.sentence ? [...object, ...before.words] : object
}

/** Another one does it, and who is named does something else. */
function isOfOther({ agent, core, object }: Relation, one: Relation, text: Roles): boolean {
  const { parts, places } = text
  if (hasAny(agent, one.agent) || core.every(isUnit) || !hasAll(core, objectOf(one, text))) return false
  if (!hasAll(object, [...objectOf(one, text), ...parts[one.part]!.words])) return false
  const areNames = [agent, one.agent].map((words) => words.some(({ isName }) => isName))
  return (
    areNames[0] === areNames[1] &&
    agent.some(({ keys }) =>
      keys.some((key) => places.get(key)?.some(([part, at]) => part !== one.part && isSubject(parts[part]!.words, at))),
    )
  )
}

/** "They earn 500 euros" may be stated in other words. */
const isUnit = ({ text }: Word) => unitOfWord(text) !== undefined || currencyOf(text) !== undefined

/** Before the first verb, or after "by". */
const isSubject = (words: readonly Word[], at: number) =>
  words[at - 1]?.text === 'by' ||
  words[at - 2]?.text === 'by' ||
  words.findIndex(({ mayBeVerb, text }) => mayBeVerb || between.has(text)) > at
