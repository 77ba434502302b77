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
export { splitSentences } from './split-sentences.ts'
export { tokenize } from './tokenize.ts'
