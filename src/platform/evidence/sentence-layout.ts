import type { ReadSentence } from './read-passages.ts'
import { hasStop, isListItem } from './text-lines.ts'

/** What a sentence of a passage is for its reader. */
export interface SentenceLayout {
  /** False for headings and questions: none of them answers by itself. */
  isQuotable: boolean
  /** The heading or question above it. */
  heading: ReadSentence | null
}

/** Longest heading, UTF-16 units; a longer line without a stop is text. */
const maximumHeadingUnits = 100
/** Longest question that is a heading, as in lists of questions and answers. */
const maximumQuestionUnits = 200

/** Lines below a heading among which its text begins. */
const maximumHeadings = 3

const questionEnd = /[?？؟][”"'’)\]*_]{0,4}$/u
export const isQuestion = (text: string) => questionEnd.test(text)
/** Tags and their attributes, imports, directives, fields of a head such as `description:`, and lines of JSON. */
const markup =
  /^\s*(?:<[/!\p{L}]|import\s.{1,200}\sfrom\s|export\s(?:default|const)|:::|```|---+$|\{[/%]|"[^"]{1,80}":|[a-z]{1,40}="[^"]*"(?:\s|$)|[\]}]+[,;]?$|(?:description|sidebar_label|slug|keywords|tags|image|date|author|id|layout|weight): )/u
const titleField = /^(?:title|name): /
/** Share of signs of programs from which a line is no text. */
const maximumSigns = 0.15

/** The text without lines that are markup or data of programs. Linear. */
export function withoutMarkup(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isMarkup(line))
    .join('\n')
}

/** The layout of each sentence, by its index. Linear in the sentences. */
export function readLayout(sentences: readonly ReadSentence[]): SentenceLayout[] {
  let heading: ReadSentence | null = null
  const isProse = sentences.filter(({ text }) => hasStop(text)).length * 2 >= sentences.length
  return sentences.map((sentence, index) => {
    if (sentence.row) return { isQuotable: true, heading }
    const following = sentences.slice(index + 1, index + 1 + maximumHeadings).map(({ text }) => text)
    if (isHeading(sentence, following, isProse)) {
      heading = sentence
      return { isQuotable: false, heading: null }
    }
    return { isQuotable: true, heading }
  })
}

/**
 * A heading is a question or a whole line. A line without a stop is a heading only if text follows, or if it is the last one of prose: lists, poems and languages without stops have only
 * such lines.
 */
function isHeading(
  { text, beginsLine, endsLine }: ReadSentence,
  following: readonly string[],
  isProse: boolean,
): boolean {
  if (titleField.test(text)) return true
  if (isQuestion(text)) return text.length <= maximumQuestionUnits
  if (!beginsLine || !endsLine || text.length > maximumHeadingUnits || isListItem(text) || text.includes(' | '))
    return false
  if (/^#{1,6} /.test(text) || /^\*\*[^*]+\*\*$/.test(text)) return true
  if (hasStop(text)) return false
  return following.length === 0 ? isProse : following.some((next) => hasStop(next) || isListItem(next))
}

function isMarkup(line: string): boolean {
  if (markup.test(line)) return true
  const signs = line.match(/[{}<>=\\"]/g)?.length ?? 0
  return signs > 2 && signs > line.length * maximumSigns
}
