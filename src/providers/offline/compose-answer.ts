import type { ProviderMessage } from '../port.ts'
import { rankSentences } from './rank-sentences.ts'

/** Passages as Spaces write them into a system message or a tool's result: `<source id="3" title="…">text</source>`. */
const sourcePattern = /<source\b([^>]*)>([\s\S]*?)<\/source>/g
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
  const sources = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' || message.role === 'tool'
      ? readSources(message.content)
      : [],
  )
  if (sources.length > 0) return quoteSources(question, sources)
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

function readSources(content: string): SourcePassage[] {
  return [...content.matchAll(sourcePattern)].flatMap(([, attributes = '', text = '']) => {
    const id = Number(/\bid="(\d+)"/.exec(attributes)?.[1] ?? Number.NaN)
    const title = /\btitle="([^"]*)"/.exec(attributes)?.[1] ?? ''
    return Number.isInteger(id) ? [{ id, title, text: text.trim() }] : []
  })
}

function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  const line = withoutBreaks(text)
  // By code point, so that no surrogate pair is cut.
  const points = Array.from(line.slice(0, maximumQuoteCharacters * 2))
  return points.length > maximumQuoteCharacters ? `${points.slice(0, maximumQuoteCharacters).join('')}…` : line
}
