export {
  defaultLanguage,
  detectLatinLanguage,
  isFunctionWord,
  isLatinLanguage,
  type Language,
  type LanguageRules,
  rulesForWord,
  vietnameseLetter,
  weighLatinLanguages,
} from './languages.ts'
export { languageOfText } from './language-of-text.ts'
export { splitSentences, tokenize } from './tokenize.ts'
export { synonyms } from './synonyms.ts'
export { loadNearWords, nearWords } from './near-words.ts'
