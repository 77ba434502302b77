import type { Ledger } from '../billing/index.ts'
import type { ChatRequest, Reference } from '../contract/chat.ts'
import type { Completions } from '../gateway/index.ts'
import { AppError, type RequestId } from '../kernel/index.ts'
import { type Organisation, assertSubscription } from '../organisations/index.ts'
import type { ProviderMessage } from '../providers/index.ts'
import type { Passage, Retrieval } from '../retrieval/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import { createCitationRewriter, removeMarkers } from './citations/citation-rewriter.ts'
import { type ContextWindow, maximumPassageBytes, openContextWindow } from './context/context-window.ts'
import {
  createTurn,
  maximumCallsPerRound,
  maximumToolRounds,
  readToolCall,
  searchTool,
  type ToolCall,
  toSentCall,
} from './tools/search-tool.ts'
import { composeSystemPrompt, createBoundary, fencePassages, toCitedSource } from './context/prompt.ts'
import type { Space } from '../spaces/index.ts'
import { toVisitorError } from './visitor-error.ts'

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
  tokens: TokenCounting
  /** Limits of the chat model behind an id, as the organisation may call it now. */
  findModel: (organisation: Organisation, id: string) => { contextTokens: number; maxOutputTokens: number } | undefined
  /** The cheapest base-tier model, for Spaces whose operator lets them go on, at the operator's cost, when the credits are exhausted. */
  fallbackModel: (organisation: Organisation) => string | undefined
  now: () => number
}

/** An answer that can begin: a model is there to give it, and the question fits into its context. */
export interface PreparedAnswer {
  model: string
  whenExhausted: 'refuse' | 'write_off'
  window: ContextWindow
  system: string
  /** The earlier turns that are sent along. */
  earlier: ProviderMessage[]
}

/**
 * Refuses before anything is streamed: a subscription that has ended, exhausted credits, a model that is gone and a question that
 * is too long are statuses, not events.
 */
export async function prepareAnswer(dependencies: AnswerDependencies, call: AnswerCall): Promise<PreparedAnswer> {
  const { settings, instructions } = call.space
  const { model, whenExhausted, limits } = await forVisitors(() => chooseModel(dependencies, call))
  const system = composeSystemPrompt({ instructions, inline: call.inlineSources })
  const window = await openContextWindow(
    dependencies.tokens,
    { ...limits, answerTokens: settings.maximumOutputTokens },
    { system, turns: call.messages },
  )
  if (call.agentic) await window.add(JSON.stringify(searchTool))
  const earlier: ProviderMessage[] = []
  for (const turn of await window.keepRecent(call.messages.slice(0, -1))) {
    const content = turn.role === 'assistant' ? await removeMarkers(turn.content, call.signal) : turn.content
    earlier.push({ role: turn.role, content })
  }
  return { model, whenExhausted, window, system, earlier }
}

function chooseModel({ ledger, fallbackModel, findModel, now }: AnswerDependencies, call: AnswerCall) {
  const { organisation, space } = call
  assertSubscription(organisation, now())
  const hasCredit = ledger.hasCredit(organisation)
  const model = hasCredit ? space.model : space.settings.baseTierFallback ? fallbackModel(organisation) : undefined
  if (model === undefined) throw new AppError('insufficient_quota', "The organisation's monthly credits are exhausted.")
  const limits = findModel(organisation, model)
  if (!limits) {
    throw new AppError('model_not_found', `The Space's model ${model} is not available to its organisation.`)
  }
  return { model, limits, whenExhausted: hasCredit ? ('refuse' as const) : ('write_off' as const) }
}

async function forVisitors<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw toVisitorError(error)
  }
}

/** Answers one conversation from a Space's instructions and files. Throws AppError in words for visitors; what was generated has been billed then. */
export async function* answer(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
): AsyncGenerator<AnswerEvent, void, void> {
  try {
    yield* generate(dependencies, call, prepared)
  } catch (error) {
    throw toVisitorError(error)
  }
}

async function* generate(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
): AsyncGenerator<AnswerEvent, void, void> {
  const { window } = prepared
  const boundary = createBoundary()
  const passages = await window.pack(await search(dependencies, call, composeQuery(call.messages)), 1)
  yield retrieved(passages)

  const sources = passages.map(toCitedSource)
  const rewriter = createCitationRewriter(sources, { inline: call.inlineSources })
  const question = call.messages.at(-1)!.content
  const conversation: ProviderMessage[] = [
    { role: 'system', content: prepared.system, cacheUpToHere: true },
    ...prepared.earlier,
    { role: 'user', content: `${fencePassages(passages, boundary)}\n\n${question}`, cacheUpToHere: call.agentic },
  ]
  let isBlank = true
  for (let round = 0; ; round++) {
    const mayCall = call.agentic && round < maximumToolRounds
    const streamed = await complete(dependencies, call, prepared, conversation, { round, mayCall })
    const turn = createTurn()
    for await (const events of streamed.events) {
      const delta = rewriter.push(turn.take(events))
      if (delta === '') continue
      isBlank &&= delta.trim() === ''
      yield { type: 'assistant_write', delta }
    }
    const toolCalls = turn.toolCalls()
    // Where no tools are allowed, calls are not followed: the answer ends.
    if (!mayCall || toolCalls.length === 0) break
    isBlank = true
    const replay = turn.replay()
    conversation.push({
      role: 'assistant',
      content: turn.text(),
      toolCalls: toolCalls.map(toSentCall),
      ...(replay && { replay }),
    })
    await window.add(
      JSON.stringify(replay?.blocks ?? '') +
        turn.text() +
        toolCalls.map((toolCall) => toolCall.argumentsJson).join(' '),
    )
    for (const [index, toolCall] of toolCalls.entries()) {
      const { content, found } = await runTool(dependencies, call, window, toolCall, {
        searches: index < maximumCallsPerRound,
        boundary,
        firstNumber: sources.length + 1,
      })
      // Passages have taken their room when they were packed.
      if (found.length === 0) await window.add(content)
      yield retrieved(found)
      sources.push(...found.map(toCitedSource))
      conversation.push({ role: 'tool', toolCallId: toolCall.id, content })
    }
  }
  const rest = rewriter.end()
  if (rest !== '') yield { type: 'assistant_write', delta: rest }
  if (isBlank && rest.trim() === '') {
    throw new AppError('upstream_error', 'The model ended without an answer.', {
      internal: `${prepared.model} ended without text`,
    })
  }
  const references = call.inlineSources ? rewriter.cited() : uniqueDocuments(sources)
  yield { type: 'references', references: toReferences(references) }
}

function complete(
  { completions }: AnswerDependencies,
  call: AnswerCall,
  { model, whenExhausted, window }: PreparedAnswer,
  messages: ProviderMessage[],
  { round, mayCall }: { round: number; mayCall: boolean },
) {
  return completions.stream({
    // Each completion is a separate usage record; the first carries the request's id.
    requestId: (round === 0 ? call.requestId : `${call.requestId}_${round}`) as RequestId,
    organisation: call.organisation,
    surface: 'space_chat',
    spaceId: call.space.id,
    model,
    request: {
      messages: [...messages],
      temperature: call.space.settings.temperature ?? undefined,
      maxOutputTokens: window.outputCap(),
      // Providers refuse a conversation that holds calls of tools which are not declared. Some models of Bedrock refuse `auto`.
      ...(call.agentic ? { tools: [searchTool], ...(mayCall ? {} : { toolChoice: 'none' as const }) } : {}),
    },
    stream: true,
    whenExhausted,
    signal: call.signal,
  })
}

function search({ retrieval }: AnswerDependencies, call: AnswerCall, query: string): Promise<Passage[]> {
  return retrieval.search({
    organisationId: call.organisation.id,
    spaceId: call.space.id,
    query,
    limit: call.space.settings.maximumPassages,
    maximumBytes: maximumPassageBytes,
    signal: call.signal,
  })
}

/** Answers one call of the model: with passages, or with what is wrong with it. */
async function runTool(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  window: ContextWindow,
  toolCall: ToolCall,
  { searches, boundary, firstNumber }: { searches: boolean; boundary: string; firstNumber: number },
): Promise<{ content: string; found: Passage[] }> {
  const read = readToolCall(toolCall)
  if ('problem' in read) return { content: read.problem, found: [] }
  if (!searches) {
    return {
      content: `Only ${maximumCallsPerRound} searches at a time are allowed. Repeat this one if needed.`,
      found: [],
    }
  }
  const found = await window.pack(await search(dependencies, call, read.query), firstNumber)
  const content = found.length === 0 ? 'Nothing was found.' : fencePassages(found, boundary, firstNumber)
  return { content, found }
}

const retrieved = ({ length }: readonly Passage[]): AnswerEvent => ({
  type: 'message_source',
  source: 'UPLOADED_FILES',
  status: 'RETRIEVED',
  count: length,
})

/** The last question; a short one ("and in 2023?") is searched together with the turn before it. */
function composeQuery(messages: AnswerCall['messages']): string {
  const questions = messages.filter((message) => message.role === 'user').map((message) => message.content)
  const last = questions.at(-1)!
  const before = questions.at(-2)
  return before !== undefined && last.trim().split(/\s+/).length < shortQuestionWords ? `${before}\n${last}` : last
}

/** Below it a question rarely names its own subject. */
const shortQuestionWords = 7

type SourceList = ReturnType<typeof toCitedSource>[]

function uniqueDocuments(sources: SourceList): SourceList {
  return [...new Map(sources.map((source) => [source.documentId, source])).values()]
}

function toReferences(sources: SourceList): Extract<AnswerEvent, { type: 'references' }>['references'] {
  return sources.map((source, index) => ({
    id: index + 1,
    title: source.title,
    documentId: source.documentId,
    ...(source.url === null ? {} : { url: source.url }),
  }))
}
