import { siteLimits } from '../../contract/sites.ts'

/** A passage of a file. */
export interface OutlinePart {
  /** The innermost one above it. */
  heading: string | null
  /** Its beginning. Lines that are questions are often headings inside of it. */
  text: string
}

const shortestHeading = 6
const longestHeading = 80
const isQuestion = (text: string) => /[?？؟]$/.test(text)

/**
 * Questions that visitors may select: golden questions first, then headings that are questions, then other headings with a question mark, which
 * works in every language. At most `siteLimits.suggestions`. Pure; no model is called.
 */
export function suggestQuestions(goldenQuestions: readonly string[], outline: readonly OutlinePart[]): string[] {
  const headings = outline
    .flatMap(({ heading, text }) => [
      heading ?? '',
      ...text
        .split('\n')
        .map((line) => line.trim())
        .filter(isQuestion),
    ])
    .filter((text) => !/[.!,;:。！]$/.test(text))
    .map(toPlain)
    .filter((text) => text.length >= shortestHeading && text.length <= longestHeading && /\p{L}{3}/u.test(text))
  const others = headings.filter((text) => !isQuestion(text)).map((text) => `${text}?`)
  const found = new Map<string, string>()
  for (const text of [...goldenQuestions.map(toPlain), ...headings.filter(isQuestion), ...others]) {
    if (text === '' || text.length > siteLimits.suggestion) continue
    const key = text.toLowerCase()
    if (!found.has(key)) found.set(key, text)
    if (found.size === siteLimits.suggestions) break
  }
  return [...found.values()]
}

/** One line, without the number of a heading and the signs of lists and Markdown. */
function toPlain(text: string): string {
  return text
    .slice(0, 1_000)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^[#*>•–-]+ /, '')
    .replace(/^(?:\d+\.){0,5}\d+[.)]? /, '')
}
