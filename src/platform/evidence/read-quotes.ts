import { tokenize } from '../language/index.ts'

/** Shorter quotes are titles and single words; they count as words. */
const minimumWords = 3

const quotePattern =
  /[“„]([^“”„"\n]{3,})[”“"]|"([^"\n]{3,})"|«([^«»\n]{3,})»|»([^«»\n]{3,})«|「([^「」\n]{3,})」|``((?:[^`'\n]|'(?!'))+)''/gu
const ellipsisPattern = /\[?(?:…|\.{3})\]?/u

/** The literal quotes of a sentence, each as words in lower case joined by spaces. An ellipsis splits a quote. */
export function readQuotes(text: string): string[] {
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
