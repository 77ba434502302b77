import { textOf } from '../../../platform/bodies/index.ts'
import {
  composeNoAnswer,
  composeUncertain,
  hasStop,
  type RankedSentence,
  rankSentences,
  readPassages,
  scoreAnswerability,
  withoutMarkup,
} from '../../../platform/evidence/index.ts'
import {
  type Clock,
  createTimeSlices,
  type EndSignal,
  sharedOwner,
  systemClock,
} from '../../../platform/kernel/index.ts'
import { textOfContent } from '../../conversation/index.ts'
import type { TokenCounting } from '../../tokens/index.ts'
import {
  type FinishReason,
  type Provider,
  type ProviderAnswer,
  type ProviderCall,
  type ProviderEvent,
  type ProviderMessage,
} from '../port.ts'
import { failure } from '../wire-failure.ts'

export interface OfflineProviderOptions {
  id: string
  tokens: TokenCounting
  /** Pause before each piece of a stream, for tests and demonstrations. */
  delayMs?: number
  clock?: Clock
}

/**
 * The built-in model without a network: it quotes the sentences of the given passages that answer, states where none does, and without
 * passages describes itself. Equal requests
 * get equal answers. Usage is counted with the o200k encoding.
 */
export function createOfflineProvider({
  id,
  tokens,
  delayMs = 0,
  clock = systemClock,
}: OfflineProviderOptions): Provider {
  async function answer(call: ProviderCall) {
    const { messages } = call.request
    const { pieces, finishReason, completionTokens } = await limit(await composeAnswer(messages), call, tokens)
    const promptTokens = await countMessages(call, tokens)
    assertNotCancelled(call.signal)
    const usage = { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    return { pieces, finishReason, usage }
  }

  return {
    id,
    peer: { system: 'portico' },
    async complete(call): Promise<ProviderAnswer> {
      const { pieces, finishReason, usage } = await answer(call)
      return {
        text: pieces.join(''),
        reasoningText: '',
        refusal: null,
        toolCalls: [],
        finishReason,
        wireFinishReason: finishReason,
        usage,
        providerRequestId: null,
        adjusted: [],
      }
    },
    async stream(call) {
      const { pieces, finishReason, usage } = await answer(call)
      async function* events(): AsyncGenerator<ProviderEvent[], void, void> {
        for (const text of pieces) {
          if (delayMs > 0) await pause(clock, delayMs, call.signal)
          assertNotCancelled(call.signal)
          yield [{ type: 'text', text }]
        }
        yield [
          { type: 'finish', finishReason, wireFinishReason: finishReason },
          { type: 'usage', usage },
        ]
      }
      return { events: events(), adjusted: [], providerRequestId: null }
    },
    listModels: () => Promise.resolve(['offline']),
    close: () => Promise.resolve(),
  }
}

async function pause(clock: Clock, delayMs: number, signal: EndSignal): Promise<void> {
  await clock.sleep(delayMs, signal).catch(() => assertNotCancelled(signal))
}

function assertNotCancelled(signal: EndSignal): void {
  if (signal.aborted) throw failure('cancelled', 'The call was cancelled.', { cause: signal.reason })
}

/** Applies stop sequences and the output cap, and splits the text into the words of a stream. */
async function limit(
  text: string,
  { request, tenant = sharedOwner }: ProviderCall,
  tokens: TokenCounting,
): Promise<{ pieces: string[]; finishReason: FinishReason; completionTokens: number }> {
  const stopAt = (request.stop ?? []).map((stop) => text.indexOf(stop)).filter((index) => index !== -1)
  const whole = stopAt.length > 0 ? text.slice(0, Math.min(...stopAt)) : text
  const pieces = whole.match(/\S+\s*|\s+/g) ?? []
  const tokensOf = (count: number) => tokens.count([pieces.slice(0, count).join('')], tenant)
  const all = await tokensOf(pieces.length)
  const cap = request.maxOutputTokens ?? Number.POSITIVE_INFINITY
  if (all <= cap) return { pieces, finishReason: 'stop', completionTokens: all }
  // The largest number of pieces that fits, by bisection: adding text never lowers a token count.
  let fitting = { count: 0, tokens: 0 }
  let tooMany = pieces.length
  while (tooMany - fitting.count > 1) {
    const count = Math.floor((fitting.count + tooMany) / 2)
    const counted = await tokensOf(count)
    if (counted <= cap) fitting = { count, tokens: counted }
    else tooMany = count
  }
  return { pieces: pieces.slice(0, fitting.count), finishReason: 'length', completionTokens: fitting.tokens }
}

/** Tokens of role and separators around each message, and of the answer's beginning, from OpenAI's counting guide. */
const tokensPerMessage = 3
const tokensPerAnswer = 3

async function countMessages({ request, tenant = sharedOwner }: ProviderCall, tokens: TokenCounting): Promise<number> {
  const { messages } = request
  const contents: string[] = []
  const slice = createTimeSlices()
  for (const { content } of messages) {
    await slice()
    contents.push(textOf(textOfContent(content)))
  }
  return tokensPerAnswer + messages.length * tokensPerMessage + (await tokens.count(contents, tenant))
}

/** Part of a conversation that is searched for passages, in UTF-16 units: far more than a Space sends, and fast to read. */
const maximumSourceUnits = 60_000
/** Part of the question that is compared with the passages. */
const maximumQuestionUnits = 2_000
/** Spaces enclose passages between two lines with a random code, at the beginning of a user message or of a tool result. */
const firstLinePattern = /^----- passages ([0-9a-f]{32}) -----\n/
/** Longest part of the question that is quoted, in characters. */
const maximumQuoteCharacters = 300

interface SourcePassage {
  id: number
  title: string
  /** The headings above it. */
  headings: string
  text: string
}

/**
 * From this score of `scoreAnswerability` on, the quotes are an answer. Chosen on the questions of retrieval/xquad-* that
 * `npm run eval:answers` measures, so that more than 95 % of the answerable ones are quoted for.
 */
const answeredFrom = 0.2
/**
 * Below it no passage is near. In between a question may use other words than the files, so the closest passages are quoted and called that.
 * Chosen on the questions of `handbooks` and of three other handbooks, of which at most 8 % may be left without a quote: 1 % are, and 11 % of
 * those that the files do not answer.
 */
const quotedFrom = 0.005

/**
 * The answer to the last question: sentences quoted from the passages, each with its `[id]`; the closest ones, called that, where the
 * passages may not hold the answer, or a sentence in the language of the question where none is near; without passages, a description of this model. Time is linear in the messages, and the
 * event loop runs in between.
 */
export async function composeAnswer(messages: readonly ProviderMessage[]): Promise<string> {
  const parts: ReturnType<typeof splitPassages>[] = []
  const slice = createTimeSlices()
  for (const message of messages) {
    await slice()
    parts.push(splitPassages(message))
  }
  const asked = parts.filter(({ role }) => role === 'user').map(({ rest }) => rest)
  const question = asked.at(-1) ?? ''
  const sources: SourcePassage[] = []
  let roomUnits = maximumSourceUnits
  for (const { passages } of parts) {
    if (!passages.includes(opening)) continue
    sources.push(...readSources(passages.slice(0, roomUnits)))
    roomUnits = Math.max(0, roomUnits - passages.length)
  }
  if (sources.length > 0) return quoteSources({ last: question, before: asked.at(-2) }, sources)
  if (isSpaceWithoutPassages(messages)) return composeNoAnswer(question)
  return [
    'This is the built-in offline model. It runs on this machine without any AI provider, so that you can try Portico. It is not a language model.',
    `You wrote: “${shorten(question)}”`,
    'To get real answers, configure a provider and use one of its models.',
  ].join('\n\n')
}

/** The prompt of a Space whose search found nothing. */
function isSpaceWithoutPassages(messages: readonly ProviderMessage[]): boolean {
  return messages.some(
    (message) => message.role === 'system' && textOf(textOfContent(message.content)).includes('uploaded files'),
  )
}

/** `questions`: the last one, and the one before, if there is one: a follow-up leaves its subject to it. */
async function quoteSources(
  questions: { last: string; before: string | undefined },
  sources: readonly SourcePassage[],
): Promise<string> {
  const passages = preparePassages(sources)
  const { last, before } = questions
  let closest: string | undefined
  for (const question of before === undefined ? [last] : [last, `${before}\n${last}`]) {
    const evidence = await readPassages(question.slice(0, maximumQuestionUnits), passages)
    const score = scoreAnswerability(evidence)
    const sentences = score < quotedFrom ? [] : rankSentences(evidence)
    if (sentences.length === 0) continue
    const quotes = sentences.map(composeQuote)
    if (score >= answeredFrom) return quotes.join('\n\n')
    closest ??= [composeUncertain(last), ...quotes].join('\n\n')
  }
  return closest ?? composeNoAnswer(last)
}

/** Each sentence has its own marker, which opens it in the passage. Lines without a stop are apart from the next ones. */
function composeQuote({ id, sentences }: RankedSentence): string {
  return sentences
    .map((text, at) => {
      const end = at === sentences.length - 1 || hasStop(text) ? '' : ';'
      return `${withoutFormatting(text)} [${id}]${end}`
    })
    .join(' ')
}

export function preparePassages(sources: readonly SourcePassage[]) {
  return sources.map(({ title, text, ...source }) => ({
    ...source,
    title: title.replace(fileExtension, ''),
    text: withoutMarkup(text),
  }))
}

const fileExtension = /\.[a-z0-9]{1,5}$/i

/** The passages of a message and its remaining text. System messages are read completely. */
function splitPassages(message: ProviderMessage): { role: string; passages: string; rest: string } {
  const { role } = message
  const content = textOf(textOfContent(message.content))
  if (role === 'system' || role === 'developer') return { role, passages: content, rest: '' }
  const first = role === 'assistant' ? null : firstLinePattern.exec(content)
  if (!first) return { role, passages: role === 'tool' ? content : '', rest: content }
  const lastLine = `\n----- end of passages ${first[1]} -----`
  const end = content.indexOf(lastLine)
  if (end === -1) return { role, passages: '', rest: content }
  return { role, passages: content.slice(first[0].length, end), rest: content.slice(end + lastLine.length).trim() }
}

/** Longest attributes of a source, in characters. */
const maximumAttributesLength = 2_000

/** `<source id="3" title="…" code="1f…">text</source 1f…>`, in time linear in the text. Text of a file may look like its end. */
export function readSources(text: string): SourcePassage[] {
  const sources: SourcePassage[] = []
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
    const window = text.slice(at + opening.length - 1, at + maximumAttributesLength)
    const attributes = /^(?: [a-z]+="[^"]*")+(?=>)/.exec(window)?.[0] ?? ''
    const id = /\bid="(\d{1,9})"/.exec(attributes)?.[1]
    if (id === undefined) continue
    const start = at + opening.length + attributes.length
    const code = /\bcode="([0-9a-f]{1,32})"/.exec(attributes)?.[1]
    const end = text.indexOf(code === undefined ? '</source>' : `\n</source ${code}>`, start)
    if (end === -1) break
    const title = /\btitle="([^"]*)"/.exec(attributes)?.[1] ?? ''
    const headings = /\bplace="([^"]*)"/.exec(attributes)?.[1] ?? ''
    sources.push({
      id: Number(id),
      title,
      headings: headings.replace(position, ''),
      text: text.slice(start, end).trim(),
    })
    at = end
  }
  return sources
}

const opening = '<source '
/** Where a passage is in its document, after the headings. */
const position = /(?:^|; )(?:pages?|rows?) \d+(?:-\d+)?$/

/** Marks of Markdown around words, and addresses of links and images; bars between the cells of a row. */
export function withoutFormatting(text: string): string {
  return withoutBreaks(
    text
      .replaceAll(/!?\[([^\]]{0,300})\]\([^)\s]{0,500}\)/g, '$1')
      .replaceAll(/(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1/g, '$2')
      .replaceAll(/(?<=^|\s)(?:[-*•] |#{1,6} )/g, '')
      .replaceAll(/\s*\|\s*/g, ', '),
  )
}

function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  // White space is collapsed, so more is read than is shown.
  const start = text.slice(0, maximumQuoteCharacters * 8)
  const line = withoutBreaks(start)
  // By code point, so that no surrogate pair is split.
  const points = Array.from(line.slice(0, maximumQuoteCharacters * 2))
  return points.length > maximumQuoteCharacters || start.length < text.length
    ? `${points.slice(0, maximumQuoteCharacters).join('')}…`
    : line
}
