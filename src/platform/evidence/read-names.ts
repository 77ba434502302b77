import { isFunctionWord, type Language } from '../language/index.ts'
import { monthOfName } from './month-names.ts'

/** Words of a name in lower case, in order. */
export type Name = string[]

/** Words of scripts with capitals; text without spaces around them is cut off. */
const wordPattern = /[\p{Lu}\p{Ll}\p{Lt}\p{N}][\p{Lu}\p{Ll}\p{Lt}\p{M}\p{N}]*/gu
/** Between the words of one name. */
const joinPattern = /^(?: |-|\. ?|['’]|, (?=Jr|Sr))$/u
/** Before the first word of a sentence, a list item, a cell or a quote. */
const startPattern = /(?:^|[.!?:;…|"“„«(\n])[\s*_#>-]*$/u
/** Longest text that `startPattern` looks back on. */
const startUnits = 8

/**
 * The names of a sentence: runs of words with a capital letter. The first word of a sentence is part of a name only if the next word
 * has a capital too. German writes every noun with a capital: a name has two such words, or is an abbreviation. Scripts without
 * capitals have no names by this rule, nor have texts in capitals only.
 */
export function readNames(text: string, language: Language): Name[] {
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
    end = isPart || isInitial ? match.index + word.length : -1
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

const dottedPattern = /(?:\p{Lu}\. ?){2,6}/gu
const particle = '(?:of |the |for |and |de |der |für |und )?'
const runPattern = new RegExp(
  String.raw`(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}]{1,40}(?: ${particle}\p{Lu}[\p{L}\p{M}]{1,40}){1,5}`,
  'gu',
)

/** The first letters of names in a text, as abbreviations of them: "us" for "United States"; and "us" for "U.S.". */
export function readAbbreviations(text: string): Set<string> {
  const found = new Set<string>()
  for (const [letters] of text.matchAll(dottedPattern)) found.add(letters.replaceAll(/[. ]/g, '').toLowerCase())
  for (const [run] of text.matchAll(runPattern))
    found.add([...run.matchAll(/(?<!\p{L})\p{Lu}/gu)].join('').toLowerCase())
  return found
}
