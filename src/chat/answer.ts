import type { Receipt } from '../billing/index.ts'
import { isNoAnswer } from '../evidence/index.ts'
import { AppError, type RequestId } from '../kernel/index.ts'
import type { ProviderMessage } from '../providers/index.ts'
import type { Passage } from '../retrieval/index.ts'
import { type AnswerCitations, createAnswerCitations } from './citations/answer-citations.ts'
import type { CitationCounts } from './citations/citation-check.ts'
import { areUnlikelyToAnswer } from './context/judge-passages.ts'
import { askForReading, createBoundary, fencePassages, toCitablePassage } from './context/prompt.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './prepare-answer.ts'
import { type DocumentReference, referencesOfCitations, referencesOfPassages } from './references.ts'
import { searchFirst } from './queries/first-search.ts'
import { createAnswerFilter } from './safety/answer-filter.ts'
import { createTargetPolicy } from './safety/targets.ts'
import { createModelTurn } from './tools/model-turn.ts'
import { matchTables } from './tools/match-tables.ts'
import { runToolCalls, scopeOf, toolDefinitions, type ToolOutcome } from './tools/run-tools.ts'
import { searchTool } from './tools/search-tool.ts'
import { describeTablesTool } from './tools/table-tools.ts'
import { createToolBudget, type ToolBudget } from './tools/tool-budget.ts'
import type { ToolCall } from './tools/tool-call.ts'

/** The parts of an answer, in order. The stream sends them one by one; the JSON answer is folded from them. */
export type AnswerEvent =
  | { type: 'message_source'; source: string; status: ToolOutcome['status']; count: number; search: SearchReport }
  | { type: 'assistant_write'; delta: string }
  | { type: 'references'; references: DocumentReference[] }
  /** What became of the markers; only with inline sources. */
  | { type: 'citations'; counts: CitationCounts }
  /** One receipt for each call of the model. */
  | { type: 'cost'; receipts: Receipt[] }

/** What one search did, for the preview of a Space. */
export interface SearchReport {
  /** Null for a tool call without a valid query. */
  query: string | null
  documents: { id: string; title: string }[]
  milliseconds: number
}

/** Answers one conversation from a Space's instructions and files. Throws AppError; tokens generated before are billed. */
export function answer(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
): AsyncGenerator<AnswerEvent, void, void> {
  const receipts: Receipt[] = []
  return generate({
    dependencies,
    call,
    prepared,
    boundary: createBoundary(),
    budget: createToolBudget(receipts, call.space.settings.maximumToolCostUsd),
    passages: [],
    citations: createAnswerCitations({ inline: call.inlineSources }),
    conversation: [],
    receipts,
    text: '',
  })
}

/** State of one answer. */
interface Run {
  dependencies: AnswerDependencies
  call: AnswerCall
  prepared: PreparedAnswer
  boundary: string
  /** Of the tools. */
  budget: ToolBudget
  /** The passages that the model has received, in the order of their numbers. */
  passages: Passage[]
  citations: AnswerCitations
  /** The messages of the next completion. */
  conversation: ProviderMessage[]
  receipts: Receipt[]
  /** The answer so far. */
  text: string
}

async function* generate(run: Run): AsyncGenerator<AnswerEvent, void, void> {
  const { call, prepared, citations, conversation } = run
  const startMs = performance.now()
  const found = await searchFirst(run.dependencies, call, prepared)
  if (found.receipt) run.receipts.push(found.receipt)
  if (found.isUnderspecified) await prepared.window.add(askForReading)
  const passages = await prepared.window.pack(found.passages, 1)
  yield reportUse(passages, { ...searchTool, count: passages.length, query: found.query, startMs })

  addPassages(run, passages)
  if (prepared.hasTools) yield* addTables(run, found.query)
  const filter = createAnswerFilter(trustedTargets(run), run.boundary)
  const question = call.messages.at(-1)!.content
  const isUnlikely = await areUnlikelyToAnswer(call.messages, run.passages)
  const system = found.isUnderspecified ? `${prepared.system}\n\n${askForReading}` : prepared.system
  conversation.push({ role: 'system', content: system, cacheUpToHere: true }, ...prepared.earlier, {
    role: 'user',
    content: `${fencePassages(run.passages, run.boundary, { isUnlikely })}\n\n${question}`,
    cacheUpToHere: prepared.hasTools,
  })
  let isBlank = true
  for (let round = 0; ; round++) {
    const mayCall = prepared.hasTools && run.budget.mayCall(round)
    citations.startReading(call.signal)
    const streamed = await complete(run, { round, mayCall })
    const turn = createModelTurn()
    for await (const events of streamed.events) {
      for (const event of events) if (event.type === 'finish') run.receipts.push(event.receipt)
      for await (const checked of citations.push(turn.take(events), call.signal)) {
        const delta = filter.push(checked)
        if (delta === '') continue
        isBlank &&= delta.trim() === ''
        yield write(run, delta)
      }
    }
    // Where no tools are allowed, calls are ignored: the answer ends.
    if (!mayCall || turn.toolCalls().length === 0) break
    isBlank = true
    const { message, countedText } = turn.toMessage()
    conversation.push(message)
    await prepared.window.add(countedText)
    yield* runTools(run, turn.toolCalls())
  }
  const rest = filter.push(citations.end()) + filter.end()
  if (rest !== '') yield write(run, rest)
  if (isBlank && rest.trim() === '') {
    throw new AppError('upstream_error', 'The model ended without an answer.', {
      internal: `${prepared.model} ended without text`,
    })
  }
  const references = referencesOf(run)
  call.noteReferences?.(references)
  yield { type: 'references', references }
  if (call.inlineSources) {
    const counts = citations.counts()
    call.noteCitations?.(counts)
    yield { type: 'citations', counts }
  }
  yield { type: 'cost', receipts: run.receipts }
}

function referencesOf({ call, citations, passages, text }: Run): DocumentReference[] {
  if (call.inlineSources) return referencesOfCitations(citations.cited(), passages, call.passageReferences)
  return isNoAnswer(text) ? [] : referencesOfPassages(passages, text, call.passageReferences)
}

/** Addresses that the organisation or the visitor has named; earlier answers and files are not trusted. */
function trustedTargets({ call, passages }: Run) {
  const questions = call.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  return createTargetPolicy({ texts: [call.space.instructions, ...questions], passages })
}

function write(run: Run, delta: string): AnswerEvent {
  run.text += delta
  return { type: 'assistant_write', delta }
}

function addPassages({ passages, citations }: Run, added: readonly Passage[]) {
  passages.push(...added)
  citations.addPassages(added.map(toCitablePassage))
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
      ...(prepared.hasTools ? { tools: toolDefinitions, ...(mayCall ? {} : { toolChoice: 'none' as const }) } : {}),
    },
    stream: true,
    whenExhausted: prepared.whenExhausted,
    signal: call.signal,
  })
}

/** Adds the tables of the passages found, which spares the model a round. The answer does not depend on them. */
async function* addTables(run: Run, query: string): AsyncGenerator<AnswerEvent, void, void> {
  const startMs = performance.now()
  const { source, status } = describeTablesTool
  const { dependencies, call } = run
  const found = await matchTables({ dependencies, scope: scopeOf(call), signal: call.signal }, run.passages, query)
  if (found.length === 0) return
  const passages = await run.prepared.window.pack(found, run.passages.length + 1)
  yield reportUse(passages, { source, status, count: passages.length, query, startMs })
  addPassages(run, passages)
}

/** Runs the calls of one turn and adds their results to the conversation. */
async function* runTools(run: Run, toolCalls: readonly ToolCall[]): AsyncGenerator<AnswerEvent, void, void> {
  const { window } = run.prepared
  for await (const outcome of runToolCalls(toolCalls, { ...run, window, firstNumber: run.passages.length + 1 })) {
    const { toolCallId, content, passages } = outcome
    yield reportUse(passages, outcome)
    addPassages(run, passages)
    if (passages.length === 0 && outcome.status === 'COMPUTED') run.citations.addResult(content)
    run.conversation.push({ role: 'tool', toolCallId, content })
  }
}

/** Longest query in a report, UTF-16 units: a question may have 200,000 characters. */
const maximumReportedQuery = 1_000

function reportUse(
  passages: readonly Passage[],
  { source, status, count, query, startMs }: Pick<ToolOutcome, 'source' | 'status' | 'count' | 'query' | 'startMs'>,
): AnswerEvent {
  const titles = new Map(passages.map(({ documentId, documentName }) => [documentId as string, documentName]))
  return {
    type: 'message_source',
    source,
    status,
    count,
    search: {
      query: query?.slice(0, maximumReportedQuery).toWellFormed() ?? null,
      documents: [...titles].map(([id, title]) => ({ id, title })),
      milliseconds: Math.round(performance.now() - startMs),
    },
  }
}
