import { detectLatinLanguage, isLatinLanguage, type Language } from '../language/index.ts'

/** Scripts that are distinguished; kana and Han are one, because Japanese mixes them. */
const scripts: [string, RegExp][] = [
  ['latin', /\p{Script=Latin}/u],
  ['cyrillic', /\p{Script=Cyrillic}/u],
  ['greek', /\p{Script=Greek}/u],
  ['arabic', /\p{Script=Arabic}/u],
  ['devanagari', /\p{Script=Devanagari}/u],
  ['hebrew', /\p{Script=Hebrew}/u],
  ['thai', /\p{Script=Thai}/u],
  ['hangul', /\p{Script=Hangul}/u],
  ['east_asian', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u],
]

export interface TextLanguage {
  /** The script of most words; null without letters. */
  script: string | null
  /** The language of a text in Latin script; null where too few function words show it. */
  latin: Language | null
}

/** The script and language of `words` in lower case. */
export function detectTextLanguage(words: readonly string[]): TextLanguage {
  const counts = new Map<string, number>()
  for (const word of words) {
    const script = scriptOf(word)
    if (script !== null) counts.set(script, (counts.get(script) ?? 0) + 1)
  }
  let best: string | null = null
  for (const [script, count] of counts) if (best === null || count > counts.get(best)!) best = script
  return { script: best, latin: best === 'latin' ? detectLatinLanguage(words) : null }
}

export function scriptOf(word: string): string | null {
  return scripts.find(([, pattern]) => pattern.test(word))?.[0] ?? null
}

/** Whether two texts have words in common when they mean the same. `unknown`: a table, or too few function words. */
export function compareLanguages(left: TextLanguage, right: TextLanguage): 'same' | 'different' | 'unknown' {
  if (left.script === null || right.script === null) return 'unknown'
  if (left.script !== right.script) return 'different'
  if (left.script !== 'latin') return 'same'
  if (left.latin === null || right.latin === null) return 'unknown'
  return left.latin === right.latin ? 'same' : 'different'
}

export function latinOf({ latin }: TextLanguage, otherwise: Language): Language {
  return latin !== null && isLatinLanguage(latin) ? latin : otherwise
}
