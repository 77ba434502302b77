/** True for numbers, amounts, shares and dates: digits, and no letters. */
export function isNumber(text: string): boolean {
  return /^[^\p{L}]*\d[^\p{L}]*$/u.test(text)
}
