import { detectLatinLanguage, isFunctionWord, tokenize } from '../../../platform/language/index.ts'

/**
 * Content words from which a question is self-contained if nothing in it refers to other text. On mtrag-human, 4 of 48
 * follow-up questions have as many, and 1 of them depends on the conversation after all; on mtrag-un, 55 of 226 have as many.
 */
const minimumContentWords = 5
/** The beginning of a longer question is enough to count its words. */
const maximumCharacters = 2_000

/** Words that refer to something outside of the sentence, without those that are articles as well. */
const referringWords: Readonly<Record<string, ReadonlySet<string>>> = {
  en: new Set(
    'it its they them their this that these those he she his her him one ones there other others another same more else'.split(
      ' ',
    ),
  ),
  de: new Set(
    'er sie es ihn ihm ihr ihnen sein seine seinen ihre ihren dies diese dieser dieses diesen dort davon dafür damit dazu darin andere anderen derselbe dieselbe'.split(
      ' ',
    ),
  ),
  fr: new Set(
    'il elle ils elles lui leur leurs ce cela ça cet cette ces celui celle ceux celles son sa ses y autre autres même'.split(
      ' ',
    ),
  ),
  es: new Set(
    'él ella ellos ellas le les su sus este esta esto estos estas ese esa eso esos esas otro otra otros otras mismo misma allí'.split(
      ' ',
    ),
  ),
}

/**
 * Whether a question can be understood without its conversation, as far as its words show it. Questions in
 * languages without a list above are never counted as self-contained: rewriting them costs a call, skipping it may lose the subject.
 */
export function isSelfContained(question: string): boolean {
  const words = [...new Set(tokenize(question.slice(0, maximumCharacters), { singleCharacters: false }))]
  const language = detectLatinLanguage(words)
  const referring = language === null ? undefined : referringWords[language]
  if (language === null || !referring || words.some((word) => referring.has(word))) return false
  return words.filter((word) => !isFunctionWord(word, language)).length >= minimumContentWords
}
