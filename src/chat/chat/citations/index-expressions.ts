/** Distinguishes `a[1]`, `f(x)[1]` and `[text][1]` from a citation after a word, as in `The sky is blue[1]`. Pure. */

/** Most text before a bracket that is inspected, UTF-16 units. */
export const maximumContextLength = 64

/** Names that are not words of prose, or that are nearly always a variable when a bracket follows. */
const variableNames: ReadonlySet<string> = new Set(
  'arr argv args array buf col dict elem idx items list lst matrix obj ptr tmp tuple vec vector'.split(' '),
)

/** Whether a bracket after `before`, the text of its line so far, is an index or the second half of a reference link. */
export function isIndexed(before: string): boolean {
  let text = before
  while (text.endsWith(']')) {
    const open = text.lastIndexOf('[')
    if (open === -1) return false
    const content = text.slice(open + 1, -1)
    // `[2024]` is text like any other; after other brackets `[1]` is the label of a link, or an index of an entry.
    if (!/^[\d\s,;-]*$/.test(content)) return true
    text = text.slice(0, open)
    if (text === '' || !/[\p{L}\p{N}_$)\]]$/u.test(text)) return false
  }
  if (text.endsWith(')')) return isCall(text)
  const word = /\\?[\p{L}\p{N}_$]+$/u.exec(text)?.[0]
  return word !== undefined && isVariable(word, text[text.length - word.length - 1] ?? ' ')
}

/** `f(x)`, but not `a word (in brackets)` and not `file(s)`. */
function isCall(text: string): boolean {
  const open = text.lastIndexOf('(')
  if (open < 1 || /^(?:s|es|n|en|e|r|in|nen)$/.test(text.slice(open + 1, -1))) return false
  return /[\w$]$/.test(text.slice(0, open))
}

function isVariable(word: string, before: string): boolean {
  if (word.startsWith('\\') || /[_$]/.test(word)) return true
  // Not the s of `it's`, nor the end of an abbreviation.
  if (/^[a-z]$/.test(word)) return !/['’.-]/.test(before)
  return /^[a-z]\d{1,2}$/.test(word) || /^[a-z]{2,}(?:[A-Z][a-z]+)+$/.test(word) || variableNames.has(word)
}

const arrayWords =
  'interval intervals range array list vector tuple set matrix coordinates intervall bereich liste feld intervalle plage tableau liste intervalo rango lista intervallo'.split(
    ' ',
  )

/** Whether a bracket with `count` numbers is an array: in the arguments of a call, after an operator, or after a word for one. */
export function isArrayOfCode(before: string, count: number): boolean {
  if (/[\p{L}\p{N}_$]\([^()]*$/u.test(before) || /[{=∈∉⊂⊆∪∩≤≥]\s*$/u.test(before)) return true
  const word = /(\p{L}+)\s$/u.exec(before)?.[1]
  return count > 1 && word !== undefined && arrayWords.includes(word.toLowerCase())
}
