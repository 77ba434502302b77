import type { Receipt } from '../../gateway/billing/index.ts'
import { isNoAnswer } from '../../platform/evidence/index.ts'
import { anySignal, AppError, followStep, isAppError } from '../../platform/kernel/index.ts'
import type { FinishReason, ProviderMessage, ProviderRequest } from '../../gateway/providers/index.ts'
import {
  type AnswerRoom,
  assertOffered,
  createAnswerRoom,
  createModelTurn,
  createToolBudget,
  createTurnHold,
  currentOrganisation,
  heldOfStream,
  type ModelTurn,
  roundCallId,
  type ToolBudget,
} from './answer-calls.ts'
import { type AnswerCitations, createAnswerCitations } from './citations/citation-rewriter.ts'
import type { CitationCounts } from './citations/citation-check.ts'
import { findSupporting } from './citations/supporting-passages.ts'
import { askForReading, createBoundary, fencePassages, type GivenPassage, toCitablePassage } from './context/prompt.ts'
import { choosePassages, type FirstPassages, scopeOf } from './find-passages.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'
import { type DocumentReference, referencesOfCitations, referencesOfPassages, withoutDeleted } from './references.ts'
import { type AnswerFilter, createAnswerFilter } from './safety/answer-filter.ts'
import { createTargetPolicy, readAddresses } from './safety/addresses.ts'
import { describeTablesTool, matchTables } from './tools/table-tools.ts'
import { definitionsOf, runToolCalls, type ToolOutcome, toolsOf } from './tools/run-tools.ts'
import { searchTool } from './tools/search-tool.ts'
import type { ToolCall } from './tools/tool.ts'

/** The parts of an answer, in order. The stream sends them one by one; the JSON answer is folded from them. */
export type AnswerEvent =
  | { type: 'message_source'; source: string; status: ToolOutcome['status']; count: number; search: SearchReport }
  | { type: 'assistant_write'; delta: string }
  /** Why the text ended. */
  | { type: 'finish'; reason: FinishReason }
  | { type: 'references'; references: DocumentReference[] }
  /** What became of the markers; only with inline sources. */
  | { type: 'citations'; counts: CitationCounts }
  /** One receipt for each call of the model. */
  | { type: 'cost'; receipts: Receipt[] }

/** What one search did, for the preview of a Space. */
export interface SearchReport {
  /** Null for a tool call without a valid query, and where all files were given without a search. */
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
  const { requestId, space } = call
  const step = dependencies.telemetry?.agent({ requestId, spaceId: space.id, isAgentic: prepared.hasTools })
  const events = answerWhileOffered(dependencies, call, prepared)
  return step ? followStep(step, events) : events
}

async function* answerWhileOffered(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
): AsyncGenerator<AnswerEvent, void, void> {
  const { receipts = [] } = call
  const room = createAnswerRoom(dependencies, call, prepared)
  const events = generate({
    dependencies,
    call,
    prepared,
    boundary: createBoundary(),
    budget: createToolBudget(receipts, call.space.settings.maximumToolCostUsd),
    room,
    passages: [],
    citations: createAnswerCitations({ inline: call.inlineSources, attributes: prepared.attributes }),
    conversation: [],
    receipts,
    text: '',
    draft: '',
    isBlank: true,
    finishReason: 'stop',
  })
  try {
    for await (const event of events) {
      assertOffered(call)
      yield event
    }
  } finally {
    room.release()
  }
}

/** State of one answer. */
interface Run {
  dependencies: AnswerDependencies
  call: AnswerCall
  prepared: PreparedAnswer
  boundary: string
  /** Of the tools. */
  budget: ToolBudget
  room: AnswerRoom
  /** The passages that the model has received, in the order of their numbers. */
  passages: GivenPassage[]
  citations: AnswerCitations
  /** The messages of the next completion. */
  conversation: ProviderMessage[]
  receipts: Receipt[]
  /** The answer so far. */
  text: string
  /** What the model wrote before its last calls of tools: the answer, where it writes nothing else. */
  draft: string
  /** The last turn of the model has no text so far. */
  isBlank: boolean
  /** Of the last turn. */
  finishReason: FinishReason
}

async function* generate(run: Run): AsyncGenerator<AnswerEvent, void, void> {
  const { call, prepared, citations, conversation } = run
  const startMs = performance.now()
  const question = call.messages.at(-1)!.content
  const found = await choosePassages(run.dependencies, call, prepared, run.room)
  if (found.receipt) run.receipts.push(found.receipt)
  const { passages } = found
  yield reportUse(passages, { ...searchTool, count: passages.length, query: found.query, startMs })

  addPassages(run, passages)
  if (prepared.hasTools) yield* addTables(run, found.query ?? question)
  const filter = createAnswerFilter(await trustedTargets(run), run.boundary)
  const system = found.isUnderspecified ? `${prepared.system}\n\n${askForReading}` : prepared.system
  conversation.push({ role: 'system', content: system, cacheUpToHere: true }, ...prepared.earlier, {
    role: 'user',
    content: `${fencePassages(run.passages, run.boundary, { areAll: found.isWhole })}\n\n${question}`,
    cacheUpToHere: prepared.hasTools,
  })
  yield* takeTurns(run, filter)
  if (run.isBlank && run.text.trim() === '') yield* relayText(run, filter, run.draft)
  const rest = filter.push(citations.end()) + filter.end()
  if (rest !== '') yield write(run, rest)
  if (run.isBlank && rest.trim() === '') {
    throw new AppError('upstream_error', 'The model ended without an answer.', {
      internal: `${prepared.model} ended without text`,
    })
  }
  yield { type: 'finish', reason: run.finishReason }
  const references = await referencesOf(run, found)
  call.noteReferences?.(references)
  yield { type: 'references', references }
  if (call.inlineSources) {
    const counts = citations.counts()
    call.noteCitations?.(counts)
    yield { type: 'citations', counts }
  }
  yield { type: 'cost', receipts: run.receipts }
}

/**
 * The turns of the model, until one calls no tools. Where the budget refuses a turn after others, the results of the last calls are
 * taken back, if they do not fit either, and the model answers with the money that was set aside for that.
 */
async function* takeTurns(run: Run, filter: AnswerFilter): AsyncGenerator<AnswerEvent, void, void> {
  let isLast = false
  let isRefused = false
  let takeBack = () => {}
  for (let round = 0; ; round++) {
    const { prepared, conversation, passages } = run
    const mayCall =
      prepared.hasTools && !isLast && run.budget.mayCall(round) && (await run.room.keep(requestOf(run, true)))
    const turn = createModelTurn()
    run.isBlank = true
    try {
      yield* relayTurn(run, { turn, filter, round, mayCall })
    } catch (error) {
      const isAnswerable = !isLast && !turn.hasText() && (run.room.kept()?.amountPicoUsd ?? 0n) > 0n
      if (!isAnswerable || !isAppError(error, 'insufficient_quota')) throw error
      isLast = true
      if (!mayCall) takeBack()
      continue
    }
    if (turn.toolCalls().length === 0) return
    if (!mayCall) {
      // Some models call tools although `toolChoice` forbids it. One more turn, with the calls refused; calls next to a text are ignored.
      if (isRefused || !run.isBlank || !prepared.hasTools) return
      isLast = isRefused = true
      await refuseCalls(run, turn)
      continue
    }
    if (turn.hasText()) run.draft = turn.text()
    const before = { messages: conversation.length, passages: passages.length }
    takeBack = () => {
      conversation.length = before.messages
      passages.length = before.passages
      run.citations.keepPassages(before.passages)
    }
    const { message, countedText } = turn.toMessage()
    conversation.push(message)
    await prepared.window.add(countedText)
    yield* runTools(run, turn.toolCalls())
  }
}

async function refuseCalls({ prepared, conversation }: Run, turn: ModelTurn): Promise<void> {
  const { message, countedText } = turn.toMessage()
  const content = 'No more tools can be called. Answer now with what you have.'
  const results = turn.toolCalls().map(({ id }) => ({ role: 'tool' as const, toolCallId: id, content }))
  conversation.push(message, ...results)
  await prepared.window.add(countedText + results.map((result) => result.content).join(' '))
}

/** One turn of the model, whose text is passed on. What is written before tool calls is no part of the answer. */
async function* relayTurn(
  run: Run,
  { turn, filter, round, mayCall }: { turn: ModelTurn; filter: AnswerFilter; round: number; mayCall: boolean },
): AsyncGenerator<AnswerEvent, void, void> {
  const { call } = run
  run.citations.startReading(call.signal)
  const streamed = await complete(run, { round, mayCall })
  const hold = createTurnHold(mayCall ? (call.isStreamed ? heldOfStream : Infinity) : 0)
  for await (const events of streamed.events) {
    for (const event of events) {
      if (event.type !== 'finish') continue
      run.receipts.push(event.receipt)
      run.finishReason = event.finishReason
    }
    yield* relayText(run, filter, hold.push(turn.take(events), { callsTools: mayCall && turn.callsTools() }))
  }
  yield* relayText(run, filter, hold.push(turn.end(), { callsTools: mayCall && turn.callsTools() }) + hold.end())
}

async function* relayText(run: Run, filter: AnswerFilter, text: string): AsyncGenerator<AnswerEvent, void, void> {
  for await (const checked of run.citations.push(text, run.call.signal)) {
    const delta = filter.push(checked)
    if (delta === '') continue
    run.isBlank &&= delta.trim() === ''
    yield write(run, delta)
  }
}

/** Longest wait for the check which documents still exist; without its result all of them do. */
const existenceTimeoutMs = 2_000

async function referencesOf(run: Run, { isWhole }: FirstPassages): Promise<DocumentReference[]> {
  const { dependencies, call, citations, passages } = run
  const { inlineSources: inline } = call
  const references = inline
    ? await referencesOfCitations(citations.cited(), passages, call.passageReferences)
    : await referencesWithoutMarkers(run, isWhole)
  if (references.length === 0) return references
  const ids = references.map(({ documentId }) => documentId)
  try {
    const signal = anySignal(call.signal, AbortSignal.timeout(existenceTimeoutMs))
    const existing = await dependencies.documents.loadExisting(scopeOf(call), ids, signal)
    return withoutDeleted(references, new Set(existing), { inline })
  } catch {
    call.signal.throwIfAborted()
    return references
  }
}

async function referencesWithoutMarkers({ call, passages, text }: Run, isWhole: boolean): Promise<DocumentReference[]> {
  if (isNoAnswer(text)) return []
  // Of all files of a Space most have nothing to do with the answer.
  const given = isWhole
    ? await findSupporting(passages, text, { toText: toCitablePassage, signal: call.signal })
    : passages
  return referencesOfPassages(given, text, call.passageReferences)
}

/** Addresses that the organisation or the visitor has named, the latest first; earlier answers and files are not trusted. */
async function trustedTargets({ call, passages }: Run) {
  const questions = call.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const addresses = await readAddresses([call.space.instructions, ...questions.toReversed()])
  return createTargetPolicy({ addresses, passages })
}

function write(run: Run, delta: string): AnswerEvent {
  run.text += delta
  return { type: 'assistant_write', delta }
}

function addPassages({ passages, citations }: Run, added: readonly GivenPassage[]) {
  passages.push(...added)
  citations.addPassages(added.map(toCitablePassage))
}

function complete(run: Run, { round, mayCall }: { round: number; mayCall: boolean }) {
  const { dependencies, call, prepared } = run
  assertOffered(call)
  return dependencies.completions.stream({
    requestId: roundCallId(call.requestId, round),
    organisation: currentOrganisation(dependencies, call),
    surface: 'space_chat',
    spaceId: call.space.id,
    model: prepared.model,
    request: requestOf(run, mayCall),
    stream: true,
    whenExhausted: prepared.whenExhausted,
    [mayCall ? 'roomOfNext' : 'room']: run.room.kept(),
    spending: call.spending,
    signal: call.signal,
  })
}

function requestOf({ call, prepared, conversation }: Run, mayCall: boolean): ProviderRequest {
  return {
    messages: [...conversation],
    temperature: call.space.settings.temperature ?? undefined,
    maxOutputTokens: prepared.window.outputCap(),
    // Providers reject a conversation with calls of undeclared tools. Some models of Bedrock reject `auto`.
    ...(prepared.hasTools
      ? { tools: definitionsOf(prepared.ownTools), ...(mayCall ? {} : { toolChoice: 'none' as const }) }
      : {}),
  }
}

/** Adds the tables of the passages found, which spares the model a round. The answer does not depend on them. */
async function* addTables(run: Run, query: string): AsyncGenerator<AnswerEvent, void, void> {
  const startMs = performance.now()
  const { source, status } = describeTablesTool
  const { dependencies, call } = run
  const found = await matchTables({ dependencies, scope: scopeOf(call), signal: call.signal }, run.passages, query)
  if (found.length === 0) return
  const { passages } = await run.prepared.window.pack(found, run.passages.length + 1)
  yield reportUse(passages, { source, status, count: passages.length, query, startMs })
  addPassages(run, passages)
}

/** Runs the calls of one turn and adds their results to the conversation. */
async function* runTools(run: Run, toolCalls: readonly ToolCall[]): AsyncGenerator<AnswerEvent, void, void> {
  const { window, ownTools } = run.prepared
  const tools = toolsOf(ownTools)
  for await (const outcome of runToolCalls(toolCalls, {
    ...run,
    tools,
    window,
    firstNumber: run.passages.length + 1,
  })) {
    const { toolCallId, content, passages } = outcome
    yield reportUse(passages, outcome)
    addPassages(run, passages)
    if (passages.length === 0 && outcome.status === 'COMPUTED') run.citations.addResult(content)
    if (outcome.source === 'SPACE_TOOL') run.citations.addForeign(content)
    run.conversation.push({ role: 'tool', toolCallId, content })
  }
}

/** Longest query in a report, UTF-16 units: a question may have 200,000 characters. */
const maximumReportedQuery = 1_000

function reportUse(
  passages: readonly GivenPassage[],
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
