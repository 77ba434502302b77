import { siteLimits } from '../../contract/sites.ts'

/** A passage of a file. */
export interface OutlinePart {
  documentId: string
  /** Name of the file. */
  documentName: string
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
 * works in every language. The files take turns, in their order; one without headings has its name. At most `siteLimits.suggestions`. Pure; no
 * model is called.
 */
export function suggestQuestions(goldenQuestions: readonly string[], outline: readonly OutlinePart[]): string[] {
  const documents = [...Map.groupBy(outline, ({ documentId }) => documentId).values()].map(headingsOf)
  const questions = inTurns(documents.map((headings) => headings.filter(isQuestion)))
  const others = inTurns(documents.map((headings) => headings.filter((text) => !isQuestion(text))))
  const found = new Map<string, string>()
  for (const text of [...goldenQuestions.map(toPlain), ...questions, ...others.map((text) => `${text}?`)]) {
    if (text === '' || text.length > siteLimits.suggestion) continue
    const key = text.toLowerCase()
    if (!found.has(key)) found.set(key, text)
    if (found.size === siteLimits.suggestions) break
  }
  return [...found.values()]
}

/** The headings of one file. */
function headingsOf(parts: readonly OutlinePart[]): string[] {
  const headings = parts
    .flatMap(({ heading, text }) => [
      heading ?? '',
      ...text
        .split('\n')
        .map((line) => line.trim())
        .filter(isQuestion),
    ])
    .filter((text) => !/[.!,;:。！]$/.test(text))
    .map(toPlain)
    .filter(isHeading)
  return headings.length > 0 ? headings : parts.slice(0, 1).map(nameOf).filter(isHeading)
}

const isHeading = (text: string) =>
  text.length >= shortestHeading && text.length <= longestHeading && /\p{L}{3}/u.test(text)

/** `opening-hours_2026.csv` as a text: `opening hours 2026`. */
const nameOf = ({ documentName }: OutlinePart) =>
  toPlain(documentName.replace(/\.[a-z]{1,4}$/i, '').replaceAll(/[-_]+/g, ' '))

/** The first of each list, then the second of each, and so on. */
function inTurns<Item>(lists: readonly Item[][]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat()
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
