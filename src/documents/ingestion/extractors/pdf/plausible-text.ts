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
  const all = text.match(/[\p{L}\p{M}]{3,}/gu) ?? []
  const step = Math.max(1, Math.floor(all.length / measuredWords))
  const chosen = all.filter((_, index) => index % step === 0)
  // Accents are left out: the models do not have those of every language.
  const sample = chosen.flatMap((word) => {
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
