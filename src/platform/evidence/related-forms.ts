import { type Language, synonyms } from '../language/index.ts'
import { comparedWords, latinLanguageOf, topicWords } from './words.ts'

/** For each language with synonyms: the forms of each meaning, and the meanings of each form. */
const known = new Map<Language, { groups: readonly (readonly string[])[]; ofForm: ReadonlyMap<string, number[]> }>()

function readSynonyms(language: Language) {
  const read = known.get(language)
  if (read) return read
  const groups = (synonyms[language] ?? []).map((words) => words.flatMap((word) => comparedWords(word, language)))
  const ofForm = new Map<string, number[]>()
  for (const [index, forms] of groups.entries())
    for (const form of new Set(forms)) ofForm.set(form, [...(ofForm.get(form) ?? []), index])
  const result = { groups, ofForm }
  known.set(language, result)
  return result
}

/** The forms that mean the same as one of `wanted` and are none of them, each with those that it stands for. */
export function relatedForms(wanted: Iterable<string>, language: Language): Map<string, string[]> {
  const { groups, ofForm } = readSynonyms(language)
  const own = new Set(wanted)
  const related = new Map<string, string[]>()
  for (const word of own) {
    const others = new Set((ofForm.get(word) ?? []).flatMap((index) => groups[index]!))
    for (const other of others) if (!own.has(other)) related.set(other, [...(related.get(other) ?? []), word])
  }
  return related
}

/** Words that mean the same as one of a text and are not in it, without repeats. */
export function synonymsIn(text: string): string[] {
  const language = latinLanguageOf(text)
  const { ofForm } = readSynonyms(language)
  const own = new Set(topicWords(text, language))
  const found = new Set<string>()
  for (const form of own)
    for (const index of ofForm.get(form) ?? []) for (const word of synonyms[language]![index]!) found.add(word)
  return [...found].filter((word) => !comparedWords(word, language).some((form) => own.has(form)))
}
