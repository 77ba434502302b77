/** Chinese and Japanese do not separate words by blanks, so a line's end adds none. */
export function joinsWithoutBlank(before: string, after: string): boolean {
  const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u
  return wide.test(before.slice(-1)) && wide.test(after.slice(0, 1))
}
