/** Scripts that are written without spaces: each character counts as a word. */
const single = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
const word = new RegExp(`${single.source}|(?:(?!${single.source})[\\p{L}\\p{N}_])+`, 'gu')

/**
 * Words of letters, digits and `_` in NFKC and lower case; Han, Kana, Hangul and Thai one character each. Marks part words, as they
 * do for the tools that counted the expected ones.
 */
export function splitWords(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(word) ?? []
}

/** The share of expected words, as a multiset, that the text has. 1 where none are expected. */
export function wordRecall(expectedText: string, text: string): number {
  const expected = splitWords(expectedText)
  if (expected.length === 0) return 1
  const counts = new Map<string, number>()
  for (const one of splitWords(text)) counts.set(one, (counts.get(one) ?? 0) + 1)
  let found = 0
  for (const one of expected) {
    const left = counts.get(one) ?? 0
    if (left === 0) continue
    found++
    counts.set(one, left - 1)
  }
  return found / expected.length
}
