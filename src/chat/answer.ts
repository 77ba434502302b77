import type { Reference } from '../contract/chat.ts'
import { AppError, type RequestId } from '../kernel/index.ts'
import type { ProviderMessage } from '../providers/index.ts'
import type { Passage } from '../retrieval/index.ts'
import { createCitationRewriter } from './citations/citation-rewriter.ts'
import { maximumPassageBytes } from './context/context-window.ts'
import { createBoundary, fencePassages, toCitedSource } from './context/prompt.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './prepare-answer.ts'
import { composeQuery } from './search-query.ts'
import { createModelTurn } from './tools/model-turn.ts'
import { maximumCallsPerRound, maximumToolRounds, readToolCall, searchTool } from './tools/search-tool.ts'
import type { ToolCall } from './tools/tool-call.ts'
import { toVisitorError } from './visitor-error.ts'

/** The parts of an answer, in order. The stream sends them one by one; the JSON answer is folded from them. */
export type AnswerEvent =
  | { type: 'message_source'; source: 'UPLOADED_FILES'; status: 'RETRIEVED'; count: number }
  | { type: 'assistant_write'; delta: string }
  | { type: 'references'; references: (Reference & { documentId: string })[] }

/** Answers one conversation from a Space's instructions and files. Throws AppError with a text for visitors; tokens generated before are billed. */
export async function* answer(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
): AsyncGenerator<AnswerEvent, void, void> {
  try {
    yield* generate({ dependencies, call, prepared, boundary: createBoundary(), sources: [], conversation: [] })
  } catch (error) {
    throw toVisitorError(error)
  }
}

type SourceList = ReturnType<typeof toCitedSource>[]

/** State of one answer. */
interface Run {
  dependencies: AnswerDependencies
  call: AnswerCall
  prepared: PreparedAnswer
  boundary: string
  /** Documents of the passages that the model has received, in the order of their numbers. */
  sources: SourceList
  /** The messages of the next completion. */
  conversation: ProviderMessage[]
}

async function* generate(run: Run): AsyncGenerator<AnswerEvent, void, void> {
  const { call, prepared, sources, conversation } = run
  const passages = await prepared.window.pack(await search(run, composeQuery(call.messages)), 1)
  yield retrieved(passages)

  sources.push(...passages.map(toCitedSource))
  const rewriter = createCitationRewriter(sources, { inline: call.inlineSources })
  const question = call.messages.at(-1)!.content
  conversation.push({ role: 'system', content: prepared.system, cacheUpToHere: true }, ...prepared.earlier, {
    role: 'user',
    content: `${fencePassages(passages, run.boundary)}\n\n${question}`,
    cacheUpToHere: call.agentic,
  })
  let isBlank = true
  for (let round = 0; ; round++) {
    const mayCall = call.agentic && round < maximumToolRounds
    const streamed = await complete(run, { round, mayCall })
    const turn = createModelTurn()
    for await (const events of streamed.events) {
      const delta = rewriter.push(turn.take(events))
      if (delta === '') continue
      isBlank &&= delta.trim() === ''
      yield { type: 'assistant_write', delta }
    }
    // Where no tools are allowed, calls are ignored: the answer ends.
    if (!mayCall || turn.toolCalls().length === 0) break
    isBlank = true
    const { message, countedText } = turn.toMessage()
    conversation.push(message)
    await prepared.window.add(countedText)
    yield* runTools(run, turn.toolCalls())
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
  { dependencies, call, prepared, conversation }: Run,
  { round, mayCall }: { round: number; mayCall: boolean },
) {
  return dependencies.completions.stream({
    // Each completion is a separate usage record; the first carries the request's id.
    requestId: (round === 0 ? call.requestId : `${call.requestId}_${round}`) as RequestId,
    organisation: call.organisation,
    surface: 'space_chat',
    spaceId: call.space.id,
    model: prepared.model,
    request: {
      messages: [...conversation],
      temperature: call.space.settings.temperature ?? undefined,
      maxOutputTokens: prepared.window.outputCap(),
      // Providers reject a conversation with calls of undeclared tools. Some models of Bedrock reject `auto`.
      ...(call.agentic ? { tools: [searchTool], ...(mayCall ? {} : { toolChoice: 'none' as const }) } : {}),
    },
    stream: true,
    whenExhausted: prepared.whenExhausted,
    signal: call.signal,
  })
}

function search({ dependencies, call }: Run, query: string): Promise<Passage[]> {
  return dependencies.retrieval.search({
    organisationId: call.organisation.id,
    spaceId: call.space.id,
    query,
    limit: call.space.settings.maximumPassages,
    maximumBytes: maximumPassageBytes,
    signal: call.signal,
  })
}

/** Runs the calls of one turn and adds their results to the conversation. */
async function* runTools(run: Run, toolCalls: readonly ToolCall[]): AsyncGenerator<AnswerEvent, void, void> {
  const { prepared, sources, conversation } = run
  for (const [index, toolCall] of toolCalls.entries()) {
    const { content, found } = await runTool(run, toolCall, index < maximumCallsPerRound)
    // The room for passages was taken when they were packed.
    if (found.length === 0) await prepared.window.add(content)
    yield retrieved(found)
    sources.push(...found.map(toCitedSource))
    conversation.push({ role: 'tool', toolCallId: toolCall.id, content })
  }
}

/** The result of one call: passages, or what is wrong with the call. */
async function runTool(
  run: Run,
  toolCall: ToolCall,
  maySearch: boolean,
): Promise<{ content: string; found: Passage[] }> {
  const read = readToolCall(toolCall)
  if ('problem' in read) return { content: read.problem, found: [] }
  if (!maySearch) {
    return {
      content: `Only ${maximumCallsPerRound} searches at a time are allowed. Repeat this one if needed.`,
      found: [],
    }
  }
  const firstNumber = run.sources.length + 1
  const found = await run.prepared.window.pack(await search(run, read.query), firstNumber)
  const content = found.length === 0 ? 'Nothing was found.' : fencePassages(found, run.boundary, firstNumber)
  return { content, found }
}

const retrieved = ({ length }: readonly Passage[]): AnswerEvent => ({
  type: 'message_source',
  source: 'UPLOADED_FILES',
  status: 'RETRIEVED',
  count: length,
})

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
