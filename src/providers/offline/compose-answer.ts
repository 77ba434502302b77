import type { ProviderMessage } from '../port.ts'
import { rankSentences } from './rank-sentences.ts'

/** Text of a conversation that is searched for passages, UTF-16 units: far above what a Space sends, and quick to read. */
const maximumSourceUnits = 60_000
/** Part of the question that is compared with the passages. */
const maximumQuestionUnits = 2_000
/** Longest piece of the question that is quoted back, characters. */
const maximumQuoteCharacters = 300

interface SourcePassage {
  id: number
  title: string
  text: string
}

/**
 * The answer to the last question: sentences quoted from the passages with their `[id]`, or, without passages, a word about what
 * this model is.
 */
export function composeAnswer(messages: readonly ProviderMessage[]): string {
  const question = messages.findLast((message) => message.role === 'user')?.content ?? ''
  const sources: SourcePassage[] = []
  let roomUnits = maximumSourceUnits
  for (const { role, content } of messages) {
    if (role !== 'system' && role !== 'developer' && role !== 'tool') continue
    sources.push(...readSources(content.slice(0, roomUnits)))
    roomUnits = Math.max(0, roomUnits - content.length)
  }
  if (sources.length > 0) return quoteSources(question.slice(0, maximumQuestionUnits), sources)
  if (asksForFiles(messages)) {
    return 'The uploaded files hold nothing that matches this question. (Answered by the built-in offline model.)'
  }
  return [
    'This is the built-in offline model. It runs on this machine without any AI provider, so that everything can be tried out, and it does not think.',
    `You wrote: “${shorten(question)}”`,
    'To get real answers, configure a provider and ask for one of its models.',
  ].join('\n\n')
}

/** The prompt that a Space writes when its search found nothing. */
function asksForFiles(messages: readonly ProviderMessage[]): boolean {
  return messages.some((message) => message.role === 'system' && message.content.includes('uploaded files'))
}

function quoteSources(question: string, sources: readonly SourcePassage[]): string {
  const sentences = rankSentences(question, sources)
  if (sentences.length === 0) {
    return 'The passages that were found hold no sentence that answers this question.'
  }
  return sentences.map(({ text, id }) => `${withoutBreaks(text)} [${id}]`).join('\n\n')
}

/** Passages as Spaces write them into a system message or a tool's result: `<source id="3" title="…">text</source>`. */
function readSources(content: string): SourcePassage[] {
  const passages: SourcePassage[] = []
  for (let start = content.indexOf(opening); start !== -1;) {
    const endOfTag = content.indexOf('>', start)
    const end = endOfTag === -1 ? -1 : content.indexOf(closing, endOfTag)
    if (end === -1) break
    const attributes = content.slice(start + opening.length, endOfTag)
    const id = Number(/\bid="(\d{1,9})"/.exec(attributes)?.[1] ?? Number.NaN)
    const title = /\btitle="([^"]*)"/.exec(attributes)?.[1] ?? ''
    if (Number.isInteger(id)) passages.push({ id, title, text: content.slice(endOfTag + 1, end).trim() })
    start = content.indexOf(opening, end)
  }
  return passages
}

const opening = '<source '
const closing = '</source>'

function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  // White space shrinks, so more is read than is shown.
  const start = text.slice(0, maximumQuoteCharacters * 8)
  const line = withoutBreaks(start)
  // By code point, so that no surrogate pair is cut.
  const points = Array.from(line.slice(0, maximumQuoteCharacters * 2))
  return points.length > maximumQuoteCharacters || start.length < text.length
    ? `${points.slice(0, maximumQuoteCharacters).join('')}…`
    : line
}
