import { defaultLanguage, isFunctionWord, type Language, tokenize } from '../language/index.ts'
import { type Amount, readAmounts } from './amounts.ts'
import { type Clause, readClauses } from './clauses.ts'
import { type Operation, readOperations } from './derived-numbers.ts'
import { type Bound, type Item, readBounds, readItems } from './items.ts'
import { isNegation, withPlainWords } from './negation-words.ts'
import { type Figure, isShareWord, monthOfName, readFigures, readShares, type Share } from './read-figures.ts'
import { normaliseNumerals } from './read-number.ts'
import { type Roles, readRoles } from './roles.ts'
import {
  compoundsOf,
  detectTextLanguage,
  isContentWord,
  latinOf,
  synonymsOf,
  type TextLanguage,
  wordKeys,
} from './words.ts'

/** The parts of a sentence that can be compared with a passage. */
export interface Claims {
  language: TextLanguage
  figures: Figure[]
  /** Shares in words. */
  shares: Share[]
  /** Its numbers with what they count. */
  amounts: () => readonly Amount[]
  /** The amounts that it lists, each with its words; in the language of the passage, where it does not show its own. */
  items: (latin: Language) => readonly Item[]
  /** When it states that something begins or ends. */
  bounds: (latin: Language) => readonly Bound[]
  /** How the sentence shows that it computes numbers. */
  operations: ReadonlySet<Operation>
  /** Names, each as the keys of its words. */
  names: { words: Name; keys: (readonly string[])[] }[]
  quotes: string[]
  /** Its words with a capital letter, in lower case. */
  capitals: ReadonlySet<string>
  /** The keys of each different content word. */
  words: (readonly string[])[]
  /** For each of them the keys of words that mean the same. */
  synonyms: () => readonly (readonly string[])[]
  /** Who does what to whom in it, for English. */
  roles: () => Roles
  /** Its clauses; `language` of the passage, where the sentence does not show its own. */
  clauses: (language: TextLanguage) => readonly Clause[]
}

/** List signs, numbers of list items, and addresses: no statements. */
const listSign = /^\s*(?:[-*+•>#|]+\s+|\d{1,3}[.)]\s+)*/u
const linkPattern = /\]\([^)\s]{1,2000}\)|https?:\/\/\S+/gu
/** "Step 3", "page 5": places in a document or an answer. */
const placePattern =
  /(?<![a-zß-ɏ])(?:steps?|schritte?|étape|paso|passo|stap|page|pages|seiten?|página|pagina|rows?|zeilen?|section|abschnitt|chapter|kapitel|passage|source|quelle)\s{1,2}\d{1,4}/giu

/** "1) first, 2) second". */
const inlineSign = /(?<!\([^()]{0,60})(?<![\p{L}\d.,])[1-9]\)(?=\s)/gu
const sourceWords = '(?:documents?|passages?|texts?|sources?|files?|context|information|excerpts?)'
const bySource = `(?:according to|based on|as (?:stated|mentioned|described|explained|noted) in) (?:[a-z]{1,10} ){0,3}?${sourceWords}`
/** What leads to a statement and states nothing: "in short", "according to the documents", "it is important to note that". */
const leads = [
  `(?:yes|no|sure|certainly|unfortunately|finally|however|therefore|thus|hence|additionally|furthermore|moreover|also|overall|similarly|specifically|of course|as a result|on the other hand|in (?:short|summary|conclusion|addition|fact|brief|other words|particular|contrast)|for (?:example|instance)|to (?:answer|summari[sz]e)[^,:;.]{0,30}|${bySource}), `,
  "(?:please )?note that |this means that |it (?:seems|appears) that |it(?: is|['’]s) (?:also )?(?:important|worth) (?:to note|to remember|noting|mentioning) that ",
  `(?:the (?:[a-z]{1,10} )?)?${sourceWords}(?: \\d{1,3})? (?:also )?(?:states?|says?|mentions?|explains?|notes?|shows?|indicates?)(?: that|:) `,
  "(?:here(?: is| are|['’]s) [^:.;,\\n]{0,60}|\\*{0,2}(?:short )?answer\\*{0,2}): ",
  '(?:ja|nein|außerdem|zudem|kurz gesagt|zusammengefasst|oui|non|cependant|par exemple|de plus|en (?:résumé|bref)|sí|sin embargo|por ejemplo|además|en resumen), ',
  // What its writer does not know is not in the files.
  "(?:(?:unfortunately|sorry),? )?(?:i|we) (?:(?:do not|don['’]t|could not|couldn['’]t|cannot|can['’]t|am not|are not) (?:[a-z]{1,20} ){0,2}?(?:have|find|see|know|aware|sure|provide)|have no)(?![a-z])[^.!?;\\n]{0,150}?(?:,? but(?: i can (?:say|tell you)(?: that)?)?|[,;] however,?) ",
]
const leadPattern = new RegExp(leads.join('|'), 'y')
const tailPattern = new RegExp(`,? ${bySource}[.\\s]{0,3}$`)
const maximumLeads = 3
/** For `prepareSupport`. */
export const patternsOfLeads = [leadPattern, tailPattern]

/** A statement without what is around it. The patterns read lower case: those that ignore case take long to compile, and repeated ones too. */
function withoutLeads(text: string): string {
  // The only letter that is longer in lower case.
  const lower = text.replaceAll('İ', 'I').toLowerCase()
  let start = 0
  for (let count = 0; count < maximumLeads; count++) {
    leadPattern.lastIndex = start
    if (!leadPattern.test(lower)) break
    start = leadPattern.lastIndex
  }
  return text.slice(start, tailPattern.exec(lower)?.index)
}

/** Pairs of characters with a particle are no words. */
const particles = /^(?:[的了是在和与及才也就]\p{Script=Han}|\p{Script=Han}[的了是在和与及才也就])$/u

/** Reads a sentence. `answerLanguage`: the language of the text around it, for sentences that are too short to show theirs. */
export function readClaims(sentence: string, answerLanguage: Language | null = null): Claims {
  const text = withoutLeads(normaliseNumerals(sentence).replace(listSign, ''))
    .replaceAll(inlineSign, ' ')
    .replaceAll(linkPattern, ' ')
    .replaceAll(placePattern, ' ')
  const tokens = tokenize(text, { singleCharacters: false })
  const words = [...new Set(tokens)]
  const detected = detectTextLanguage(tokens)
  const language = detected.script === 'latin' ? { ...detected, latin: detected.latin ?? answerLanguage } : detected
  const latin = latinOf(language, defaultLanguage)
  const latinFor = (other: Language) => language.latin ?? other
  const { shares, rest } = readShares(text)
  const figures = readFigures(rest, latin, {
    asClaims: true,
    isGuess: language.latin === null,
  })
  const hasShare = shares.length > 0 || figures.some((figure) => figure.type === 'number' && figure.isPercent)
  const keys = [
    ...words
      .filter((word) => isContentWord(word, latin) && !isNegation(word, language) && !(hasShare && isShareWord(word)))
      .filter((word) => !particles.test(word))
      .map((word) => wordKeys(word, latin)),
    ...[...new Set(compoundsOf(tokens, latin))].map((compound) => [compound]),
  ]
  return {
    language,
    figures,
    shares,
    amounts: once(() => readAmounts(withPlainWords(rest.toLowerCase()), latin)),
    items: onceFor(latinFor, (other) => readItems(new Map([[0, rest]]), latinFor(other))),
    bounds: onceFor(latinFor, (other) => readBounds(text, latinFor(other))),
    operations: readOperations(text, words),
    names: readNames(text, latin).map((name) => ({ words: name, keys: name.map((word) => wordKeys(word, latin)) })),
    quotes: readQuotes(text),
    capitals: new Set(Array.from(text.matchAll(capitalPattern), ([word]) => word.toLowerCase())),
    words: keys,
    synonyms: once(() =>
      keys.map(([word]) =>
        synonymsOf(word!, latin).flatMap((one) => wordKeys(one, latin).filter((key) => !key.endsWith('*'))),
      ),
    ),
    roles: once(() => readRoles(text)),
    clauses: onceFor(nameOfText, (other) => readClauses(text, language.latin === null ? other : language)),
  }
}

/** The claims of parts of one sentence together. */
export function mergeClaims(parts: readonly Claims[]): Claims {
  const last = parts.at(-1)!
  if (parts.length === 1) return last
  const words = new Map(parts.flatMap(({ words: keys }) => keys.map((one) => [one[0], one])))
  const synonyms = () =>
    new Map(parts.flatMap((part) => part.synonyms().map((keys, at) => [part.words[at]![0], keys] as const)))
  return {
    language: parts.find(({ language }) => language.script !== null)?.language ?? last.language,
    figures: parts.flatMap(({ figures }) => figures),
    shares: parts.flatMap(({ shares }) => shares),
    amounts: once(() => parts.flatMap(({ amounts }) => amounts())),
    items: last.items,
    bounds: last.bounds,
    operations: new Set(parts.flatMap(({ operations }) => [...operations])),
    names: parts.flatMap(({ names }) => names),
    quotes: parts.flatMap(({ quotes }) => quotes),
    capitals: new Set(parts.flatMap(({ capitals }) => [...capitals])),
    words: [...words.values()],
    synonyms: once(() => {
      const known = synonyms()
      return [...words.keys()].map((word) => known.get(word) ?? [])
    }),
    roles: last.roles,
    clauses: onceFor(nameOfText, (other) => parts.flatMap(({ clauses }) => clauses(other))),
  }
}

/** What is read when it is first needed. */
export function once<Result>(read: () => Result): () => Result {
  let known: Result | undefined
  return () => (known ??= read())
}

/** The same for each language; a sentence is compared with many passages. */
function onceFor<Other, Result>(nameOf: (language: Other) => string, read: (language: Other) => Result) {
  const known = new Map<string, Result>()
  return (language: Other): Result => {
    const name = nameOf(language)
    const result = known.get(name) ?? read(language)
    known.set(name, result)
    return result
  }
}
const nameOfText = ({ script, latin }: TextLanguage) => `${script} ${latin}`

/** Shorter quotes are titles and single words; they count as words. */
const minimumWords = 3

const quotePattern =
  /[“„]([^“”„"\n]{3,})[”“"]|"([^"\n]{3,})"|«([^«»\n]{3,})»|»([^«»\n]{3,})«|「([^「」\n]{3,})」|``((?:[^`'\n]|'(?!'))+)''/gu
const ellipsisPattern = /\[?(?:…|\.{3})\]?/u

/** The literal quotes of a sentence, each as words in lower case joined by spaces. An ellipsis splits a quote. */
function readQuotes(text: string): string[] {
  return [...text.matchAll(quotePattern)].flatMap((match) => {
    const quote = match.slice(1).find((group) => group !== undefined)!
    const pieces = quote.split(ellipsisPattern).map(joinWords)
    return countWords(quote) < minimumWords ? [] : pieces.filter((piece) => piece !== '')
  })
}

const countWords = (text: string) => tokenize(text, { singleCharacters: false }).length

/** All words of a text in lower case, joined by spaces, so that a quote is found by `includes`. */
export function joinWords(text: string): string {
  return tokenize(text, { singleCharacters: false }).join(' ')
}

/** Words of a name in lower case, in order. */
type Name = string[]

/** Words of scripts with capitals; text without spaces around them is cut off. */
const wordPattern = /[\p{Lu}\p{Ll}\p{Lt}\p{N}][\p{Lu}\p{Ll}\p{Lt}\p{M}\p{N}]*/gu
/** Between the words of one name. */
const joinPattern = /^(?: |-|\. ?|['’]|, (?=Jr|Sr)| of (?:the )?)$/u
const particleOfName = /^(?:of|the)$/u
/** Before the first word of a sentence, a list item, a cell or a quote. */
const startPattern = /(?:^|[.!?:;…|"“„«(\n])[\s*_#>-]*$/u
/** Longest text that `startPattern` looks back on. */
const startUnits = 8

/**
 * The names of a sentence: runs of words with a capital letter. The first word of a sentence is part of a name only if the next word
 * has a capital too. German writes every noun with a capital: a name has two such words, or is an abbreviation. Scripts without
 * capitals have no names by this rule, nor have texts in capitals only.
 */
function readNames(text: string, language: Language): Name[] {
  if (!/\p{Ll}/u.test(text)) return []
  return findRuns(text, [...text.matchAll(wordPattern)], language)
    .filter((run) => isName(run, language))
    .map(({ words }) => words.map((word) => word.toLowerCase()))
}

interface Run {
  words: string[]
  startsSentence: boolean
}

function findRuns(text: string, words: readonly RegExpExecArray[], language: Language): Run[] {
  const runs: Run[] = []
  let end = -1
  for (const match of words) {
    const [word] = match
    const folded = word.toLowerCase()
    const isPart =
      isCapital(word) &&
      [...word].length > 1 &&
      !isFunctionWord(folded, language) &&
      monthOfName(folded, language) === undefined
    if (isPart) {
      const joined = end >= 0 && joinPattern.test(text.slice(end, match.index))
      if (joined) runs.at(-1)!.words.push(word)
      else {
        const before = text.slice(Math.max(0, match.index - startUnits), match.index)
        runs.push({ words: [word], startsSentence: startPattern.test(before) })
      }
    }
    // An initial continues a name: "John F. Kennedy".
    const isInitial = isCapital(word) && word.length === 1 && end >= 0
    if (isPart || isInitial) end = match.index + word.length
    else if (!particleOfName.test(word)) end = -1
  }
  return runs
}

function isName({ words, startsSentence }: Run, language: Language): boolean {
  if (words.length > 1) return true
  const [word] = words
  const isAbbreviation = /^\p{Lu}[\p{Lu}\p{N}]+$|^\p{L}+\p{Lu}/u.test(word!)
  return isAbbreviation || (!startsSentence && language !== 'de')
}

const isCapital = (word: string) => /^\p{Lu}/u.test(word)
const capitalPattern = /(?<![\p{L}\p{M}\p{N}])\p{Lu}[\p{L}\p{M}\p{N}]*/gu

const dottedPattern = /(?:\p{Lu}\. ?){2,6}/gu
const particle = '(?:of |the |for |and |de |der |für |und )?'
const runPattern = new RegExp(
  String.raw`(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}]{1,40}(?: ${particle}\p{Lu}[\p{L}\p{M}]{1,40}){1,5}`,
  'gu',
)

const leastLetters = 2

/** The first letters of names in a text, as abbreviations of them: "us" for "United States"; and "us" for "U.S.". */
export function readAbbreviations(text: string): Set<string> {
  const found = new Set<string>()
  for (const [letters] of text.matchAll(dottedPattern)) found.add(letters.replaceAll(/[. ]/g, '').toLowerCase())
  for (const [run] of text.matchAll(runPattern)) {
    const letters = [...run.matchAll(/(?<!\p{L})\p{Lu}/gu)].join('').toLowerCase()
    // "IBM Personal Computer" is also "IBM PC".
    for (let from = 0; from <= letters.length - leastLetters; from++) found.add(letters.slice(from))
  }
  return found
}
