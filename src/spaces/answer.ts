import type { Ledger } from '../billing/index.ts'
import type { ChatRequest, Reference } from '../contract/chat.ts'
import type { CompletionEvent, Completions } from '../gateway/index.ts'
import { AppError, type RequestId } from '../kernel/index.ts'
import { type Organisation, assertSubscription } from '../organisations/index.ts'
import type { ProviderMessage, ToolDefinition } from '../providers/index.ts'
import type { Retrieval } from '../retrieval/index.ts'
import { createCitationRewriter } from './citations.ts'
import { composeSystemPrompt, formatSources, packPassages, toCitedSource } from './sources.ts'
import type { Space } from './space.ts'

/** What an answer is made of, in order; the JSON answer is the fold of these, the stream shows them one by one. */
export type AnswerEvent =
  | { type: 'message_source'; source: 'UPLOADED_FILES'; status: 'RETRIEVED'; count: number }
  | { type: 'assistant_write'; delta: string }
  | { type: 'references'; references: (Reference & { documentId: string })[] }

export interface AnswerCall {
  requestId: RequestId
  organisation: Organisation
  space: Space
  messages: ChatRequest['messages']
  inlineSources: boolean
  agentic: boolean
  signal: AbortSignal
}

export interface AnswerDependencies {
  completions: Completions
  retrieval: Retrieval
  ledger: Ledger
  /** The cheapest base-tier model, for Spaces whose operator lets them go on, at the operator's cost, when the credits are exhausted. */
  fallbackModel: (organisation: Organisation) => string | undefined
  now: () => number
}

/** Searches that one agentic answer may add to the first one; bounds cost and time. */
const maximumToolRounds = 4
const searchToolName = 'search_uploaded_files'
const searchTool: ToolDefinition = {
  name: searchToolName,
  description:
    'Searches the uploaded files of this Space. Call it when the passages at hand do not answer the question.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for, in a few words.' } },
    required: ['query'],
    additionalProperties: false,
  },
}

export interface AnswerModel {
  model: string
  whenExhausted: 'refuse' | 'write_off'
}

/**
 * Refuses before anything is streamed: a subscription that has ended and exhausted credits are statuses, not events. Returns the
 * model that will answer.
 */
export function chooseAnswerModel(
  { ledger, fallbackModel, now }: AnswerDependencies,
  organisation: Organisation,
  space: Space,
): AnswerModel {
  assertSubscription(organisation, now())
  if (ledger.hasCredit(organisation)) return { model: space.model, whenExhausted: 'refuse' }
  const fallback = space.settings.baseTierFallback ? fallbackModel(organisation) : undefined
  if (fallback !== undefined) return { model: fallback, whenExhausted: 'write_off' }
  throw new AppError(
    'insufficient_quota',
    "The organisation's monthly credits are exhausted. An operator can raise the budget; it renews with the next period.",
  )
}

/** Answers one conversation from a Space's instructions and files. Throws AppError; what was generated has been billed then. */
export async function* answer(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  { model, whenExhausted }: AnswerModel,
): AsyncGenerator<AnswerEvent, void, void> {
  const { completions, retrieval } = dependencies
  const search = (query: string) =>
    retrieval.search({
      organisationId: call.organisation.id,
      spaceId: call.space.id,
      query,
      limit: call.space.settings.maximumPassages,
      signal: call.signal,
    })
  const passages = packPassages(await search(composeQuery(call.messages)))
  yield { type: 'message_source', source: 'UPLOADED_FILES', status: 'RETRIEVED', count: passages.length }

  const sources = passages.map(toCitedSource)
  const rewriter = createCitationRewriter(sources, { inline: call.inlineSources })
  const conversation: ProviderMessage[] = [
    {
      role: 'system',
      content: composeSystemPrompt({
        instructions: call.space.instructions,
        sources: formatSources(passages),
        inline: call.inlineSources,
      }),
    },
    ...call.messages,
  ]
  for (let round = 0; ; round++) {
    const offersTools = call.agentic && round < maximumToolRounds
    const streamed = await completions.stream({
      // Each completion is a usage record of its own; the first carries the request's id.
      requestId: (round === 0 ? call.requestId : `${call.requestId}_${round}`) as RequestId,
      organisation: call.organisation,
      surface: 'space_chat',
      spaceId: call.space.id,
      model,
      request: {
        messages: conversation,
        temperature: call.space.settings.temperature ?? undefined,
        maxOutputTokens: call.space.settings.maximumOutputTokens ?? undefined,
        ...(offersTools ? { tools: [searchTool] } : {}),
      },
      stream: true,
      whenExhausted,
      signal: call.signal,
    })
    const turn = createTurn()
    for await (const events of streamed.events) {
      const delta = rewriter.push(turn.take(events))
      if (delta !== '') yield { type: 'assistant_write', delta }
    }
    // A model that calls tools it was not offered must not keep the answer going.
    if (!offersTools || turn.toolCalls.length === 0) break
    conversation.push({ role: 'assistant', content: turn.text(), toolCalls: turn.toolCalls })
    for (const toolCall of turn.toolCalls) {
      const found =
        toolCall.name === searchToolName ? packPassages(await search(readQuery(toolCall.argumentsJson))) : []
      yield { type: 'message_source', source: 'UPLOADED_FILES', status: 'RETRIEVED', count: found.length }
      const content = found.length === 0 ? 'Nothing was found.' : formatSources(found, sources.length + 1)
      sources.push(...found.map(toCitedSource))
      conversation.push({ role: 'tool', toolCallId: toolCall.id, content })
    }
  }
  const rest = rewriter.end()
  if (rest !== '') yield { type: 'assistant_write', delta: rest }
  yield {
    type: 'references',
    references: toReferences(call.inlineSources ? rewriter.cited() : uniqueDocuments(sources)),
  }
}

/** The last question; a short one ("and in 2023?") is searched together with the turn before it. */
function composeQuery(messages: AnswerCall['messages']): string {
  const questions = messages.filter((message) => message.role === 'user').map((message) => message.content)
  const last = questions.at(-1)!
  const before = questions.at(-2)
  return before !== undefined && last.trim().split(/\s+/).length < shortQuestionWords ? `${before}\n${last}` : last
}

/** Below it a question rarely names its own subject. */
const shortQuestionWords = 7

/** Gathers what one completion says: its text, and the tool calls that come in pieces. */
function createTurn() {
  const toolCalls: { id: string; name: string; argumentsJson: string }[] = []
  let said = ''
  return {
    toolCalls,
    text: () => said,
    take(events: CompletionEvent[]): string {
      let text = ''
      for (const event of events) {
        if (event.type === 'text' || event.type === 'refusal') text += event.text
        // Relayed text is a JSON literal: the public gateway passes it on unread, the chat has to read it.
        else if (event.type === 'chunk') text += JSON.parse(event.contentJson) as string
        else if (event.type === 'tool_call') {
          const toolCall = (toolCalls[event.index] ??= {
            id: event.id ?? `call_${event.index}`,
            name: '',
            argumentsJson: '',
          })
          toolCall.name += event.name ?? ''
          toolCall.argumentsJson += event.argumentsDelta
        }
      }
      said += text
      return text
    },
  }
}

function readQuery(argumentsJson: string): string {
  try {
    const { query } = JSON.parse(argumentsJson) as { query?: unknown }
    return typeof query === 'string' ? query : ''
  } catch {
    return ''
  }
}

type SourceList = ReturnType<typeof toCitedSource>[]

function uniqueDocuments(sources: SourceList): SourceList {
  return sources.filter(
    (source, index) => sources.findIndex((other) => other.documentId === source.documentId) === index,
  )
}

function toReferences(sources: SourceList): Extract<AnswerEvent, { type: 'references' }>['references'] {
  return sources.map((source, index) => ({
    id: index + 1,
    title: source.title,
    documentId: source.documentId,
    ...(source.url === null ? {} : { url: source.url }),
  }))
}
