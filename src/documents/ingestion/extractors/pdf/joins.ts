/** Scripts that do not separate words by blanks, so a line's end adds none. */
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u
const southEastAsian = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** A blank follows them in Khmer and Burmese. */
const stops = /[\u17d4-\u17d6\u104a\u104b]/

export function joinsWithoutBlank(before: string, after: string): boolean {
  const [last, next] = [before.slice(-1), after.slice(0, 1)]
  if (eastAsian.test(last)) return eastAsian.test(next)
  return southEastAsian.test(last) && southEastAsian.test(next) && !stops.test(last)
}

/** Decides whether the hyphen of a word that is split at a line's end is part of the word. */
export type KeepsHyphen = (before: string, after: string) => boolean

/** Text that grows line by line, in time linear in its length: a look at the end of one long string copies all of it. */
export function createJoinedText() {
  const parts: string[] = []
  return {
    add: (text: string) => void parts.push(text),
    /** Its last lines, which hold any word that the next line continues. */
    end: () => parts.slice(-6).join(''),
    toString: () => parts.join(''),
  }
}
