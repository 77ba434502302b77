import { defaultLanguage, isFunctionWord, type Language, tokenize } from '../language/index.ts'
import { wordKeys } from './evidence-words.ts'
import { isNegation } from './negation-words.ts'
import { oppositeSides } from './opposite-words.ts'
import { latinOf, type TextLanguage } from './text-language.ts'

/** A word of a clause that has an opposite. */
export interface Opposite {
  /** As in `oppositeSides`. */
  side: number
  word: string
  /** The next word or number. */
  next: string | undefined
  /** The keys of the words and numbers around it, without function words. */
  around: () => readonly { keys: readonly string[]; distance: number; isAfter: boolean }[]
  /** `just before`: a negation is there, so that "not yet open" is "closed". `before`: what it denies is not clear. */
  negation: 'just before' | 'before' | null
  /** It counts as a negation itself, such as "forbidden". */
  isNegation: boolean
}

/** Languages whose negation follows the verb. */
const verbFirst = new Set(['de', 'nl', 'sv', 'da', 'no', 'fr'])
/** So many words after a negation an opposite may be denied by it. */
const negationReach = 3
/** "No longer". */
const partsOfNegations = new Set(['longer', 'more', 'mehr', 'plus', 'más', 'più', 'mais'])

/** The words of a clause that have an opposite. Time is linear in the text. */
export function readOpposites(text: string, language: TextLanguage): Opposite[] {
  const latin = latinOf(language, defaultLanguage)
  const tokens = tokenize(text.replaceAll(contracted, ' not'), { singleCharacters: false })
  const negates = (words: string) => isNegation(words, language)
  // The passages of a tool may be one long clause.
  let firstNegation: number | undefined
  const isAfterNegation = (at: number) => {
    firstNegation ??= isNegation(text, language) ? (verbFirst.has(latin) ? -1 : tokens.findIndex(negates)) : Infinity
    return at > firstNegation
  }
  return tokens.flatMap((word, at) => {
    const sides = oppositeSides(word, latin)
    if (sides.length === 0) return []
    const before = tokens.slice(Math.max(0, at - negationReach), at)
    // Of "not required for small ones" only the first word is denied.
    const other = before.findLastIndex((one) => oppositeSides(one, latin).length > 0 && !partsOfNegations.has(one))
    const isJustBefore = negates(before.slice(other + 1).join(' '))
    const negation = isJustBefore ? 'just before' : isAfterNegation(at) ? 'before' : null
    let read: ReturnType<Opposite['around']> | undefined
    const around = () =>
      (read ??= [
        ...readAround(tokens.slice(Math.max(0, at - aroundReach), at).toReversed(), latin, false),
        ...readAround(tokens.slice(at + 1, at + aroundReach + 1), latin, true),
      ])
    return sides.map((side) => ({ side, word, next: tokens[at + 1], around, negation, isNegation: negates(word) }))
  })
}

/** The words next to an opposite, nearest first, up to a conjunction: "frequent in July and rare in May". */
function readAround(tokens: readonly string[], latin: Language, isAfter: boolean) {
  const end = tokens.findIndex((word) => conjunctions.has(word))
  return tokens
    .slice(0, end === -1 ? tokens.length : end)
    .flatMap((word, at) =>
      isFunctionWord(word, latin) ? [] : [{ keys: wordKeys(word, latin), distance: at + 1, isAfter }],
    )
}

const conjunctions = new Set(
  'and or but while whereas und oder aber während et ou y e o pero mais mas en of och men i ale и но а'.split(' '),
)

/** So many words on each side show what an opposite is about. */
const aroundReach = 6

const contracted = /n['’]t(?!\p{L})/gu
