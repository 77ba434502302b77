/** Most different words of a text that are compared; behind them nothing counts as other. */
const maximumWords = 200_000
/** A paragraph with this share of other words is another text. */
const otherShare = 0.25
/** Addresses and marks of pictures, which html has in its tags. */
const inTags = /https?:\/\/\S+|mailto:\S+|\[(?:cid|image):[^\]]{0,200}\]/gi
/** Scripts without blanks are compared by character. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}])+/gu

/** Finds the paragraphs of one form of a text that another form lacks. */
export function createOtherWords() {
  const seen = new Set<string>()
  return {
    /** Remembers the words of a text. */
    add(text: string) {
      for (const one of wordsOf(text)) if (seen.size < maximumWords) seen.add(one)
    },
    /** True for a text with many words that were not added. */
    hasOthers(text: string): boolean {
      if (seen.size >= maximumWords) return false
      const words = wordsOf(text.replace(inTags, ' '))
      const others = words.filter((one) => !seen.has(one)).length
      return others > 0 && others >= words.length * otherShare
    },
  }
}

function wordsOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(word) ?? []
}
