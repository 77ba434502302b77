/** A section of a format code: Excel has one each for positive and negative numbers and for zero. */
export interface Section {
  tokens: Token[]
  condition: { operator: string; value: number } | null
  isDate: boolean
  /** The language of `[$-407]`; 0 for none. */
  language: number
}

export interface Token {
  /** `code`: a letter or digit place of the pattern; `literal`: text that is shown; `elapsed`: `h`, `m` or `s` in brackets. */
  kind: 'code' | 'literal' | 'elapsed'
  text: string
}
