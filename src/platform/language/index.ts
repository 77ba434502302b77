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
export { splitSentences } from './split-sentences.ts'
export { synonyms } from './synonyms.ts'
export { tokenize } from './tokenize.ts'
