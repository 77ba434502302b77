import { languageModel } from '../encoding/language-models.ts'

/** Fewer words prove nothing. */
const minimumWords = 30
/** Words that are measured, spread over the text; up to twice as many where that is less than a step. */
const measuredWords = 150
/** Nats for each letter, in the language that fits best. Texts of the corpus cost 2.0 to 3.1; with letters moved by a few codes 3.8 to 4.8. */
const maximumCost = 3.7
const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da', 'fi', 'pl', 'cs', 'hu', 'ro', 'tr']

/**
 * False for a text in Latin letters whose letters do not follow each other as they do in any language: what remains of words if a font
 * assigns wrong letters to its glyphs. Texts in other scripts, and short ones, are not measured.
 */
export function isPlausibleText(text: string): boolean {
  const chosen = spreadWords(text)
  // Accents are left out: the models do not have those of every language.
  const sample = chosen.flatMap((word) => {
    if (asciiWord.test(word)) return [word.toLowerCase()]
    const plain = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
    return /^[a-zßæøœđłıþð]+$/.test(plain) ? [plain] : []
  })
  if (sample.length < minimumWords || sample.length < chosen.length / 2) return true
  const letters = sample.reduce((sum, word) => sum + word.length + 1, 0)
  return languages.some((language) => {
    const model = languageModel(language)
    return sample.reduce((sum, word) => sum + model.word(word), 0) <= letters * maximumCost
  })
}

const asciiWord = /^[A-Za-z]+$/

/** Words of three letters or more: each, or every so many of a long text. */
function spreadWords(text: string): string[] {
  // Ranges of ASCII words are found without a string for each of them.
  const ends = /\P{ASCII}/u.test(text) ? null : asciiWordEnds(text)
  const all = ends === null ? (text.match(/[\p{L}\p{M}]{3,}/gu) ?? []) : []
  const count = ends === null ? all.length : ends.length / 2
  const step = Math.max(1, Math.floor(count / measuredWords))
  const chosen: string[] = []
  for (let at = 0; at < count; at += step)
    chosen.push(ends === null ? all[at]! : text.slice(ends[at * 2], ends[at * 2 + 1]))
  return chosen
}

/** Where each word begins and ends, one after the other. */
function asciiWordEnds(text: string): number[] {
  const ends: number[] = []
  let from = 0
  for (let at = 0; at <= text.length; at += 1) {
    // Bit 5 is the case of a letter; the code behind the end is no number.
    const code = text.charCodeAt(at) | 0x20
    if (code >= 0x61 && code <= 0x7a) continue
    if (at - from >= 3) ends.push(from, at)
    from = at + 1
  }
  return ends
}
