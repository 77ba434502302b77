import type { Ledger, Receipt } from '../../gateway/billing/index.ts'
import type { ChatRequest } from '../../contract/chat.ts'
import type { Completions } from '../../gateway/gateway/index.ts'
import type { TableQueries } from '../../documents/ingestion/index.ts'
import { AppError, createTimeSlices, type RequestId, type Telemetry } from '../../platform/kernel/index.ts'
import { type Organisation, assertSubscription } from '../../tenants/organisations/index.ts'
import type { ProviderMessage } from '../../gateway/providers/index.ts'
import type { DocumentReader, Retrieval } from '../../documents/retrieval/index.ts'
import type { Space } from '../spaces/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import type { CitationCounts } from './citations/citation-check.ts'
import { removeMarkers } from './citations/citation-rewriter.ts'
import { type ContextWindow, openContextWindow } from './context/context-window.ts'
import { composeSystemPrompt } from './context/prompt.ts'
import { minimumContextTokens } from './queries/rewrite-question.ts'
import { toolDefinitions } from './tools/run-tools.ts'

export interface AnswerCall {
  requestId: RequestId
  organisation: Organisation
  space: Space
  messages: ChatRequest['messages']
  /** Earlier messages of the request, for which no model has room; absent: none. */
  omittedMessages?: number
  inlineSources: boolean
  /** References name the passages of their documents. */
  passageReferences: boolean
  agentic: boolean
  /** Receives the references of a complete answer; must not throw. */
  noteReferences?: (references: readonly { documentId: string }[]) => void
  /** Receives what became of the markers of a complete answer; must not throw. */
  noteCitations?: (counts: CitationCounts) => void
  /** False once the Space was unpublished or removed: the answer ends then. Absent: it is always offered. */
  isOffered?: () => boolean
  /** Receives a receipt for each call of the model, also of an answer that fails later. */
  receipts?: Receipt[]
  signal: AbortSignal
}

export interface AnswerDependencies {
  completions: Completions
  retrieval: Retrieval
  documents: DocumentReader
  tables: TableQueries
  ledger: Ledger
  tokens: TokenCounting
  /** With its present budget and subscription, from memory. */
  findOrganisation: (id: string) => Organisation | undefined
  /** Undefined where the organisation cannot call the model at the moment. */
  findModel: (organisation: Organisation, id: string) => AnswerModel | undefined
  /** The cheapest base-tier model. Spaces with `baseTierFallback` use it, at the operator's cost, when the credits are exhausted. */
  fallbackModel: (organisation: Organisation) => string | undefined
  /** null or absent: answers are not traced. */
  telemetry?: Telemetry | null
  now: () => number
}

export interface AnswerModel {
  contextTokens: number
  maxOutputTokens: number
  /** False for the built-in offline model, which only quotes. */
  followsInstructions: boolean
  /** It accepts tools. */
  tools: boolean
}

/** An answer that can begin: its model is available, and the question fits into the model's context. */
export interface PreparedAnswer {
  model: string
  whenExhausted: 'refuse' | 'write_off'
  /** The model is able to rewrite questions. */
  canRewrite: boolean
  window: ContextWindow
  system: string
  /** The model may call tools: the request asks for the agentic workflow, and the model accepts tools. */
  hasTools: boolean
  /** The earlier turns that fit. */
  earlier: ProviderMessage[]
}

/**
 * Checks everything that becomes a status code, before the first event of a stream: an expired subscription, exhausted credits, an
 * unavailable model, a question that is too long. Throws AppError.
 */
export async function prepareAnswer(dependencies: AnswerDependencies, call: AnswerCall): Promise<PreparedAnswer> {
  const { settings, instructions } = call.space
  const { model, whenExhausted, limits } = chooseModelOrNote(dependencies, call)
  const system = composeSystemPrompt({ instructions, inline: call.inlineSources })
  const window = await openContextWindow(
    dependencies.tokens,
    {
      ...limits,
      answerTokens: settings.maximumOutputTokens,
      passageTokens: settings.maximumPassageTokens,
      wholeTokens: settings.wholeSpaceTokens,
    },
    { system, turns: call.messages, omitted: call.omittedMessages ?? 0 },
  )
  const hasTools = call.agentic && limits.tools
  if (hasTools) await window.add(JSON.stringify(toolDefinitions))
  const earlier: ProviderMessage[] = []
  const slice = createTimeSlices()
  for (const turn of await window.keepRecent(call.messages.slice(0, -1))) {
    await slice()
    const content = turn.role === 'assistant' ? await removeMarkers(turn.content, call.signal) : turn.content
    earlier.push({ role: turn.role, content })
  }
  const canRewrite = limits.followsInstructions && limits.contextTokens >= minimumContextTokens
  return { model, whenExhausted, canRewrite, window, system, hasTools, earlier }
}

/** A refusal has no entry in the ledger, so it is counted apart. */
function chooseModelOrNote(dependencies: AnswerDependencies, call: AnswerCall) {
  try {
    return chooseModel(dependencies, call)
  } catch (error) {
    if (error instanceof AppError) {
      const { organisation, space } = call
      const refusal = { organisationId: organisation.id, surface: 'space_chat', model: space.model } as const
      dependencies.ledger.noteRefused({ ...refusal, code: error.code })
    }
    throw error
  }
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
