/** Scripts that write no blanks between words: each character counts as a word. */
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}'
const wordPattern = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{N}_])+`, 'gu')

/** Words for the comparison of texts: NFKC, lower case, split at everything but letters, digits and underscores. */
function comparableWords(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(wordPattern) ?? []
}

/** Share of the expected words, as a multiset, that the text holds: 0 to 1; 1 where nothing is expected. */
export function wordRecall(expected: string, actual: string): number {
  const available = new Map<string, number>()
  for (const word of comparableWords(actual)) available.set(word, (available.get(word) ?? 0) + 1)
  const words = comparableWords(expected)
  let found = 0
  for (const word of words) {
    const count = available.get(word) ?? 0
    if (count === 0) continue
    available.set(word, count - 1)
    found += 1
  }
  return words.length === 0 ? 1 : found / words.length
}
